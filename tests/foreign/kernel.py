"""Tables as Delta Kernel reads them, Spark's engine untouched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from foreign.delta_rs import ids_by_delta_rs, ids_by_duckdb, ids_by_pyarrow
from support.processes import DELTA


def has_kernel() -> bool:
    """Whether this Delta brings the Kernel along that these functions know: since 4.2."""
    return DELTA >= (4, 2)


def ids_by_strangers(spark: SparkSession, path: Path) -> dict[str, list[int]]:
    """Read the ids of the newest version with every reader but Spark's."""
    readers = {"delta-rs": ids_by_delta_rs, "pyarrow": ids_by_pyarrow, "DuckDB": ids_by_duckdb}
    found = {name: read(path) for name, read in readers.items()}
    return {**found, **({"Kernel": ids_by_kernel(spark, path)} if has_kernel() else {})}


def ids_by_kernel(spark: SparkSession, path: Path, version: int | None = None) -> list[int]:
    """Read the ids of a version; the newest where none is said."""
    jvm = spark._jvm
    kernel = jvm.io.delta.kernel
    engine, snapshot = _kernel_snapshot(spark, path, version)
    position = snapshot.getSchema().indexOf("id")
    scan = snapshot.getScanBuilder().build()
    state = scan.getScanState(engine)
    columns = kernel.internal.data.ScanStateRow.getPhysicalDataReadSchema(state)
    utils = kernel.internal.util.Utils
    ids = []
    for batch in _each(scan.getScanFiles(engine)):
        for file in _each(batch.getRows()):
            status = kernel.internal.InternalScanFileUtils.getAddFileStatus(file)
            stored = jvm.java.util.ArrayList()
            for found in _each(
                engine.getParquetHandler().readParquetFiles(
                    utils.singletonCloseableIterator(status),
                    columns,
                    jvm.java.util.Optional.empty(),
                )
            ):
                stored.add(found.getData())
            rows = kernel.Scan.transformPhysicalData(
                engine, state, file, utils.toCloseableIterator(stored.iterator())
            )
            for logical in _each(rows):
                ids += [row.getLong(position) for row in _each(logical.getRows())]
    return sorted(ids)


def _each(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()


def _kernel_snapshot(
    spark: SparkSession, path: Path, version: int | None = None
) -> tuple[Any, Any]:
    """Open a table by Delta Kernel, its engine first; the newest version where none is said."""
    kernel = spark._jvm.io.delta.kernel
    engine = kernel.defaults.engine.DefaultEngine.create(spark._jsc.hadoopConfiguration())
    table = kernel.Table.forPath(engine, str(path))
    if version is None:
        return engine, table.getLatestSnapshot(engine)
    return engine, table.getSnapshotAsOfVersion(engine, version)


def files_by_kernel(spark: SparkSession, path: Path) -> int:
    """Count the data files that Delta Kernel finds, from checkpoint and commits alone."""
    engine, snapshot = _kernel_snapshot(spark, path)
    batches = snapshot.getScanBuilder().build().getScanFiles(engine)
    return sum(1 for batch in _each(batches) for _ in _each(batch.getRows()))


def adds_by_kernel(spark: SparkSession, path: Path) -> dict[str, dict[str, Any]]:
    """Read all that Delta Kernel knows of the data files, statistics and partition values too."""
    engine, snapshot = _kernel_snapshot(spark, path)
    batches = snapshot.getScanBuilder().build().getScanFiles(engine, True)
    adds = [row["add"] for batch in _each(batches) for row in _rows(spark, batch)]
    return {add["path"]: _of_table(add) for add in adds}


def tombstones_by_kernel(spark: SparkSession, path: Path) -> dict[str, dict[str, Any]]:
    """Read the tombstones of all files of the log that Delta Kernel reads."""
    engine, snapshot = _kernel_snapshot(spark, path)
    internal = spark._jvm.io.delta.kernel.internal
    actions = internal.replay.ActionsIterator(
        engine,
        snapshot.getLogSegment().allLogFilesReversed(),
        internal.actions.SingleAction.CHECKPOINT_SCHEMA,
        spark._jvm.java.util.Optional.empty(),
    )
    rows = [row for batch in _each(actions) for row in _rows(spark, batch.getColumnarBatch())]
    removes = [row["remove"] for row in rows if "remove" in row]
    return {remove["path"]: _of_table(remove) for remove in removes}


def _of_table(action: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only a commit says; no tags and empty ones are the same."""
    unsaid = {"dataChange"} if action.get("tags") else {"dataChange", "tags"}
    return {key: value for key, value in action.items() if key not in unsaid}


def _rows(spark: SparkSession, batch: Any) -> Iterator[dict[str, Any]]:
    to_json = spark._jvm.io.delta.kernel.defaults.internal.json.JsonUtils.rowToJson
    return (json.loads(to_json(row)) for row in _each(batch.getRows()))

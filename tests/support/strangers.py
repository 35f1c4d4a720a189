"""Readers that know nothing of us: what they read is what we promise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.dataset
from deltalake import DeltaTable as DeltaRs
from deltalake import QueryBuilder
from pyspark.sql import SparkSession

from support.processes import DELTA


def ids_by_delta_rs(path: Path, version: int | None = None) -> list[int]:
    query = QueryBuilder().register("t", DeltaRs(str(path), version=version))
    return sorted(pyarrow.table(query.execute("SELECT id FROM t"))["id"].to_pylist())


def adds_by_delta_rs(path: Path) -> dict[str, dict[str, Any]]:
    """Read all that delta-rs knows of the data files, statistics and partition values too."""
    rows = pyarrow.table(DeltaRs(str(path)).get_add_actions(flatten=True)).to_pylist()
    return {row["path"]: row for row in rows}


def tombstones_by_delta_rs(path: Path) -> list[str]:
    """List the files that VACUUM would delete: those that tombstones name."""
    table = DeltaRs(str(path))
    return sorted(table.vacuum(retention_hours=0, enforce_retention_duration=False))


def _live_files(path: Path) -> list[str]:
    return [uri.removeprefix("file://") for uri in DeltaRs(str(path)).file_uris()]


def ids_by_pyarrow(path: Path) -> list[int]:
    found = pyarrow.dataset.dataset(_live_files(path)).to_table(columns=["id"])
    return sorted(found["id"].to_pylist())


def ids_by_duckdb(path: Path) -> list[int]:
    rows = duckdb.execute("SELECT id FROM read_parquet(?)", [_live_files(path)]).fetchall()
    return sorted(row[0] for row in rows)


def has_kernel() -> bool:
    """Whether this Delta brings the Kernel along that these functions know: since 4.2."""
    return DELTA >= (4, 2)


def ids_by_kernel(spark: SparkSession, path: Path, version: int | None = None) -> list[int]:
    """Read the rows by Delta Kernel, Spark's engine untouched."""
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

"""Readers that know nothing of us: what they read is what we promise."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow
import pyarrow.dataset
from deltalake import DeltaTable as DeltaRs
from deltalake import QueryBuilder
from pyspark.sql import SparkSession


def ids_by_delta_rs(path: Path, version: int | None = None) -> list[int]:
    query = QueryBuilder().register("t", DeltaRs(str(path), version=version))
    return sorted(pyarrow.table(query.execute("SELECT id FROM t"))["id"].to_pylist())


def _live_files(path: Path) -> list[str]:
    return [uri.removeprefix("file://") for uri in DeltaRs(str(path)).file_uris()]


def ids_by_pyarrow(path: Path) -> list[int]:
    found = pyarrow.dataset.dataset(_live_files(path)).to_table(columns=["id"])
    return sorted(found["id"].to_pylist())


def ids_by_duckdb(path: Path) -> list[int]:
    rows = duckdb.execute("SELECT id FROM read_parquet(?)", [_live_files(path)]).fetchall()
    return sorted(row[0] for row in rows)


def files_by_kernel(spark: SparkSession, path: Path) -> int:
    """Count the data files that Delta Kernel finds, from checkpoint and commits alone."""
    jvm = spark._jvm
    conf = spark._jsc.hadoopConfiguration()
    engine = jvm.io.delta.kernel.defaults.engine.DefaultEngine.create(conf)
    table = jvm.io.delta.kernel.Table.forPath(engine, str(path))
    batches = table.getLatestSnapshot(engine).getScanBuilder().build().getScanFiles(engine)
    count = 0
    while batches.hasNext():
        rows = batches.next().getRows()
        while rows.hasNext():
            rows.next()
            count += 1
    return count

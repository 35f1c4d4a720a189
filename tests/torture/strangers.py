"""Readers other than Spark; each takes part if it reads a table as Spark does, before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable as DeltaRs
from deltalake import QueryBuilder
from pyspark.sql import types as t

from torture.rows import Rows, python_columns, rows_of
from torture.tables import Table

# Hadoop's LZ4 keeps a page of more than 256 KiB in several blocks. The decoder that these have in
# common stops before the last block if it is the smallest (`try_decompress_hadoop` of parquet-rs).
OF_ONE_BLOCK = {"polars", "delta-rs"}

Reader = Callable[..., pa.Table]  # of a file, and of some of its columns or all


def by_pyarrow(file: str, columns: Sequence[str] | None = None) -> pa.Table:
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us").read(columns)


def by_duckdb(file: str, columns: Sequence[str] | None = None) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        escaped = file.replace("*", "[*]").replace("?", "[?]")
        names = ", ".join(f'"{name}"' for name in columns) if columns else "*"
        query = f"SELECT {names} FROM read_parquet(?, hive_partitioning = false)"
        return connection.sql(query, params=[escaped]).to_arrow_table()


def by_polars(file: str, columns: Sequence[str] | None = None) -> pa.Table:
    names = list(columns) if columns else None
    frame = polars.read_parquet(file, columns=names, glob=False, hive_partitioning=False)
    return frame.to_arrow()


FILE_READERS: dict[str, Reader] = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars}


def rows_by_files(table: Table, reader: Reader, schema: t.StructType) -> Rows:
    """Read the live files, one by one, without their partition values."""
    found: Rows = Rows()
    for file in table.files():
        found += rows_of(python_columns(reader(file), schema), schema)
    return found


def rows_by_delta_rs(table: Table, schema: t.StructType) -> Rows:
    """Read the whole table, partition columns too."""
    query = QueryBuilder().register("t", DeltaRs(str(table.path)))
    return rows_of(python_columns(pa.table(query.execute("SELECT * FROM t")), schema), schema)


def strangers_of(table: Table, whole: t.StructType) -> dict[str, Callable[[], Rows]]:
    """Give every reader; those of files read the columns that files hold."""
    held = t.StructType([f for f in whole.fields if f.name not in table.partition_columns()])

    def of_files(reader: Reader) -> Callable[[], Rows]:
        return lambda: rows_by_files(table, reader, held)

    found = {name: of_files(reader) for name, reader in FILE_READERS.items()}
    return {**found, "delta-rs": lambda: rows_by_delta_rs(table, whole)}

"""Readers of single files, other than Spark."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

# Hadoop's LZ4 keeps a page of more than 256 KiB in several blocks. The decoder that these have in
# common stops before the last block if it is the smallest (`try_decompress_hadoop` of parquet-rs).
OF_ONE_BLOCK = {"polars", "delta-rs"}


def by_pyarrow(file: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file, or raise.

    pyarrow begins some files of one row with a page of none, and its reader stops there.
    """
    opened = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
    rows = opened.read(columns)
    if rows.num_rows != opened.metadata.num_rows:
        raise pa.ArrowInvalid(f"{rows.num_rows} rows of {opened.metadata.num_rows} in {file}")
    return rows


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

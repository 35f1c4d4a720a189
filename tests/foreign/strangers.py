"""Readers of a whole table that know nothing of us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql import types as t

from foreign.delta_rs import by_delta_rs
from foreign.readers import by_duckdb, by_polars, by_pyarrow
from foreign.rows import Rows, python_columns, rows_of
from foreign.table import ForeignTable
from foreign.types import EPOCH
from support.sessions import as_arrow

ReadFile = Callable[..., pa.Table]  # of a file, and of some of its columns or all
FILE_READERS: dict[str, ReadFile] = {
    "pyarrow": by_pyarrow,
    "duckdb": by_duckdb,
    "polars": by_polars,
}
# Types of partition columns of whose values the log knows one spelling.
SPELLED: dict[type[t.DataType], Callable[[str], Any]] = {
    t.StringType: str,
    t.BooleanType: "true".__eq__,
    t.ByteType: int,
    t.ShortType: int,
    t.IntegerType: int,
    t.LongType: int,
    t.DateType: lambda text: (date.fromisoformat(text) - EPOCH.date()).days,
}


@contextmanager
def panics() -> Iterator[None]:
    """Take the panics of Rust, which are no `Exception`, for one."""
    try:
        yield
    except BaseException as e:
        if type(e).__name__ != "PanicException":
            raise
        raise RuntimeError(f"panic: {e}") from e


def rows_in(frame: DataFrame) -> Rows:
    return rows_of(python_columns(as_arrow(frame), frame.schema), frame.schema)


def with_ids(frame: DataFrame) -> DataFrame:
    """Add the ids of the rows and the versions of their last change, as Delta reads them."""
    metadata = [
        fn.col(f"_metadata.{name}").alias(f"its {name}")
        for name in ("row_id", "row_commit_version")
    ]
    return frame.select(*metadata, "*")


def told_by_files(table: ForeignTable, schema: t.StructType) -> t.StructType:
    """Give the columns that files hold, or whose values the log knows one spelling of."""
    partitions = table.partition_columns()
    return t.StructType(
        [f for f in schema if f.name not in partitions or type(f.dataType) in SPELLED]
    )


def rows_by_files(
    table: ForeignTable, read: ReadFile, schema: t.StructType, partition: str | None = None
) -> Rows:
    """Read the columns of `told_by_files` from the live files of one partition or of all."""
    partitions = table.partition_columns()
    physical = table.physical_fields()
    fields = [physical[f.name] for f in schema]
    found = Rows()
    for add in table.adds(partition).values():
        rows = read(table.file_of(add))
        held = python_columns(rows, t.StructType(fields))
        columns = [
            [_value(add["partitionValues"][f.name], f.dataType)] * rows.num_rows
            if name in partitions
            else column
            for name, f, column in zip(schema.names, fields, held, strict=True)
        ]
        found += rows_of(columns, t.StructType(fields))
    return found


def _value(text: str | None, kind: t.DataType) -> Any:
    return None if text is None else SPELLED[type(kind)](text)


def strangers_of(
    table: ForeignTable, whole: t.StructType, partition: str | None = None
) -> dict[str, Callable[[], Rows]]:
    """Give every reader; those of files read the columns of `told_by_files`.

    Args:
        table: The table.
        whole: Its columns, as Spark reads them.
        partition: The value of the only partition to read, which leaves out delta-rs.
    """
    told = told_by_files(table, whole)

    def of_files(read: ReadFile) -> Callable[[], Rows]:
        return lambda: rows_by_files(table, read, told, partition)

    found = {name: of_files(read) for name, read in FILE_READERS.items()}
    if partition is None:
        found["delta-rs"] = lambda: rows_of(python_columns(by_delta_rs(table.path), whole), whole)
    return found

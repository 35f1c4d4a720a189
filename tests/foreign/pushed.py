"""Filters that readers push down to the bounds of files, row groups and pages."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import QueryBuilder
from pyspark.sql import types as t

from foreign.filters import COMPARE, Filter
from foreign.types import STORED, arrow_type

_ARROW = pads.ParquetFileFormat(coerce_int96_timestamp_unit="us")
_SQL_NAMES: dict[type[t.DataType], str] = {
    t.BooleanType: "BOOLEAN",
    t.ByteType: "TINYINT",
    t.ShortType: "SMALLINT",
    t.IntegerType: "INTEGER",
    t.LongType: "BIGINT",
    t.FloatType: "REAL",
    t.DoubleType: "DOUBLE",
    t.StringType: "VARCHAR",
    t.BinaryType: "BLOB",
    t.DateType: "DATE",
    t.TimestampType: "TIMESTAMPTZ",
    t.TimestampNTZType: "TIMESTAMP",
}


def _scalar(f: Filter) -> pa.Scalar:
    return pa.scalar(f.value, arrow_type(f.kind, STORED)).cast(arrow_type(f.kind))


def count_by_pyarrow(file: str, f: Filter) -> int:
    rows = pads.dataset(file, format=_ARROW)
    column = pads.field(*f.path)
    if f.operator in ("null", "not null"):
        condition = column.is_null() if f.operator == "null" else column.is_valid()
    else:
        value = _scalar(f)
        found = rows.schema.field(f.path[0]).type
        if pa.types.is_timestamp(found):  # INT96 has no zone
            value = pa.scalar(f.value, pa.int64()).cast(pa.timestamp("us", found.tz))
        condition = COMPARE[f.operator](column, value)
    return int(rows.count_rows(filter=condition))


def count_by_duckdb(file: str, f: Filter) -> int:
    column = ".".join(f'"{name}"' for name in f.path)
    arguments: list[Any] = [file]
    if f.operator in ("null", "not null"):
        condition = f"{column} IS {f.operator.upper()}"
    else:
        kind = f.kind
        decimal = isinstance(kind, t.DecimalType)
        name = kind.simpleString() if decimal else _SQL_NAMES[type(kind)]
        condition = f"{column} {f.operator} CAST(? AS {name})"
        arguments.append(_scalar(f).as_py())
    rows = "read_parquet(?, hive_partitioning = false)"
    query = f"SELECT count(*) FROM {rows} WHERE {condition}"
    found: int = _duckdb().execute(query, arguments).fetchall()[0][0]
    return found


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def count_by_polars(file: str, f: Filter) -> int:
    column = polars.col(f.path[0])
    for name in f.path[1:]:
        column = column.struct.field(name)
    if f.operator in ("null", "not null"):
        condition = column.is_null() if f.operator == "null" else column.is_not_null()
    else:
        condition = COMPARE[f.operator](column, polars.lit(_scalar(f).as_py()))
    rows = polars.scan_parquet(file, glob=False, hive_partitioning=False)
    return int(rows.filter(condition).select(polars.len()).collect().item())


def count_by_delta_rs(query: QueryBuilder, among: str, f: Filter) -> int:
    """Count rows of a table `t`, among those of a condition."""
    column = f'"{f.path[0]}"' + "".join(f"['{name}']" for name in f.path[1:])
    if f.operator in ("null", "not null"):
        condition = f"{column} IS {f.operator.upper()}"
    else:
        condition = f"{column} {f.operator} {_literal(f)}"
    found = pa.table(query.execute(f"SELECT count(*) FROM t WHERE {among} AND {condition}"))
    return int(found.column(0)[0].as_py())


def _literal(f: Filter) -> str:
    value = _scalar(f).as_py()
    kind = {
        t.ByteType: "Int8",
        t.ShortType: "Int16",
        t.IntegerType: "Int32",
        t.LongType: "Int64",
        t.FloatType: "Float32",
        t.DoubleType: "Float64",
        t.DateType: "Date32",
        t.TimestampType: 'Timestamp(Microsecond, Some("UTC"))',
        t.TimestampNTZType: "Timestamp(Microsecond, None)",
    }.get(type(f.kind), "Utf8")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(f.kind, t.DecimalType):
        return f"arrow_cast('{value:f}', 'Decimal128({f.kind.precision}, {f.kind.scale})')"
    if isinstance(value, (date, datetime)):
        value = value.isoformat()
    text = str(value).replace("'", "''")
    return f"arrow_cast('{text}', '{kind}')"

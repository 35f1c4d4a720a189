"""Statistics of the log, as an honest writer would have given them."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

PREFIX = 32
_PLAIN = (t.ByteType, t.ShortType, t.IntegerType, t.LongType)


def stats_of(rows: pa.Table, schema: t.StructType, how: str) -> dict[str, Any]:
    """Make the statistics of a file: `count` only the rows, `some` of one column, or `full`."""
    stats: dict[str, Any] = {"numRecords": rows.num_rows}
    if how == "count":
        return stats
    kept = t.StructType(schema.fields[:1]) if how == "some" else schema
    by_name = {f.name.lower(): column for f, column in zip(rows.schema, rows.columns, strict=True)}
    records = [
        dict(zip((f.name for f in kept.fields), row, strict=True))
        for row in zip(*(by_name[f.name.lower()].to_pylist() for f in kept.fields), strict=True)
    ]
    lows, highs, nulls = _struct_stats(records, kept)
    return {**stats, "minValues": lows, "maxValues": highs, "nullCount": nulls}


def _struct_stats(
    records: list[dict[str, Any] | None], schema: t.StructType
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for f in schema.fields:
        values = [record.get(f.name) if record else None for record in records]
        if isinstance(f.dataType, t.StructType):
            lows[f.name], highs[f.name], nulls[f.name] = _struct_stats(values, f.dataType)
            continue
        found = [value for value in values if value is not None]
        nulls[f.name] = len(values) - len(found)
        bounds = _bounds(found, f.dataType)
        if bounds:
            lows[f.name], highs[f.name] = bounds
    return lows, highs, nulls


def _bounds(values: list[Any], kind: t.DataType) -> tuple[Any, Any] | None:
    if not values:
        return None
    if isinstance(kind, _PLAIN):
        return min(values), max(values)
    if isinstance(kind, t.DoubleType) and all(map(math.isfinite, values)):
        return min(values), max(values)
    if isinstance(kind, t.StringType) and isinstance(values[0], str):
        low, high = min(values), max(values)
        return low[:PREFIX], high if len(high) <= PREFIX else high[:PREFIX] + "\U0010ffff"
    if isinstance(kind, t.DateType):
        return min(values).isoformat(), max(values).isoformat()
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)) and min(values).year >= 1970:
        return _millis(min(values), kind), _millis(max(values), kind)
    return None


def _millis(value: datetime | date, kind: t.DataType) -> str:
    text = value.replace(tzinfo=None).isoformat(timespec="milliseconds")
    return text + "Z" if isinstance(kind, t.TimestampType) else text

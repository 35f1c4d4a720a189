"""Statistics of the log as an honest writer gives them, from values as they are stored."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

from foreign.extremes import has_calendar_date
from foreign.raw_texts import as_delta_prints
from foreign.rows import order, python_columns
from foreign.types import EPOCH

PREFIX = 32
TOP = "\U0010ffff"


def stats_of(rows: pa.Table, schema: t.StructType, how: str) -> dict[str, Any]:
    """Make the statistics of a file: `count` is only the rows."""
    found: dict[str, Any] = {"numRecords": rows.num_rows}
    if how == "count":
        return found
    lows, highs, nulls = _of_struct(python_columns(rows, schema), schema)
    return {**found, "minValues": lows, "maxValues": highs, "nullCount": nulls}


def _of_struct(columns: list[list[Any]], schema: t.StructType) -> tuple[Any, Any, Any]:
    lows, highs, nulls = {}, {}, {}
    for f, values in zip(schema.fields, columns, strict=True):
        if isinstance(f.dataType, t.StructType):
            children = [[v and v[c.name] for v in values] for c in f.dataType.fields]
            lows[f.name], highs[f.name], nulls[f.name] = _of_struct(children, f.dataType)
            continue
        found = [v for v in values if v is not None]
        nulls[f.name] = len(values) - len(found)
        if found and not isinstance(f.dataType, (t.ArrayType, t.MapType)):
            low, high = min(found, key=order), max(found, key=order)
            for bounds, text in (
                (lows, _text(low, f.dataType, False)),
                (highs, _text(high, f.dataType, True)),
            ):
                if text is not None:
                    bounds[f.name] = text
    return lows, highs, nulls


def _text(value: Any, kind: t.DataType, is_high: bool) -> Any:
    if isinstance(kind, (t.BooleanType, t.BinaryType)):
        return None
    if isinstance(kind, t.StringType):
        value = as_delta_prints(value)
        if len(value) <= PREFIX:
            return value
        if not is_high:
            return value[:PREFIX]
        return None if value[PREFIX] == TOP else value[:PREFIX] + TOP
    is_time = isinstance(kind, (t.DateType, t.TimestampType, t.TimestampNTZType))
    if is_time and not has_calendar_date(value, kind):
        return None
    if isinstance(kind, t.DateType):
        return (EPOCH + timedelta(days=value)).date().isoformat()
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        moment = EPOCH + timedelta(milliseconds=value // 1000)
        text = moment.isoformat(timespec="milliseconds")
        return text + "Z" if isinstance(kind, t.TimestampType) else text
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return None if isinstance(value, Decimal) else value

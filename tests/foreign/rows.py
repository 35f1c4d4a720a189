"""Rows as a multiset in which only equal values are equal, -0.0 and 0.0 apart."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

from foreign.extremes import WIDE
from foreign.raw_texts import to_python, utf8
from foreign.recased import spelled_as
from foreign.types import ARROW, STORED, arrow_type

Rows = Counter[str]


def python_columns(rows: pa.Table, schema: t.StructType) -> list[list[Any]]:
    """Give the values of every column, dates and times as numbers; a lacking column is null."""
    at = {name.lower(): i for i, name in enumerate(rows.schema.names)}
    columns = []
    for f in schema.fields:
        i = at.get(f.name.lower())
        if i is None:
            columns.append([None] * rows.num_rows)
            continue
        column = rows.column(i)
        spelled = spelled_as(f.dataType, column.type)
        if spelled != column.type:
            column = pa.chunked_array([column.combine_chunks().view(spelled)])
        for stored in (False, True):
            column = column.cast(arrow_type(f.dataType, STORED if stored else ARROW), safe=stored)
        columns.append(to_python(column, f.dataType))
    return columns


def leaves_of(
    schema: t.StructType, columns: list[list[Any]], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], t.DataType, list[Any]]]:
    """Give the path, the type and the values of everything but structs, lists as a whole."""
    for f, column in zip(schema.fields, columns, strict=True):
        path = (*above, f.name)
        if isinstance(f.dataType, t.StructType):
            # A struct is never empty.
            children = [[v and v[name] for v in column] for name in f.dataType.names]
            yield from leaves_of(f.dataType, children, path)
        else:
            yield path, f.dataType, column


def rows_of(columns: list[list[Any]], schema: t.StructType) -> Rows:
    """Count the rows, each by a text."""
    texts = [
        [canonical(value, f.dataType) for value in column]
        for column, f in zip(columns, schema.fields, strict=True)
    ]
    return Counter(repr(row) for row in zip(*texts, strict=True))


def canonical(value: Any, kind: t.DataType) -> Any:
    """Give a value one form; a large one is shortened."""
    if value is None:
        return None
    if isinstance(kind, t.StructType):
        return tuple(canonical(value[f.name], f.dataType) for f in kind.fields)
    if isinstance(kind, t.ArrayType):
        return [canonical(item, kind.elementType) for item in value]
    if isinstance(kind, t.MapType):
        return [(canonical(k, kind.keyType), canonical(v, kind.valueType)) for k, v in value]
    if isinstance(kind, t.DecimalType):
        return int(value.scaleb(kind.scale, WIDE))
    if isinstance(value, (str, bytes)) and len(value) > 200:
        raw = utf8(value) if isinstance(value, str) else value
        return len(value), hashlib.sha256(raw).hexdigest()
    return value


def difference(before: Rows, after: Rows) -> str | None:
    """Tell what is gone and what is new, a little of it."""
    lost, found = before - after, after - before
    if not lost and not found:
        return None
    some = [[row[:300] for row in rows][:3] for rows in (lost, found)]
    return f"{lost.total()} rows lost, {found.total()} new; lost {some[0]}, new {some[1]}"


def order(value: Any) -> Any:
    """Give the key of Spark's order: NaN above all, zeros equal, texts by their bytes."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return utf8(value) if isinstance(value, str) else value

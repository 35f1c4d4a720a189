"""Columns that files lack, and readers supply with something else than null."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import types as t

from foreign.values import Style, draw_values
from torture.pools import Names
from torture.sql_text import sql_of


def draw_defaults(
    names: Names, others: list[str], *, by_rows: bool
) -> list[tuple[t.StructField, str]]:
    """Draw columns of types whose defaults Spark reads, each with the SQL of its default."""
    rng = names.rng
    style = Style("many", 0.0, rng.choice([0.0, 0.2]), 0.0)
    found: list[tuple[t.StructField, str]] = []
    for _ in range(rng.choice([1, 1, 2])):
        name = names.draw_beside([*others, *(f.name for f, _ in found)])
        kind = names.type(rng.choice([0, 1, 1, 2]))
        while not by_rows and _is_misread_in_batches(kind):
            kind = names.type(rng.choice([0, 1]))
        if any(time in kind.simpleString() for time in ("date", "timestamp")):
            style = replace(style, extreme=0.0)  # SQL knows no text of some of them
        (value,) = draw_values(kind, 1, style, rng)
        found.append((t.StructField(name, kind), sql_of(value, kind)))
    return found


def _is_misread_in_batches(kind: t.DataType) -> bool:
    """Say whether Spark reads a default for the first row of a batch only, or not at all."""
    if isinstance(kind, t.DecimalType):
        return kind.precision > 18
    if isinstance(kind, t.StructType):
        return any(_is_misread_in_batches(f.dataType) for f in kind.fields)
    if isinstance(kind, t.ArrayType):
        return _is_misread_in_batches(kind.elementType)
    return isinstance(kind, t.MapType)


def with_defaults(schema: t.StructType, defaults: dict[str, str]) -> t.StructType:
    """Give a schema that says, as Spark does, what readers of older files supply."""
    return t.StructType([_with_default(f, defaults.get(f.name)) for f in schema.fields])


def _with_default(f: t.StructField, sql: str | None) -> t.StructField:
    metadata = {} if sql is None else {"CURRENT_DEFAULT": sql, "EXISTS_DEFAULT": sql}
    return t.StructField(f.name, f.dataType, True, metadata)

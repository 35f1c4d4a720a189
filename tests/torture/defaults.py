"""Columns that files lack, and readers supply with something else than null."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import types as t

from torture.pools import Names
from torture.sql_text import sql_of
from torture.values import Style, draw_values

FEATURE = "allowColumnDefaults"


def draw_defaults(names: Names, others: list[str]) -> list[tuple[t.StructField, str]]:
    """Draw columns of any type, each with the SQL of its default."""
    rng = names.rng
    style = Style("many", 0.0, rng.choice([0.0, 0.2]), 0.0)
    found: list[tuple[t.StructField, str]] = []
    for _ in range(rng.choice([1, 1, 2])):
        name = names.draw_beside([*others, *(f.name for f, _ in found)])
        kind = names.type(rng.choice([0, 1, 1, 2]))
        if any(time in kind.simpleString() for time in ("date", "timestamp")):
            style = replace(style, extreme=0.0)  # SQL knows no text of some of them
        (value,) = draw_values(kind, 1, style, rng)
        found.append((t.StructField(name, kind), sql_of(value, kind)))
    return found


def with_defaults(schema: t.StructType, defaults: dict[str, str]) -> t.StructType:
    """Give a schema that says, as Spark does, what readers of older files supply."""
    return t.StructType([_with_default(f, defaults.get(f.name)) for f in schema.fields])


def _with_default(f: t.StructField, sql: str | None) -> t.StructField:
    metadata = {} if sql is None else {"CURRENT_DEFAULT": sql, "EXISTS_DEFAULT": sql}
    return t.StructField(f.name, f.dataType, True, metadata)

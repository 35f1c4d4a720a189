"""Spells names in another case, at every depth."""

from __future__ import annotations

import random
import string

import pyarrow as pa
from pyspark.sql import types as t

from foreign.types import rebuilt

LOWER, UPPER = string.ascii_lowercase, string.ascii_uppercase
CASES = (
    str.maketrans(LOWER, UPPER),
    str.maketrans(UPPER, LOWER),
    str.maketrans(LOWER + UPPER, UPPER + LOWER),
)
Case = dict[int, int]


def draw_case(rng: random.Random) -> Case:
    return rng.choice(CASES)


def recased_schema(schema: t.StructType, case: Case) -> t.StructType:
    recased: t.StructType = rebuilt(
        schema, lambda fields: [t.StructField(f.name.translate(case), f.dataType) for f in fields]
    )
    return recased


def with_names(rows: pa.Table, names: list[str], types: list[pa.DataType]) -> pa.Table:
    """Name columns and what they hold anew; values stay where they are."""
    columns = [
        column.combine_chunks().view(kind) for column, kind in zip(rows.columns, types, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=names)


def spelled_as(kind: t.DataType, found: pa.DataType) -> pa.DataType:
    """Give the type that was found, with the names of a table's type where only case differs."""
    if isinstance(kind, t.StructType) and pa.types.is_struct(found):
        known = {f.name.lower(): f for f in kind.fields}
        fields = []
        for f in found:
            match = known.get(f.name.lower())
            fields.append(
                f if match is None else pa.field(match.name, spelled_as(match.dataType, f.type))
            )
        return pa.struct(fields)
    if isinstance(kind, t.ArrayType) and pa.types.is_list(found):
        name = found.value_field.name
        return pa.list_(pa.field(name, spelled_as(kind.elementType, found.value_type)))
    if isinstance(kind, t.MapType) and pa.types.is_map(found):
        return pa.map_(
            spelled_as(kind.keyType, found.key_type), spelled_as(kind.valueType, found.item_type)
        )
    return found

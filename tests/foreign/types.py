"""Types that Delta has, as Arrow and as Parquet store them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

EPOCH = datetime(1970, 1, 1)

LEAVES: tuple[t.DataType, ...] = (
    t.BooleanType(),
    t.ByteType(),
    t.ShortType(),
    t.IntegerType(),
    t.LongType(),
    t.FloatType(),
    t.DoubleType(),
    t.DecimalType(9, 2),
    t.DecimalType(18, 0),
    t.DecimalType(38, 10),
    t.StringType(),
    t.BinaryType(),
    t.DateType(),
    t.TimestampType(),
    t.TimestampNTZType(),
)
OFTEN = (t.FloatType(), t.DoubleType(), t.StringType())
KEYS: tuple[t.DataType, ...] = (
    t.StringType(),
    t.IntegerType(),
    t.LongType(),
    t.DateType(),
    t.DecimalType(9, 2),
    t.BooleanType(),
)


def draw_leaf_type(rng: random.Random) -> t.DataType:
    """Draw a leaf; decimals are of any number of digits."""
    kind = rng.choice([*LEAVES, *OFTEN])
    return draw_decimal(rng) if isinstance(kind, t.DecimalType) else kind


def draw_decimal(rng: random.Random) -> t.DecimalType:
    precision = rng.choice([1, 4, 9, 10, 18, 19, 28, 38])
    return t.DecimalType(precision, rng.choice([0, precision // 2, precision]))


ARROW: dict[type[t.DataType], pa.DataType] = {
    t.BooleanType: pa.bool_(),
    t.ByteType: pa.int8(),
    t.ShortType: pa.int16(),
    t.IntegerType: pa.int32(),
    t.LongType: pa.int64(),
    t.FloatType: pa.float32(),
    t.DoubleType: pa.float64(),
    t.StringType: pa.string(),
    t.BinaryType: pa.binary(),
    t.DateType: pa.date32(),
    t.TimestampType: pa.timestamp("us", "UTC"),
    t.TimestampNTZType: pa.timestamp("us"),
}


# Dates and times as they are stored: numbers.
STORED = ARROW | {
    t.DateType: pa.int32(),
    t.TimestampType: pa.int64(),
    t.TimestampNTZType: pa.int64(),
}


def arrow_type(
    kind: t.DataType, leaves: Mapping[type[t.DataType], pa.DataType] = ARROW
) -> pa.DataType:
    """Give the Arrow type of a Spark type, with these types of leaves."""
    if isinstance(kind, t.StructType):
        return pa.struct([pa.field(f.name, arrow_type(f.dataType, leaves)) for f in kind.fields])
    if isinstance(kind, t.ArrayType):
        return pa.list_(pa.field("element", arrow_type(kind.elementType, leaves)))
    if isinstance(kind, t.MapType):
        return pa.map_(arrow_type(kind.keyType, leaves), arrow_type(kind.valueType, leaves))
    if isinstance(kind, t.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return leaves[type(kind)]


def rebuilt(kind: t.DataType, change: Callable[[list[t.StructField]], list[t.StructField]]) -> Any:
    """Give a type with the fields of its structs, at every depth, as `change` makes them."""
    if isinstance(kind, t.StructType):
        return t.StructType(
            [
                t.StructField(f.name, rebuilt(f.dataType, change), f.nullable)
                for f in change(kind.fields)
            ]
        )
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(rebuilt(kind.elementType, change), kind.containsNull)
    if isinstance(kind, t.MapType):
        return t.MapType(rebuilt(kind.keyType, change), rebuilt(kind.valueType, change))
    return kind


def without_last_fields(kind: t.DataType) -> t.DataType:
    """Take the last field from every struct of two or more, as an older file would lack it."""
    return rebuilt(kind, lambda fields: fields[:-1] or fields)

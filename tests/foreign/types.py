"""Types that Delta has, as Arrow and as Parquet store them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

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


def without_last_fields(kind: t.DataType) -> t.DataType:
    """Take the last field from every struct of two or more, as an older file would lack it."""
    if isinstance(kind, t.StructType):
        kept = kind.fields[:-1] if len(kind.fields) > 1 else kind.fields
        return t.StructType(
            [t.StructField(f.name, without_last_fields(f.dataType), f.nullable) for f in kept]
        )
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(without_last_fields(kind.elementType), kind.containsNull)
    if isinstance(kind, t.MapType):
        return t.MapType(kind.keyType, without_last_fields(kind.valueType))
    return kind

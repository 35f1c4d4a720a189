"""Random rows of every type that Delta has: the schema is drawn, a seed gives the values."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
_WIDE = Context(prec=60)
# A year inside what Python has, since the Julian calendar shifts days where Spark writes it.
FIRST, LAST = datetime(2, 1, 1), datetime(9998, 12, 31, 23, 59, 59, 999_999)
# More bytes than a column index keeps (64) and more characters than Delta's statistics (32).
LONG_PREFIX = "the same first characters, more of them than any index keeps of a value: "

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


@dataclass(frozen=True)
class Shape:
    """How the values of one column in one file are spread."""

    nulls: float = 0.2
    distinct: str = "many"  # one, few, many, sorted

    @classmethod
    def draw(cls, rng: random.Random) -> Shape:
        return cls(
            nulls=rng.choice([0.0, 0.0, 0.1, 0.7, 1.0]),
            distinct=rng.choice(["one", "few", "many", "sorted"]),
        )


def _integer(bits: int) -> Callable[[random.Random], int]:
    high = 2 ** (bits - 1)

    def draw(rng: random.Random) -> int:
        kind = rng.random()
        if kind < 0.05:
            return rng.choice([-high, high - 1, 0, -1])
        return rng.randrange(-high, high) if kind < 0.5 else rng.randrange(-100, 101)

    return draw


def _double(rng: random.Random) -> float:
    if rng.random() < 0.1:
        return rng.choice([0.0, -0.0, float("inf"), float("-inf"), 1e-308])
    return rng.gauss(0, 1e6)


def _float(rng: random.Random) -> float:
    return pa.scalar(_double(rng), pa.float32()).as_py()


def _string(rng: random.Random) -> str:
    kind = rng.randrange(8)
    number = str(rng.randrange(10_000))
    if kind == 0:
        return rng.choice(["", " ", "\uffff", "\U00010000", "\U0010ffff", "\x00", "'\"\\"])
    if kind == 1:
        return LONG_PREFIX + number
    if kind == 2:
        return rng.choice("éßЖ語😀\uffff\U00010400") * rng.randrange(1, 40) + number
    return "text " + number


def _binary(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\xff" * 70, rng.randbytes(4), rng.randbytes(4), rng.randbytes(4)])


def _date(rng: random.Random) -> date:
    if rng.random() < 0.05:
        return rng.choice([FIRST.date(), LAST.date(), date(1582, 10, 4)])
    return date(1990, 1, 1) + timedelta(days=rng.randrange(20_000))


def _naive(rng: random.Random) -> datetime:
    if rng.random() < 0.05:
        return rng.choice([FIRST, LAST, datetime(1582, 10, 4, 12), EPOCH - MICROSECOND])
    return EPOCH + rng.randrange(2 * 10**15) * MICROSECOND


def _aware(rng: random.Random) -> datetime:
    return _naive(rng).replace(tzinfo=timezone.utc)


DRAW: dict[type[t.DataType], Callable[[random.Random], Any]] = {
    t.BooleanType: lambda rng: rng.random() < 0.5,
    t.ByteType: _integer(8),
    t.ShortType: _integer(16),
    t.IntegerType: _integer(32),
    t.LongType: _integer(64),
    t.FloatType: _float,
    t.DoubleType: _double,
    t.StringType: _string,
    t.BinaryType: _binary,
    t.DateType: _date,
    t.TimestampType: _aware,
    t.TimestampNTZType: _naive,
}


def draw_leaf(kind: t.DataType, rng: random.Random) -> Any:
    """Draw one value that is not null."""
    if isinstance(kind, t.DecimalType):
        digits = rng.choice([1, kind.precision // 2, kind.precision])
        unscaled = rng.randrange(-(10**digits) + 1, 10**digits)
        return Decimal(unscaled).scaleb(-kind.scale, _WIDE)
    return DRAW[type(kind)](rng)


def draw_values(kind: t.DataType, count: int, shape: Shape, rng: random.Random) -> list[Any]:
    """Draw `count` values of a type, nulls at every level, by a shape."""
    if isinstance(kind, t.StructType):
        children = [draw_values(f.dataType, count, shape, rng) for f in kind.fields]
        names = [f.name for f in kind.fields]
        found = [dict(zip(names, row, strict=True)) for row in zip(*children, strict=True)]
    elif isinstance(kind, t.ArrayType):
        found = _split(draw_values, kind.elementType, count, shape, rng)
    elif isinstance(kind, t.MapType):
        keys = _split(draw_values, kind.keyType, count, Shape(0.0, "many"), rng)
        distinct = [list(dict.fromkeys(found)) for found in keys]
        size = sum(map(len, distinct))
        items = iter(draw_values(kind.valueType, size, shape, rng))
        found = [[(key, next(items)) for key in some] for some in distinct]
    else:
        found = _leaves(kind, count, shape, rng)
    return [None if rng.random() < shape.nulls else value for value in found]


def _split(
    draw: Callable[..., list[Any]],
    kind: t.DataType,
    count: int,
    shape: Shape,
    rng: random.Random,
) -> list[list[Any]]:
    sizes = [rng.choice([0, 1, 1, 2, 5]) for _ in range(count)]
    items = iter(draw(kind, sum(sizes), shape, rng))
    return [[next(items) for _ in range(size)] for size in sizes]


def _leaves(kind: t.DataType, count: int, shape: Shape, rng: random.Random) -> list[Any]:
    if shape.distinct in ("one", "few"):
        pool = [draw_leaf(kind, rng) for _ in range(1 if shape.distinct == "one" else 7)]
        return [rng.choice(pool) for _ in range(count)]
    found = [draw_leaf(kind, rng) for _ in range(count)]
    if shape.distinct == "sorted":
        return sorted(found)
    if isinstance(kind, (t.FloatType, t.DoubleType)) and rng.random() < 0.5:
        return [float("nan") if rng.random() < 0.02 else value for value in found]
    return found


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


def arrow_table(schema: t.StructType, shapes: dict[str, Shape], rows: int, seed: int) -> pa.Table:
    """Make the rows of one file."""
    rng = random.Random(seed)
    arrays = []
    for field in schema.fields:
        shape = shapes.get(field.name) or Shape.draw(rng)
        values = draw_values(field.dataType, rows, shape, rng)
        arrays.append(pa.array(values, arrow_type(field.dataType)))
    names = [field.name for field in schema.fields]
    return pa.Table.from_arrays(arrays, names=names)


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

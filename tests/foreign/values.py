"""Values of every type, as numbers, texts and bytes that Python can hold without a loss."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

from foreign.extremes import DAY, WIDE, WIDTHS, draw_extreme
from foreign.raw_texts import draw_raw, to_arrow
from foreign.types import STORED, arrow_type

# More bytes than a column index keeps (64) and more characters than Delta's statistics (32).
LONG_PREFIX = "the same first characters, more of them than any index keeps of a value: "
STYLES = ("one", "few", "few", "many", "many", "sorted", "runs", "special", "huge")
MOST_HUGE = 120  # values of up to 900 kB: more would need gigabytes to be read
STRINGS = (
    "", " ", "\x00", "\uffff", "\U0010ffff", "\U00010000", "'\"\\", "null", "NaN", "a\nb", "Ж",
    "a" * 32, "a" * 33, "\U0010ffff" * 33, "\x7f" * 40, "\u07ff" * 33, "e\u0301",
)  # fmt: skip
# 0002-01-01, 9998-12-31 and 1582-10-04: the Julian calendar shifts days, and Python has no others.
FAR_DAYS = (-718_797, 2_932_531, -141_438)
FLOATS = (0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, -1.0, 1.0, 1e300, 95.0)


@dataclass(frozen=True)
class Style:
    """How the values of a column in one file are spread."""

    spread: str
    nulls: float
    extreme: float  # the share of extreme values, which not every writer takes
    nan: float
    raw: float = 0.0  # the share of texts that are no UTF-8
    bulk: int = 0  # bytes of a text
    far: float = 0.0  # the share of dates and times of other centuries

    @classmethod
    def draw(
        cls, rng: random.Random, extreme: bool = False, raw: bool = False, bulky: bool = False
    ) -> Style:
        return cls(
            rng.choice(STYLES),
            rng.choice([0.0, 0.0, 0.1, 0.5, 0.9, 1.0]),
            rng.choice([0.05, 0.3]) if extreme else 0.0,
            rng.choice([0.0, 0.0, 0.0, 0.01, 0.2]),
            rng.choice([0.0, 0.05, 0.5, 0.9]) if raw else 0.0,
            rng.choice([0, 300, 300, 2000]) if bulky else 0,
        )


def draw_values(kind: t.DataType, count: int, style: Style, rng: random.Random) -> list[Any]:
    """Draw `count` values of a type, with nulls at every level."""
    if isinstance(kind, t.StructType):
        children = [draw_values(f.dataType, count, style, rng) for f in kind.fields]
        names = kind.fieldNames()
        found = [dict(zip(names, row, strict=True)) for row in zip(*children, strict=True)]
    elif isinstance(kind, t.ArrayType):
        found = _split(kind.elementType, count, style, rng)
    elif isinstance(kind, t.MapType):
        keyed = replace(style, spread="many", nulls=0.0, nan=0.0, bulk=0)
        keys = _split(kind.keyType, count, keyed, rng)
        keys = [list(dict.fromkeys(some)) for some in keys]
        items = iter(draw_values(kind.valueType, sum(map(len, keys)), style, rng))
        found = [[(key, next(items)) for key in some] for some in keys]
    else:
        found = _leaves(kind, count, style, rng)
    return [None if style.nulls and rng.random() < style.nulls else v for v in found]


def _split(kind: t.DataType, count: int, style: Style, rng: random.Random) -> list[list[Any]]:
    long = 300 if count < 60 and rng.random() < 0.1 else 3
    sizes = [rng.choice([0, 1, 1, 2, long]) for _ in range(count)]
    items = iter(draw_values(kind, sum(sizes), style, rng))
    return [[next(items) for _ in range(size)] for size in sizes]


def _leaves(kind: t.DataType, count: int, style: Style, rng: random.Random) -> list[Any]:
    if style.spread in ("one", "few", "runs"):
        pool = [draw_leaf(kind, rng, style) for _ in range(1 if style.spread == "one" else 5)]
        found = [rng.choice(pool) for _ in range(count)]
        if style.spread == "runs":
            found.sort(key=repr)
    elif style.spread == "special" and isinstance(kind, (t.FloatType, t.DoubleType)):
        found = [as_float(rng.choice(FLOATS), kind) for _ in range(count)]
    elif (
        style.spread == "huge"
        and count <= MOST_HUGE
        and isinstance(kind, (t.StringType, t.BinaryType))
    ):
        pool = [draw_leaf(kind, rng, style), _huge(kind, rng)]
        found = [rng.choice(pool) for _ in range(count)]
    else:
        found = [draw_leaf(kind, rng, style) for _ in range(count)]
    if style.nan and isinstance(kind, (t.FloatType, t.DoubleType)):
        return [math.nan if rng.random() < style.nan else v for v in found]
    if style.spread == "sorted":
        found.sort(key=lambda v: (v != v, v))
    return found


def _huge(kind: t.DataType, rng: random.Random) -> Any:
    size = rng.choice([5_000, 70_000, 300_000])
    text = rng.choice("aé語") * size
    return text if isinstance(kind, t.StringType) else text.encode()


def draw_leaf(kind: t.DataType, rng: random.Random, style: Style) -> Any:
    """Draw one value that is not null; dates and times are numbers, as they are stored."""
    if style.extreme and rng.random() < style.extreme:
        found = draw_extreme(kind, rng)
        if found is not None:
            return found
    if isinstance(kind, t.BooleanType):
        return rng.random() < 0.5
    if isinstance(kind, (t.ByteType, t.ShortType, t.IntegerType, t.LongType)):
        return _integer(8 * WIDTHS[type(kind)], rng)
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        if rng.random() < 0.1:
            return as_float(rng.choice([v for v in FLOATS if v == v]), kind)
        return as_float(rng.choice([rng.gauss(0, 1e6), float(rng.randrange(100))]), kind)
    if isinstance(kind, t.DecimalType):
        digits = rng.choice([1, max(kind.precision // 2, 1), kind.precision])
        unscaled = rng.randrange(-(10**digits) + 1, 10**digits)
        return Decimal(unscaled).scaleb(-kind.scale, WIDE)
    if isinstance(kind, t.StringType):
        if style.bulk:
            return rng.randbytes(style.bulk // 2).hex()
        return draw_raw(rng) if style.raw and rng.random() < style.raw else _string(rng)
    if isinstance(kind, t.BinaryType):
        return rng.choice([b"", b"\xff" * 70, b"\x00", rng.randbytes(4), rng.randbytes(4)])
    far = style.far and rng.random() < style.far
    day = rng.choice(FAR_DAYS) if far else _day(rng)
    if isinstance(kind, t.DateType):
        return day
    return day * DAY + rng.choice([0, DAY - 1, rng.randrange(DAY), 3_600_000_000])


def _integer(bits: int, rng: random.Random) -> int:
    high = 2 ** (bits - 1)
    kind = rng.random()
    if kind < 0.05:
        return rng.choice([-high, high - 1, 0, -1])
    return rng.randrange(-high, high) if kind < 0.4 else rng.randrange(-100, 101)


def _string(rng: random.Random) -> str:
    kind = rng.randrange(6)
    number = str(rng.randrange(10_000))
    if kind == 0:
        return rng.choice(STRINGS)
    if kind == 1:
        return LONG_PREFIX + number
    if kind == 2:
        return rng.choice("éßЖ語😀\uffff\U00010400\U0010ffff") * rng.randrange(1, 40) + number
    return "text " + number


def _day(rng: random.Random) -> int:
    if rng.random() < 0.1:  # when offsets were of local mean time, from 1860 on
        return rng.randrange(-40_000, 1_000)
    return rng.choice([0, -1, rng.randrange(7_000, 25_000), rng.randrange(19_000, 19_100)])


def as_float(value: float, kind: t.DataType) -> float:
    """Round to a value that the type holds."""
    if isinstance(kind, t.DoubleType):
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return as_float(math.copysign(3e38, value), kind)


def arrow_table(
    schema: t.StructType, styles: Mapping[str, Style], count: int, rng: random.Random
) -> pa.Table:
    """Make the rows of one file."""
    columns = [
        to_arrow(
            draw_values(f.dataType, count, styles[f.name], rng),
            f.dataType,
            arrow_type(f.dataType, STORED),
        ).cast(arrow_type(f.dataType), safe=False)
        for f in schema.fields
    ]
    return pa.Table.from_arrays(columns, names=schema.fieldNames())

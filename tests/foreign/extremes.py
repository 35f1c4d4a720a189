"""The least and the greatest values of each type, and those next to what writers cannot hold."""

from __future__ import annotations

import math
import random
from decimal import Context, Decimal
from typing import Any

from pyspark.sql import types as t

WIDE = Context(prec=60)
WIDTHS = {t.ByteType: 1, t.ShortType: 2, t.IntegerType: 4, t.LongType: 8}
# 0001-01-01 and 9999-12-31, in days from 1970; 1582-10-04 and -15; 1883-11-18; 1900-01-01.
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAYS = (FIRST_DAY, LAST_DAY, -141_428, -141_427, -31_457, -25_567)
DAY = 86_400_000_000
MOST = 2**63 - 1
FLOATS = (3.4028234663852886e38, 1.401298464324817e-45, 1.1754943508222875e-38)
DOUBLES = (1.7976931348623157e308, 5e-324, 2.2250738585072014e-308)


def draw_extreme(kind: t.DataType, rng: random.Random) -> Any:
    """Draw an extreme value of a type; None for one that has none."""
    if isinstance(kind, (t.ByteType, t.ShortType, t.IntegerType, t.LongType)):
        high = 2 ** (8 * WIDTHS[type(kind)] - 1)
        return rng.choice([-high, high - 1, 1 - high, high - 2])
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        values = FLOATS if isinstance(kind, t.FloatType) else DOUBLES
        return rng.choice([-1, 1]) * rng.choice([*values, math.inf, 0.0])
    if isinstance(kind, t.DecimalType):
        return _decimal(kind, rng)
    if isinstance(kind, t.StringType):
        return rng.choice(["", "\x00", "\U0010ffff" * 40, "\uffff", "\x7f" * 33])
    if isinstance(kind, t.BinaryType):
        return rng.choice([b"", b"\x00" * 70, b"\xff" * 70, b"\xff"])
    if isinstance(kind, t.DateType):
        return rng.choice([*DAYS, *DAYS, *DAYS, -(2**31) + 1, 2**31 - 1])
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        times = [rng.choice(DAYS) * DAY + rng.choice([0, 1, -1, DAY - 1]) for _ in range(3)]
        return rng.choice([max(time, FIRST_DAY * DAY) for time in times] + _beyond_years(rng))
    return None


def _decimal(kind: t.DecimalType, rng: random.Random) -> Decimal:
    """Draw one with all digits, or one next to what 32 and 64 bits hold."""
    most = 10**kind.precision - 1
    edges = [most, most - 1, 1, *(edge for edge in (2**31, 2**53, 2**63, 2**64) if edge < most)]
    return Decimal(rng.choice([-1, 1]) * rng.choice(edges)).scaleb(-kind.scale, WIDE)


def _beyond_years(rng: random.Random) -> list[int]:
    """Give a time of a year that has more digits than most readers know, sometimes."""
    return [rng.choice([MOST, -MOST, -MOST + 1])] if rng.random() < 0.1 else []


def has_calendar_date(value: int, kind: t.DataType) -> bool:
    """Tell whether Python, and the text of a literal, has a date or time."""
    days = value if isinstance(kind, t.DateType) else value // DAY
    return FIRST_DAY <= days <= LAST_DAY

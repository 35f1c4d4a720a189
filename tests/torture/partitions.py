"""Values of partitions that print alike, and the texts that writers give them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pyspark.sql import Column
from pyspark.sql import functions as fn
from pyspark.sql import types as t

from foreign.filters import literal
from foreign.forged import HIVE_NULL
from foreign.types import EPOCH

# 2024-11-03 05:30 and 06:30 are both 01:30 in New York; the others in Berlin, and on Lord Howe.
REPEATED = [1730611800, 1730615400, 1729989000, 1729992600, 1712413800, 1712415600]
TIMES = [second * 1_000_000 for second in REPEATED] + [0, -1, 1730611800_000_001]
TYPES: tuple[t.DataType, ...] = (
    t.StringType(),
    t.StringType(),
    t.StringType(),
    t.StringType(),
    t.StringType(),
    t.StringType(),
    t.IntegerType(),
    t.LongType(),
    t.ShortType(),
    t.ByteType(),
    t.BooleanType(),
    t.DateType(),
    t.TimestampType(),
    t.TimestampType(),
    t.TimestampType(),
    t.TimestampNTZType(),
    t.DecimalType(9, 2),
    t.DecimalType(38, 10),
    t.DoubleType(),
    t.FloatType(),
)


def draw_pool(kind: t.DataType, others: Sequence[str], rng: random.Random) -> list[Any]:
    """Draw a few values of one partition column; `others` are all partition columns."""
    pool: Sequence[Any]
    if isinstance(kind, t.StringType):
        other = rng.choice(others)
        pool = rng.choice(
            [
                [None, "null"],
                [None, "null", "NULL", "", HIVE_NULL, "None"],
                ["x", f"x, {other}=y", f"y, {other}=z", "z"],
                ["x", "x/y", f"x/{other}=y", "y"],
                ["a", "A", "a ", " a", "a%20", "%", "%25", "a b", "a+b", "a=b", "a:b", "a\nb"],
                ["ü", "u\u0308", "名", "😀", "\u00a0", "é" * 60, "#", "?", "'", '"', "\\", "{}"],
                ["1", "01", "1.0", "true", "2024-01-01", "2024-01-01 00:00:00", "NaN", "-0.0"],
            ]
        )
    elif isinstance(kind, t.BooleanType):
        pool = [True, False, None]
    elif isinstance(kind, t.DateType):
        pool = [0, -1, 19_782, 19_783, 2_932_896, None]
    elif isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        at = rng.randrange(0, len(REPEATED), 2)
        pool = rng.choice([TIMES[at : at + 2], TIMES[at : at + 2], [*TIMES, None]])
    elif isinstance(kind, t.DecimalType):
        pool = [Decimal("1.50"), Decimal("-0.01"), Decimal("0"), Decimal("15"), None]
    elif isinstance(kind, (t.DoubleType, t.FloatType)):
        pool = [0.0, -0.0, float("nan"), float("inf"), 1.0, 0.5, None]
    else:
        pool = [0, 1, -1, 127, None]
    return rng.sample(pool, min(len(pool), rng.choice([1, 2, 2, 3])))


def print_alike(fields: Sequence[t.StructField]) -> list[tuple[Any, ...]]:
    """Give values of two columns of text that read the same as `a=x, b=y`."""
    if len(fields) != 2 or any(not isinstance(f.dataType, t.StringType) for f in fields):
        return []
    second = fields[1].name
    return [(f"x, {second}=y", "z"), ("x", f"y, {second}=z")]


def text_of(value: Any, kind: t.DataType, rng: random.Random) -> str | None:
    """Serialize as the protocol allows, in one of the ways that writers choose."""
    if value is None:
        return None  # not "", which Delta's filters cannot cast
    if isinstance(kind, t.BooleanType):
        return str(value).lower()
    if isinstance(kind, t.DateType):
        return (EPOCH + timedelta(days=value)).date().isoformat()
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        moment = EPOCH + timedelta(microseconds=value)
        if isinstance(kind, t.TimestampType):
            return moment.isoformat(timespec="microseconds") + "Z"
        return _plain(moment)
    if isinstance(value, float):
        texts = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        return texts.get(str(value), str(value))
    if isinstance(value, Decimal):
        return rng.choice([str(value), f"{value:.2f}", f"{value.normalize():f}"])
    return str(value)


def _plain(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="microseconds" if moment.microsecond else "seconds")


def column_of(value: Any, kind: t.DataType) -> Column:
    return fn.lit(None).cast(kind) if value is None else literal(value, kind)


def hive_folder(names: Sequence[str], texts: Sequence[str | None]) -> str:
    """Name a directory as Hive and Spark do."""
    return "/".join(
        f"{_escape(name)}={HIVE_NULL if text in (None, '') else _escape(str(text))}"
        for name, text in zip(names, texts, strict=True)
    )


def _escape(text: str) -> str:
    unsafe = "\"#%'*/:=?\\\x7f{[]^"
    return "".join(quote(c, safe="") if c in unsafe or c < " " else c for c in text)

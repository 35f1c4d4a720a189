"""Filters on every column, their truth by Python, their counts by Delta on Spark."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql import types as t

from foreign.extremes import WIDE, has_calendar_date
from foreign.raw_texts import is_raw, utf8
from foreign.rows import leaves_of, order
from foreign.types import EPOCH
from foreign.values import Style, as_float, draw_leaf

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Filter:
    """A comparison of a leaf, which no list holds, with a value or with nothing."""

    path: tuple[str, ...]
    kind: t.DataType
    operator: str
    value: Any = None

    def condition(self) -> Column:
        column = fn.col(".".join("`" + name.replace("`", "``") + "`" for name in self.path))
        if self.operator == "null":
            return column.isNull()
        if self.operator == "not null":
            return column.isNotNull()
        return COMPARE[self.operator](column, literal(self.value, self.kind))

    def matches(self, value: Any) -> bool:
        """Tell what Spark's semantics say: NaN is above all, and zeros are equal."""
        if self.operator == "null":
            return value is None
        if value is None or self.operator == "not null":
            return value is not None
        return bool(COMPARE[self.operator](order(value), order(self.value)))

    @property
    def has_nan(self) -> bool:
        """Tell whether NaN matters: in a comparison of floats."""
        is_float = isinstance(self.kind, (t.FloatType, t.DoubleType))
        return is_float and self.operator not in ("null", "not null")


class Drawn(NamedTuple):
    """A filter, how many rows match it as Spark compares, and what readers disagree about."""

    filter: Filter
    count: int
    nans: int  # rows of the column that are NaN, if that matters
    zeros: int  # matching rows that equal the value, if that is a zero

    @classmethod
    def of(cls, f: Filter, values: list[Any]) -> Drawn:
        nans = sum(v is not None and math.isnan(v) for v in values) if f.has_nan else 0
        is_zero = f.has_nan and f.value == 0
        found = [v for v in values if f.matches(v)]
        return cls(f, len(found), nans, sum(v == 0 for v in found) if is_zero else 0)

    def truths(self) -> tuple[int, int]:
        """Give the counts with NaN above nothing, as for pyarrow, and above all, as for Spark."""
        if not self.filter.has_nan:
            return self.count, self.count
        if math.isnan(self.filter.value):
            return 0, self.count
        return self.count - (self.nans if self.filter.matches(math.nan) else 0), self.count


def literal(value: Any, kind: t.DataType) -> Column:
    if isinstance(kind, t.TimestampType):
        return fn.timestamp_micros(fn.lit(value))
    if isinstance(kind, t.TimestampNTZType):
        text = (EPOCH + timedelta(microseconds=value)).isoformat()
        return fn.lit(text).cast(kind)
    if isinstance(kind, t.DateType):
        return fn.date_from_unix_date(fn.lit(value))
    if isinstance(kind, t.StringType) and is_raw(value):
        return fn.lit(bytearray(utf8(value))).cast(kind)
    return fn.lit(value).cast(kind)


def draw_filters(
    schema: t.StructType, columns: list[list[Any]], rng: random.Random, most: int
) -> list[Drawn]:
    """Draw filters, each with the number of rows that match it."""
    lists = (t.ArrayType, t.MapType)
    leaves = [leaf for leaf in leaves_of(schema, columns) if not isinstance(leaf[1], lists)]
    drawn: list[Drawn] = []
    for path, kind, values in rng.sample(leaves, len(leaves)):
        for f in _of_leaf(path, kind, values, rng):
            drawn.append(Drawn.of(f, values))
    return drawn if len(drawn) <= most else rng.sample(drawn, most)


def _of_leaf(
    path: tuple[str, ...], kind: t.DataType, values: list[Any], rng: random.Random
) -> Iterator[Filter]:
    found = [v for v in values if v is not None]
    wanted = [draw_leaf(kind, rng, Style("many", 0.0, False, 0.0))]
    if found:
        low, high = min(found, key=order), max(found, key=order)
        wanted += [low, high, rng.choice(found), *_neighbours(high, kind, 1)]
        wanted += _neighbours(low, kind, -1)
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        finite = [v for v in found if math.isfinite(v)]
        wanted += [math.nan, math.inf, -0.0, max(finite, default=0.0)]
        if finite:  # NaN is above them, and bounds that leave it out are not
            yield Filter(path, kind, ">", max(finite))
            yield Filter(path, kind, ">", rng.choice(finite))
    yield Filter(path, kind, rng.choice(["null", "not null"]))
    if isinstance(kind, t.TimestampNTZType):  # of which a literal is a text
        wanted = [value for value in wanted if has_calendar_date(value, kind)]
    for value in rng.sample(wanted, min(4, len(wanted))):
        if not isinstance(value, (str, bytes)) or len(value) < 1000:
            yield Filter(path, kind, rng.choice(list(COMPARE)), value)


def _neighbours(value: Any, kind: t.DataType, step: int) -> list[Any]:
    if isinstance(kind, (t.ByteType, t.ShortType, t.IntegerType, t.LongType)):
        bits = {t.ByteType: 7, t.ShortType: 15, t.IntegerType: 31, t.LongType: 63}[type(kind)]
        return [value + step] if -(2**bits) <= value + step < 2**bits else []
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        return [as_float(value * 1.5 + step, kind)] if math.isfinite(value) else []
    if isinstance(kind, t.DecimalType):
        moved = value + Decimal(step).scaleb(-kind.scale, WIDE)
        return [moved] if len(moved.as_tuple().digits) <= kind.precision else []
    if isinstance(kind, t.StringType):
        return [value + "x" if step > 0 else value[:-1]]
    if isinstance(kind, t.BinaryType):
        return [value + b"\x00" if step > 0 else value[:-1]]
    return []


def counts(frame: DataFrame, wanted: Sequence[Filter]) -> list[int]:
    """Count the rows of every filter in one job, each by a scan of its own."""
    if not wanted:
        return []
    parts = [
        frame.where(f.condition()).select(fn.lit(number).alias("f"))
        for number, f in enumerate(wanted)
    ]
    together = reduce(DataFrame.unionAll, parts).groupBy("f").count().collect()
    found = {row["f"]: row["count"] for row in together}
    return [found.get(number, 0) for number in range(len(wanted))]

"""Result rows of a classic session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import DataFrame, SparkSession

from delta_upkeep.results import ResultRows

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

try:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
except ModuleNotFoundError:
    # Before PySpark 4 there is only one class.
    from pyspark.sql import DataFrame as ClassicDataFrame  # type: ignore[assignment]

R = TypeVar("R")


class ClassicRows(ResultRows[R], ClassicDataFrame):
    """`ResultRows` of a classic session."""

    def __init__(
        self, rows: JavaObject, spark: SparkSession, read: Callable[[DataFrame], R]
    ) -> None:
        ClassicDataFrame.__init__(self, rows, spark)
        self._read = read

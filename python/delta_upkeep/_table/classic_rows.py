"""Result rows of a classic session."""

from __future__ import annotations

from typing import TypeVar

from delta_upkeep.results import ResultRows

try:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
except ModuleNotFoundError:
    # Before PySpark 4 there is only one class.
    from pyspark.sql import DataFrame as ClassicDataFrame  # type: ignore[assignment]

R = TypeVar("R")


class ClassicRows(ResultRows[R], ClassicDataFrame):
    """`ResultRows` of a classic session."""

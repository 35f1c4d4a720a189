"""Rows of a statement that can also be read as a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar

from pyspark.sql import DataFrame

R = TypeVar("R")
Values = Mapping[str, Any]


class ResultRows(DataFrame, Generic[R]):
    """The rows of a statement: a ``DataFrame``, classic or Spark Connect, with ``toResult()``.

    The statement has run when the method returns. What is done with the rows does not run it again.
    """

    # Not an argument of the constructor: PySpark before 4.2 calls that with two.
    _read: Callable[[DataFrame], R]

    def _read_by(self, read: Callable[[DataFrame], R]) -> ResultRows[R]:
        self._read = read
        return self

    def toResult(self) -> R:
        """Read the rows as a frozen dataclass of :mod:`delta_upkeep.results`.

        Returns:
            The result of the statement.
        """
        return self._read(self)


def values_of(rows: DataFrame) -> list[dict[str, Any]]:
    """Collect rows, with structs as dictionaries."""
    return [row.asDict(recursive=True) for row in rows.collect()]


def known(made: Any, values: Values, **nested: Any) -> dict[str, Any]:
    """Choose the values for the fields of a dataclass.

    Args:
        made: The dataclass. A newer Delta may have more columns.
        values: The values of a row or of a struct.
        nested: Fields that are dataclasses themselves, in place of their values.
    """
    names = [field.name for field in fields(made)]
    return {name: values[name] for name in names if name in values} | nested

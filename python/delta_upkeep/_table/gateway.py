"""How a table's methods run its statements: in this process, or on a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pyspark.sql import DataFrame

from delta_upkeep._table.statements import Statement
from delta_upkeep.results import ResultRows

R = TypeVar("R")


class Gateway(Protocol):
    """A table on which statements run."""

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""

    def result(self, statement: Statement, read: Callable[[DataFrame], R]) -> ResultRows[R]:
        """Run a statement at once, and return its rows, whose ``toResult`` reads them."""

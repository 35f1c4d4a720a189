"""How a table's methods run its statements: in this process, or on a server."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame

from delta_upkeep._table.statements import Statement


class Gateway(Protocol):
    """A table on which statements run."""

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""

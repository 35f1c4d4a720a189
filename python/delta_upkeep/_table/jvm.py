"""Tables of a classic session: the statements run in its JVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import DataFrame, SparkSession

from delta_upkeep import errors
from delta_upkeep._table import progress
from delta_upkeep._table.classic_rows import ClassicRows
from delta_upkeep._table.java import JavaTable, api_of
from delta_upkeep._table.statements import Statement
from delta_upkeep.results import ResultRows

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

R = TypeVar("R")


class JvmTable:
    """A `Gateway` to a table of the JVM's API; a terminal or a notebook shows the progress."""

    def __init__(self, spark: SparkSession, table: JavaTable) -> None:
        self._spark = spark
        self._table = table

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> JvmTable:
        """Open a table by its name."""
        with errors.by_family():
            return cls(spark, api_of(spark).forName(spark._jsparkSession, name))

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, file_system_options: Mapping[str, str]
    ) -> JvmTable:
        """Open a table by its path, with Hadoop settings for this table alone."""
        options = dict(file_system_options)
        with errors.by_family():
            return cls(spark, api_of(spark).forPath(spark._jsparkSession, path, options))

    @classmethod
    def of(cls, spark: SparkSession, delta_table: JavaObject) -> JvmTable:
        """Take a table that Delta has opened."""
        with errors.by_family():
            return cls(spark, api_of(spark).of(spark._jsparkSession, delta_table))

    def delta_table(self) -> JavaObject:
        """Open Delta's own table."""
        with errors.by_family():
            return self._table.deltaTable()

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""
        return DataFrame(self._run(statement), self._spark)

    def result(self, statement: Statement, read: Callable[[DataFrame], R]) -> ResultRows[R]:
        """Run a statement at once, and return its rows, whose ``toResult`` reads them."""
        rows: ClassicRows[R] = ClassicRows(self._run(statement), self._spark)
        return rows._read_by(read)

    def _run(self, statement: Statement) -> JavaObject:
        with errors.by_family(), progress.shown(self._spark):
            return self._table.run(
                statement.kind,
                statement.full,
                list(statement.where),
                list(statement.columns),
                list(statement.order_by),
                statement.retention_hours,
                statement.dry_run,
                dict(statement.options),
            )

"""Tables of a classic session: the statements run in its JVM."""

from __future__ import annotations

from collections.abc import Mapping

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep._table import progress
from delta_upkeep._table.java import JavaTable, api_of
from delta_upkeep._table.statements import Statement


class JvmTable:
    """A `Gateway` to a table of the JVM's API; a terminal or a notebook shows the progress."""

    def __init__(self, spark: SparkSession, table: JavaTable) -> None:
        self._spark = spark
        self._table = table

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> JvmTable:
        """Open a table by its name."""
        return cls(spark, api_of(spark).forName(spark._jsparkSession, name))

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, file_system_options: Mapping[str, str]
    ) -> JvmTable:
        """Open a table by its path, with Hadoop settings for this table alone."""
        options = dict(file_system_options)
        return cls(spark, api_of(spark).forPath(spark._jsparkSession, path, options))

    def delta_table(self) -> JavaObject:
        """Open Delta's own table."""
        return self._table.deltaTable()

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""
        with progress.shown(self._spark):
            rows = self._table.run(
                statement.kind,
                statement.full,
                list(statement.where),
                list(statement.z_order_by),
                statement.retention_hours,
                statement.dry_run,
                dict(statement.options),
            )
        return DataFrame(rows, self._spark)

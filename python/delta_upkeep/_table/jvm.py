"""Tables of a classic session: the statements run in its JVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep._table import progress
from delta_upkeep._table.java import JavaTable, api_of


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

    def optimize(
        self,
        where: Sequence[str],
        z_order_by: Sequence[str],
        full: bool,
        dry_run: bool,
        options: Mapping[str, str],
    ) -> DataFrame:
        """Run OPTIMIZE on the files that meet all the conditions."""
        clauses = list(where), list(z_order_by), full, dry_run, dict(options)
        return self._rows(lambda: self._table.optimize(*clauses))

    def checkpoint(self, dry_run: bool, options: Mapping[str, str]) -> DataFrame:
        """Run CHECKPOINT."""
        return self._rows(lambda: self._table.checkpoint(dry_run, dict(options)))

    def cleanup_log(
        self, retention_hours: float | None, dry_run: bool, options: Mapping[str, str]
    ) -> DataFrame:
        """Run CLEANUP LOG; None stands for the table's own retention."""
        clauses = retention_hours, dry_run, dict(options)
        return self._rows(lambda: self._table.cleanupLog(*clauses))

    def health(self) -> DataFrame:
        """Run DESCRIBE HEALTH."""
        return self._rows(self._table.health)

    def maintain(self, dry_run: bool, options: Mapping[str, str]) -> DataFrame:
        """Run MAINTAIN."""
        return self._rows(lambda: self._table.maintain(dry_run, dict(options)))

    def _rows(self, statement: Callable[[], JavaObject]) -> DataFrame:
        with progress.shown(self._spark):
            rows = statement()
        return DataFrame(rows, self._spark)

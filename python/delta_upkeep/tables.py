"""A `DeltaTable` with the statements of Delta Upkeep as methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from delta.tables import DeltaOptimizeBuilder, DeltaTable
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.jvm import JvmTable
from delta_upkeep._table.methods import OptimizeMethods, TableMethods

if TYPE_CHECKING:
    from typing import TypeGuard

    from pyspark.sql.connect.session import SparkSession as ConnectSession

    from delta_upkeep._table.connect import ConnectUpkeepTable


class UpkeepTable(TableMethods, DeltaTable):
    """A Delta table with the statements of Delta Upkeep as methods.

    It also has every method of :class:`delta.tables.DeltaTable`. The methods below run their
    statement at once and return its rows. Errors are PySpark exceptions whose ``getCondition()``
    (``getErrorClass()`` before PySpark 4) is ``DELTA_UPKEEP.<NAME>``.

    In a Spark Connect session, the table is a :class:`delta.connect.tables.DeltaTable` with the
    same methods. The server needs the extension, and the client needs Delta 4.0 or newer.

    Example:
        >>> table = UpkeepTable.forName(spark, "events")
        >>> table.optimize().where("day >= '2026-01-01'").executeCompaction().show()
        >>> table.checkpoint().show()
        >>> table.cleanupLog(dryRun=True).show()
    """

    def __init__(self, spark: SparkSession, jdt: JavaObject, gateway: Gateway) -> None:
        DeltaTable.__init__(self, spark, jdt)
        self._gateway = gateway

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> UpkeepTable:
        """Open a table by its name of one to three parts, or as ``delta.`/path```.

        Raises:
            AnalysisException: The table does not exist, it is not a Delta table, or its log is
                damaged (``LOG_DAMAGED``). With Spark Connect, the first statement raises it.
            RuntimeError: This version of Delta does not support Spark Connect.
        """
        if _is_connect(sparkSession):
            return cast(UpkeepTable, _connect_table().for_name(sparkSession, tableOrViewName))
        table = JvmTable.for_name(sparkSession, tableOrViewName)
        return cls(sparkSession, table.delta_table(), table)

    @classmethod
    def forPath(
        cls,
        sparkSession: SparkSession,
        path: str,
        hadoopConf: Mapping[str, str] | None = None,
    ) -> UpkeepTable:
        """Open a table by the path of its root directory.

        Args:
            sparkSession: The session.
            path: The directory that contains ``_delta_log``.
            hadoopConf: Hadoop settings for this table alone, such as the keys of an object store.
                Spark Connect does not support them.

        Raises:
            AnalysisException: There is no Delta table at the path, or its log is damaged
                (``LOG_DAMAGED``). With Spark Connect, the first statement raises it.
            RuntimeError: This version of Delta does not support Spark Connect.
        """
        settings = dict(hadoopConf or {})
        if _is_connect(sparkSession):
            return cast(UpkeepTable, _connect_table().for_path(sparkSession, path, settings))
        table = JvmTable.for_path(sparkSession, path, settings)
        return cls(sparkSession, table.delta_table(), table)

    def optimize(self) -> UpkeepOptimizeBuilder:
        """Start an OPTIMIZE: compaction, Z-order, or the table's own clustering."""
        return UpkeepOptimizeBuilder(self._spark, self._gateway)


class UpkeepOptimizeBuilder(OptimizeMethods, DeltaOptimizeBuilder):
    """Builds an OPTIMIZE: set conditions and options first, then call a method that runs it."""

    def __init__(self, spark: SparkSession, gateway: Gateway) -> None:
        # None of Delta's remaining methods uses its builder in the JVM.
        DeltaOptimizeBuilder.__init__(self, spark, None)
        OptimizeMethods.__init__(self, gateway)


def _connect_table() -> type[ConnectUpkeepTable]:
    try:
        from delta_upkeep._table.connect import ConnectUpkeepTable
    except ModuleNotFoundError as e:
        raise RuntimeError(
            "UpkeepTable cannot use this session of Spark Connect: this version of delta-spark has "
            "no client for it. Use delta-spark 4.0 or newer, or run the statement with spark.sql."
        ) from e
    return ConnectUpkeepTable


def _is_connect(spark: SparkSession) -> TypeGuard[ConnectSession]:
    # Importing the class needs packages that a classic session can do without.
    return type(spark).__module__.startswith("pyspark.sql.connect.")

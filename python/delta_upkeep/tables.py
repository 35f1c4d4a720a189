"""A `DeltaTable` with the statements of Delta Upkeep as methods."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from delta.tables import DeltaOptimizeBuilder, DeltaTable
from pyspark.sql import SparkSession

from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.methods import OptimizeMethods, TableMethods

if TYPE_CHECKING:
    from typing import TypeGuard

    from delta.connect.tables import DeltaTable as ConnectTable
    from py4j.java_gateway import JavaObject
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    from delta_upkeep._table.connect import ConnectUpkeepTable


class UpkeepTable(TableMethods, DeltaTable, metaclass=ABCMeta):
    """A Delta table with the statements of Delta Upkeep as methods.

    It also has every method of :class:`delta.tables.DeltaTable`. The methods below run their
    statement at once and return its rows; ``toResult()`` of the rows returns a frozen dataclass.
    Errors are classes of :mod:`delta_upkeep.errors` and also exceptions of PySpark. Their
    ``condition`` is ``DELTA_UPKEEP.<NAME>``.

    In a Spark Connect session, the table is a :class:`delta.connect.tables.DeltaTable` with the
    same methods, and an instance of this class too. The server needs the extension, and the client
    needs Delta 4.0 or newer. Py4J and Spark's jars are not needed.

    Example:
        >>> table = UpkeepTable.forName(spark, "events")
        >>> table.optimize().where("day >= '2026-01-01'").executeCompaction().show()
        >>> table.checkpoint().toResult().status
        >>> table.cleanupLog(dryRun=True).show()
    """

    def __init__(self, spark: SparkSession, jdt: JavaObject, gateway: Gateway) -> None:
        DeltaTable.__init__(self, spark, jdt)
        self._gateway = gateway

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> UpkeepTable:
        """Open a table by its name.

        Args:
            sparkSession: The session.
            tableOrViewName: One to three parts, or ``delta.`/path```. A view is refused.

        Returns:
            The table.

        Raises:
            AnalysisException: The table does not exist, or it is not a Delta table. With Spark
                Connect, the first statement raises it.
            DamagedError: The log is damaged. With Spark Connect, the first statement raises it.
            RuntimeError: Delta Upkeep is not on the class path, or this version of Delta does not
                support Spark Connect.
            ValueError: With Spark Connect, the text is not a name.
        """
        if _is_connect(sparkSession):
            return cast(UpkeepTable, _connect_table().for_name(sparkSession, tableOrViewName))
        from delta_upkeep._table.jvm import JvmTable

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

        Returns:
            The table.

        Raises:
            AnalysisException: There is no Delta table at the path. With Spark Connect, the first
                statement raises it.
            DamagedError: The log is damaged. With Spark Connect, the first statement raises it.
            RuntimeError: Delta Upkeep is not on the class path, or this version of Delta does not
                support Spark Connect.
            ValueError: ``hadoopConf`` was given with Spark Connect.
        """
        settings = dict(hadoopConf or {})
        if _is_connect(sparkSession):
            return cast(UpkeepTable, _connect_table().for_path(sparkSession, path, settings))
        from delta_upkeep._table.jvm import JvmTable

        table = JvmTable.for_path(sparkSession, path, settings)
        return cls(sparkSession, table.delta_table(), table)

    @classmethod
    def of(cls, deltaTable: DeltaTable | ConnectTable) -> UpkeepTable:
        """Add the methods to a table that Delta has opened.

        Args:
            deltaTable: A ``DeltaTable`` of Delta, classic or Spark Connect. It keeps its alias and
                its Hadoop settings.

        Returns:
            A new object for the same table; the same object if it already is an ``UpkeepTable``.

        Raises:
            TypeError: It is not a ``DeltaTable``.
            RuntimeError: Delta Upkeep is not on the class path.
            ValueError: It has Hadoop settings with Spark Connect.
        """
        if isinstance(deltaTable, UpkeepTable):
            return deltaTable
        if isinstance(deltaTable, DeltaTable):
            from delta_upkeep._table.jvm import JvmTable

            table = JvmTable.of(deltaTable._spark, deltaTable._jdt)
            return cls(deltaTable._spark, table.delta_table(), table)
        if type(deltaTable).__module__.startswith("delta.connect."):
            return cast(UpkeepTable, _connect_table().of(deltaTable))
        raise TypeError(
            f"UpkeepTable.of needs a DeltaTable but got a {type(deltaTable).__name__}. "
            "Use UpkeepTable.forName or forPath for a name or a path."
        )

    def optimize(self) -> UpkeepOptimizeBuilder:
        """Start an OPTIMIZE: compaction, Z-order, sorting, or the table's own clustering.

        Returns:
            A builder. Nothing runs before one of its methods ``executeCompaction``,
            ``executeZOrderBy``, ``executeOrderBy`` and ``dryRun`` is called.
        """
        return UpkeepOptimizeBuilder(self._spark, self._gateway)


class UpkeepOptimizeBuilder(OptimizeMethods, DeltaOptimizeBuilder, metaclass=ABCMeta):
    """Builds an OPTIMIZE: set conditions and options first, then call a method that runs it.

    The builder of a Spark Connect session is an instance of this class too.
    """

    def __init__(self, spark: SparkSession, gateway: Gateway) -> None:
        # None of Delta's remaining methods uses its builder in the JVM.
        DeltaOptimizeBuilder.__init__(self, spark, None)
        OptimizeMethods.__init__(self, gateway)


def _connect_table() -> type[ConnectUpkeepTable]:
    try:
        from delta_upkeep._table.connect import ConnectOptimizeBuilder, ConnectUpkeepTable
    except ModuleNotFoundError as e:
        raise RuntimeError(
            "UpkeepTable cannot use this session of Spark Connect: this version of delta-spark has "
            "no client for it. Use delta-spark 4.0 or newer, or run the statement with spark.sql."
        ) from e
    # Delta's client has its own DeltaTable, which does not extend the classic one.
    UpkeepTable.register(ConnectUpkeepTable)
    UpkeepOptimizeBuilder.register(ConnectOptimizeBuilder)
    return ConnectUpkeepTable


def _is_connect(spark: SparkSession) -> TypeGuard[ConnectSession]:
    # Importing the class needs packages that a classic session can do without.
    return type(spark).__module__.startswith("pyspark.sql.connect.")

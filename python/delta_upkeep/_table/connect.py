"""Tables of a Spark Connect client: the statements go to the server as SQL."""

from __future__ import annotations

from collections.abc import Mapping

from delta.connect.tables import DeltaOptimizeBuilder, DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql.connect.session import SparkSession

from delta_upkeep._table import statements
from delta_upkeep._table.methods import OptimizeMethods, TableMethods
from delta_upkeep._table.statements import Statement


class SqlTable:
    """A `Gateway` to a table that the server opens by the name or the path in the statement."""

    def __init__(self, spark: SparkSession, target: str) -> None:
        self._spark = spark
        self._target = target

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""
        return self._spark.sql(statement.sql(self._target))


class ConnectUpkeepTable(TableMethods, DeltaTable):
    """`UpkeepTable` for Spark Connect."""

    def __init__(
        self,
        spark: SparkSession,
        gateway: SqlTable,
        *,
        name: str | None = None,
        path: str | None = None,
    ) -> None:
        DeltaTable.__init__(self, spark, path=path, tableOrViewName=name)
        self._gateway = gateway

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> ConnectUpkeepTable:
        """Open a table by its name."""
        return cls(spark, SqlTable(spark, statements.name(name)), name=name)

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, hadoop_conf: Mapping[str, str]
    ) -> ConnectUpkeepTable:
        """Open a table by its path.

        Raises:
            ValueError: Hadoop settings were given, but a statement cannot carry them.
        """
        if hadoop_conf:
            raise ValueError(
                "hadoopConf does not reach a Spark Connect server. Set the keys "
                f"{sorted(hadoop_conf)} on the server, as spark.hadoop.<key>."
            )
        return cls(spark, SqlTable(spark, statements.string(path)), path=path)

    def optimize(self) -> ConnectUpkeepOptimizeBuilder:
        """Start an OPTIMIZE: compaction, Z-order, or the table's own clustering."""
        return ConnectUpkeepOptimizeBuilder(self)


class ConnectUpkeepOptimizeBuilder(OptimizeMethods, DeltaOptimizeBuilder):  # type: ignore[misc]
    """`UpkeepOptimizeBuilder` for Spark Connect."""

    def __init__(self, table: ConnectUpkeepTable) -> None:
        DeltaOptimizeBuilder.__init__(self, table._spark, table)
        OptimizeMethods.__init__(self, table._gateway)

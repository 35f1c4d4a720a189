"""Tables of a Spark Connect client: the statements go to the server as SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from delta.connect.tables import DeltaOptimizeBuilder, DeltaTable
from pyspark.sql import DataFrame

from delta_upkeep._table import statements
from delta_upkeep._table.methods import OptimizeMethods, TableMethods

_STATEMENTS: dict[str, Callable[..., str]] = {
    "optimize": statements.optimize,
    "checkpoint": statements.checkpoint,
    "cleanupLog": statements.cleanup_log,
    "health": statements.health,
    "maintain": statements.maintain,
}


class SqlTable:
    """A table as SQL names it, and the session that sends it there."""

    def __init__(self, spark: Any, target: str) -> None:
        self._spark = spark
        self._target = target

    def call(self, method: str, *arguments: Any) -> DataFrame:
        """Run a statement on the server."""
        text = _STATEMENTS[method](self._target, *arguments)
        rows: DataFrame = self._spark.sql(text)
        return rows


class ConnectUpkeepTable(TableMethods, DeltaTable):
    """`UpkeepTable` for Spark Connect."""

    def __init__(self, spark: Any, gateway: SqlTable, **place: Any) -> None:
        DeltaTable.__init__(self, spark, **place)
        self._gateway = gateway

    @classmethod
    def for_name(cls, spark: Any, name: str) -> ConnectUpkeepTable:
        """Open a table by its name."""
        return cls(spark, SqlTable(spark, statements.name(name)), tableOrViewName=name)

    @classmethod
    def for_path(cls, spark: Any, path: str, hadoop_conf: Mapping[str, str]) -> ConnectUpkeepTable:
        """Open a table by its path.

        Raises:
            ValueError: There are Hadoop settings, which a statement cannot carry.
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

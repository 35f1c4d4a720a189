"""Tables of a Spark Connect client: the statements go to the server as SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from delta.connect.tables import DeltaOptimizeBuilder, DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.session import SparkSession

from delta_upkeep import errors
from delta_upkeep._table import statements
from delta_upkeep._table.methods import OptimizeMethods, TableMethods
from delta_upkeep._table.statements import Statement
from delta_upkeep.results import ResultRows

R = TypeVar("R")


class ConnectRows(ResultRows[R], ConnectDataFrame):
    """`ResultRows` of Spark Connect."""


class SqlTable:
    """A `Gateway` to a table that the server opens by the name or the path in the statement."""

    def __init__(self, spark: SparkSession, target: str) -> None:
        self._spark = spark
        self._target = target

    def run(self, statement: Statement) -> DataFrame:
        """Run a statement at once, and return its rows."""
        with errors.by_family():
            return self._spark.sql(statement.sql(self._target))

    def result(self, statement: Statement, read: Callable[[DataFrame], R]) -> ResultRows[R]:
        """Run a statement at once, and return its rows, whose ``toResult`` reads them."""
        plan = cast(ConnectDataFrame, self.run(statement))._plan
        rows: ConnectRows[R] = ConnectRows(plan, self._spark)
        return rows._read_by(read)


class ConnectUpkeepTable(TableMethods, DeltaTable):  # type: ignore[misc]
    """`UpkeepTable` for Spark Connect."""

    def __init__(
        self,
        spark: SparkSession,
        gateway: SqlTable,
        *,
        name: str | None = None,
        path: str | None = None,
        plan: LogicalPlan | None = None,
    ) -> None:
        DeltaTable.__init__(self, spark, path=path, tableOrViewName=name, plan=plan)
        self._gateway = gateway

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> ConnectUpkeepTable:
        """Open a table by its name."""
        return cls(spark, SqlTable(spark, statements.name(name)), name=name)

    @classmethod
    def of(cls, table: DeltaTable) -> ConnectUpkeepTable:
        """Take a table that Delta has opened.

        Raises:
            ValueError: It has Hadoop settings, but a statement cannot carry them.
        """
        name, path, spark = table._tableOrViewName, table._path, table._spark
        if table._hadoopConf:
            raise _unreachable(table._hadoopConf)
        target = statements.name(name or "") if path is None else statements.string(path)
        return cls(spark, SqlTable(spark, target), name=name, path=path, plan=table._plan)

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, hadoop_conf: Mapping[str, str]
    ) -> ConnectUpkeepTable:
        """Open a table by its path.

        Raises:
            ValueError: Hadoop settings were given, but a statement cannot carry them.
        """
        if hadoop_conf:
            raise _unreachable(hadoop_conf)
        return cls(spark, SqlTable(spark, statements.string(path)), path=path)

    def optimize(self) -> ConnectOptimizeBuilder:
        """Start an OPTIMIZE: compaction, Z-order, or the table's own clustering."""
        return ConnectOptimizeBuilder(self)


class ConnectOptimizeBuilder(OptimizeMethods, DeltaOptimizeBuilder):  # type: ignore[misc]
    """`UpkeepOptimizeBuilder` for Spark Connect."""

    def __init__(self, table: ConnectUpkeepTable) -> None:
        DeltaOptimizeBuilder.__init__(self, table._spark, table)
        OptimizeMethods.__init__(self, table._gateway)


def _unreachable(hadoop_conf: Mapping[str, str]) -> ValueError:
    return ValueError(
        "hadoopConf does not reach a Spark Connect server. Set the keys "
        f"{sorted(hadoop_conf)} on the server, as spark.hadoop.<key>."
    )

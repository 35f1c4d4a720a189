"""The way to the JVM: `io.deltaupkeep.api.UpkeepTable` through Py4J."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep._table import progress


class JvmTable:
    """A table of the JVM's API, and the session that its data frames belong to."""

    def __init__(self, spark: SparkSession, table: Any) -> None:
        self._spark = spark
        self._table = table

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> JvmTable:
        """Open a table by its name."""
        return cls(spark, _api(spark).forName(spark._jsparkSession, name))

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, file_system_options: Mapping[str, str]
    ) -> JvmTable:
        """Open a table by its path, with Hadoop settings for it alone."""
        return cls(
            spark, _api(spark).forPath(spark._jsparkSession, path, dict(file_system_options))
        )

    def call(self, method: str, *arguments: Any) -> DataFrame:
        """Call a method that returns a data frame."""
        with progress.shown(self._spark):
            rows = getattr(self._table, method)(*arguments)
        return DataFrame(rows, self._spark)


def _api(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    api = jvm.io.deltaupkeep.api.UpkeepTable
    # Py4J takes a class that it cannot find for a package.
    if not isinstance(api, JavaClass):
        raise RuntimeError(
            "This Spark session has no Delta Upkeep: its jar is not on the class path. Build the "
            "session with configure_spark_with_delta_upkeep(builder), or pass "
            "--packages io.deltaupkeep:delta-upkeep_2.13 to spark-submit."
        )
    return api

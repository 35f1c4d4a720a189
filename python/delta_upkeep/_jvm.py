"""The one door to the JVM: `io.deltaupkeep.api.UpkeepTable` through Py4J."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import DataFrame, SparkSession

OptionValue = str | int | float | bool


class JvmTable:
    """A table of the JVM's API, and the session that its data frames belong to."""

    def __init__(self, spark: SparkSession, table: Any) -> None:
        self._spark = spark
        self._table = table

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> JvmTable:
        """Open a table by its name."""
        return cls(spark, _api(spark).forName(_classic(spark), name))

    @classmethod
    def for_path(
        cls, spark: SparkSession, path: str, file_system_options: Mapping[str, str]
    ) -> JvmTable:
        """Open a table by its path, with Hadoop settings for it alone."""
        return cls(spark, _api(spark).forPath(_classic(spark), path, dict(file_system_options)))

    def call(self, method: str, *arguments: Any) -> DataFrame:
        """Call a method that returns a data frame."""
        return DataFrame(getattr(self._table, method)(*arguments), self._spark)


def option_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Write options as SQL would."""
    return {key: _text(key, value) for key, value in options.items()}


def _text(key: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(
        f"The option '{key}' cannot be a {type(value).__name__}. Give a str, int, float or bool."
    )


def _classic(spark: SparkSession) -> Any:
    session = getattr(spark, "_jsparkSession", None)
    if session is None:
        raise TypeError(
            "UpkeepTable needs a classic Spark session, and this one is a Spark Connect client. "
            "Use the SQL statements, such as spark.sql('OPTIMIZE t'), on a server that has the "
            "Delta Upkeep extension."
        )
    return session


def _api(spark: SparkSession) -> Any:
    _classic(spark)
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

"""Sets a Spark session up for Delta Lake and Delta Upkeep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from delta_upkeep.version import __version__

_DELTA_PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
_EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension",
)
_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_JAR = Path(__file__).parent / "jars" / f"delta-upkeep_2.13-{__version__}.jar"


def configure_spark_with_delta_upkeep(
    spark_session_builder: SparkSession.Builder,
    extra_packages: Sequence[str] | None = None,
) -> SparkSession.Builder:
    """Add Delta Lake and Delta Upkeep to the session of this builder.

    It sets the Delta catalog, and adds both SQL extensions, Delta's package and the jar of this
    package. Extensions, packages and jars that the builder already has are kept.

    Args:
        spark_session_builder: The builder, before ``getOrCreate()``.
        extra_packages: Maven coordinates of further packages, as for ``spark.jars.packages``.

    Returns:
        The same builder.

    Raises:
        TypeError: The first argument is not a ``SparkSession.Builder``, or ``extra_packages`` is
            one string.
        RuntimeError: PySpark is not of version 4.2, or this package has no jar.

    Example:
        >>> builder = SparkSession.builder.master("local[*]")
        >>> spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
    """
    if not isinstance(spark_session_builder, SparkSession.Builder):
        raise TypeError(
            "configure_spark_with_delta_upkeep needs a SparkSession.Builder but got "
            f"{type(spark_session_builder)}. Pass SparkSession.builder before getOrCreate()."
        )
    if isinstance(extra_packages, str):
        raise TypeError(
            f"extra_packages needs a list of coordinates but got the string '{extra_packages}'. "
            f"Pass ['{extra_packages}']."
        )
    if pyspark.__version__.split(".")[:2] != ["4", "2"]:
        raise RuntimeError(
            f"Delta Upkeep {__version__} needs PySpark 4.2, but PySpark {pyspark.__version__} is "
            "installed. Install pyspark 4.2."
        )
    if not _JAR.is_file():
        raise RuntimeError(
            f"The jar of Delta Upkeep is missing: {_JAR} does not exist. "
            "Install the wheel, or build one with `make wheel`."
        )
    set_before = _options_of(spark_session_builder)
    appended = {
        "spark.sql.extensions": _EXTENSIONS,
        "spark.jars.packages": (_DELTA_PACKAGE, *(extra_packages or ())),
        "spark.jars": (str(_JAR),),
    }
    for key, values in appended.items():
        spark_session_builder.config(key, _append(set_before.get(key, ""), values))
    return spark_session_builder.config("spark.sql.catalog.spark_catalog", _CATALOG)


def _append(present: str, values: Sequence[str]) -> str:
    """Add values to a comma-separated list, each once."""
    # Spark trims the entries, so an entry with spaces around it is the same entry.
    kept = (value.strip() for value in present.split(","))
    return ",".join(dict.fromkeys([*filter(None, kept), *values]))


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    # PySpark has no public way to read a builder's options back.
    options: dict[str, str] = builder._options
    return options

"""Sets a Spark session up for Delta Lake and Delta Upkeep."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyspark
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from delta_upkeep import _platform
from delta_upkeep.version import __version__

# The newest Delta for each line of Spark, for sessions without Delta's Python package.
_NEWEST_DELTA = {"3.5": "3.3.2", "4.0": "4.4.0", "4.1": "4.4.0", "4.2": "4.4.0"}
_EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension",
)
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_OURS = "io.deltaupkeep:delta-upkeep"
_JARS = Path(__file__).parent / "jars"


def configure_spark_with_delta_upkeep(
    spark_session_builder: SparkSession.Builder,
    extra_packages: Sequence[str] | None = None,
) -> SparkSession.Builder:
    """Add Delta Lake and Delta Upkeep to the session of this builder.

    It sets the Delta catalog, and adds both SQL extensions, Delta's package and this package's jar
    for the installed PySpark. Delta's package has the version of the installed ``delta-spark``. It
    is left out if Delta is already on the class path, as on managed platforms: if the builder,
    ``spark-defaults.conf`` or the environment names it, or if Spark's own jars include it.
    Extensions, packages and jars that the builder or ``spark-defaults.conf`` has are kept.

    Args:
        spark_session_builder: The builder, before ``getOrCreate()``.
        extra_packages: Maven coordinates of further packages, as for ``spark.jars.packages``.

    Returns:
        The same builder.

    Raises:
        TypeError: The first argument is not a ``SparkSession.Builder``, or ``extra_packages`` is
            one string.
        RuntimeError: This package has no jar for the installed PySpark, or PySpark is only a client
            of Spark Connect.

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
    if not _has_spark():
        raise RuntimeError(
            "This PySpark is only a client of Spark Connect, so it has no session to configure. "
            f"Add the extension {_EXTENSIONS[-1]} to the server, and connect to it with "
            "SparkSession.builder.remote(url)."
        )
    jar = _jar()
    home = _find_spark_home()
    set_before = {**_platform.settings(home), **_options_of(spark_session_builder)}
    delta = () if _platform.has_delta(set_before, home) else (_delta_package(),)
    appended = {
        "spark.sql.extensions": _EXTENSIONS,
        "spark.jars.packages": (*delta, *(extra_packages or ())),
        "spark.jars": (str(jar),),
    }
    for key, values in appended.items():
        before = set_before.get(key, "")
        after = _append(before, values)
        if after != before:
            spark_session_builder.config(key, after)
    return spark_session_builder.config("spark.sql.catalog.spark_catalog", DELTA_CATALOG)


def spark_line() -> str:
    """Name the line of the installed Spark: the first two numbers of its version."""
    return ".".join(pyspark.__version__.split(".")[:2])


def scala_version() -> str:
    """Name the Scala of the installed Spark: the first two numbers of its version."""
    for library in Path(_find_spark_home(), "jars").glob("scala-library-*.jar"):
        return ".".join(library.stem.split("-")[-1].split(".")[:2])
    return "2.12" if spark_line() == "3.5" else "2.13"


def _has_spark() -> bool:
    try:
        import py4j  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _jar() -> Path:
    if spark_line() not in _NEWEST_DELTA:
        *others, last = _NEWEST_DELTA
        raise RuntimeError(
            f"Delta Upkeep {__version__} has no jar for PySpark {pyspark.__version__}. "
            f"Install PySpark {', '.join(others)} or {last}."
        )
    jar = _JARS / f"delta-upkeep_{spark_line()}_{scala_version()}-{__version__}.jar"
    if not jar.is_file():
        raise RuntimeError(
            f"The jar of Delta Upkeep is missing: {jar} does not exist. "
            "Install the wheel, or build one with `make wheel`."
        )
    return jar


def _delta_package() -> str:
    try:
        delta = version("delta-spark")
    except PackageNotFoundError:
        delta = _NEWEST_DELTA[spark_line()]
    # Since 4.1 Delta has an artifact for each line of Spark.
    line = "" if delta.startswith(("3.", "4.0.")) else f"_{spark_line()}"
    return f"io.delta:delta-spark{line}_{scala_version()}:{delta}"


def _append(present: str, values: Sequence[str]) -> str:
    """Add values to a comma-separated list, each once."""
    # Spark trims the entries, so an entry with spaces around it is the same entry.
    kept = [value.strip() for value in present.split(",")]
    # The wheel's jar takes the place of one that would be fetched.
    others = [value for value in kept if value and not value.startswith(_OURS)]
    return ",".join(dict.fromkeys([*others, *values]))


def _options_of(builder: SparkSession.Builder) -> dict[str, str]:
    # PySpark has no public way to read a builder's options back.
    options: dict[str, str] = builder._options
    return options

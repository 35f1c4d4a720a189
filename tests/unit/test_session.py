"""How a builder is set up, without starting a session."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep

OURS = "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension"
DELTAS = "io.delta.sql.DeltaSparkSessionExtension"


def options_of(builder: SparkSession.Builder) -> dict[str, str]:
    return configure_spark_with_delta_upkeep(builder)._options


def test_sets_extensions_catalog_package_and_jar():
    options = options_of(SparkSession.Builder())
    assert options["spark.sql.extensions"] == f"{DELTAS},{OURS}"
    assert options["spark.sql.catalog.spark_catalog"].endswith("DeltaCatalog")
    assert options["spark.jars.packages"] == "io.delta:delta-spark_4.2_2.13:4.4.0"
    assert options["spark.jars"].endswith(".jar")


def test_keeps_what_is_there_and_adds_nothing_twice():
    builder = SparkSession.Builder()
    builder.config("spark.sql.extensions", f"my.Extension,{OURS}")
    builder.config("spark.jars.packages", "my:package:1")
    configure_spark_with_delta_upkeep(builder, extra_packages=["your:package:2"])
    options = options_of(builder)
    assert options["spark.sql.extensions"] == f"my.Extension,{OURS},{DELTAS}"
    assert options["spark.jars.packages"].split(",") == [
        "my:package:1",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        "your:package:2",
    ]


def test_knows_an_entry_after_a_space():
    builder = SparkSession.Builder().config("spark.sql.extensions", f"{DELTAS}, {OURS}")
    assert options_of(builder)["spark.sql.extensions"] == f"{DELTAS},{OURS}"


def test_refuses_packages_in_one_string():
    with pytest.raises(TypeError, match=r"Pass \['my:package:1'\]"):
        configure_spark_with_delta_upkeep(SparkSession.Builder(), "my:package:1")


def test_names_the_jar_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("delta_upkeep.session._JAR", tmp_path / "none.jar")
    with pytest.raises(RuntimeError, match=r"none\.jar.*Install the wheel"):
        configure_spark_with_delta_upkeep(SparkSession.Builder())


def test_refuses_what_is_no_builder():
    with pytest.raises(TypeError, match=r"Pass SparkSession\.builder"):
        configure_spark_with_delta_upkeep("local")  # type: ignore[arg-type]


def test_refuses_another_pyspark(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pyspark.__version__", "4.1.2")
    with pytest.raises(RuntimeError, match=r"Install pyspark 4\.2"):
        configure_spark_with_delta_upkeep(SparkSession.Builder())

"""How a builder is set up, without starting a session."""

import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep, session
from support.processes import ROOT

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
    monkeypatch.setattr("delta_upkeep.session._JARS", tmp_path)
    with pytest.raises(
        RuntimeError, match=r"delta-upkeep_.*\.jar does not exist.*Install the wheel"
    ):
        configure_spark_with_delta_upkeep(SparkSession.Builder())


def test_refuses_what_is_no_builder():
    with pytest.raises(TypeError, match=r"Pass SparkSession\.builder"):
        configure_spark_with_delta_upkeep("local")  # type: ignore[arg-type]


def test_refuses_another_pyspark(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pyspark.__version__", "3.4.1")
    with pytest.raises(
        RuntimeError, match=r"no jar for PySpark 3\.4\.1.*PySpark 3\.5, 4\.0, 4\.1 or 4\.2"
    ):
        configure_spark_with_delta_upkeep(SparkSession.Builder())


@pytest.mark.parametrize(
    ("spark", "scala", "delta", "jar", "package"),
    [
        ("3.5.2", None, "3.2.1", "delta-upkeep_3.5_2.12", "delta-spark_2.12:3.2.1"),
        ("3.5.6-amzn-1", "2.12.18", None, "delta-upkeep_3.5_2.12", "delta-spark_2.12:3.3.2"),
        ("3.5.6", "2.13.8", "3.3.2", "delta-upkeep_3.5_2.13", "delta-spark_2.13:3.3.2"),
        ("4.0.2", "2.13.16", "4.0.0", "delta-upkeep_4.0_2.13", "delta-spark_2.13:4.0.0"),
        ("4.0.1", None, "4.4.0", "delta-upkeep_4.0_2.13", "delta-spark_4.0_2.13:4.4.0"),
        ("4.1.1", None, "4.2.0", "delta-upkeep_4.1_2.13", "delta-spark_4.1_2.13:4.2.0"),
        ("4.1.2-amzn-0", None, None, "delta-upkeep_4.1_2.13", "delta-spark_4.1_2.13:4.4.0"),
        ("4.2.0", None, "4.4.0", "delta-upkeep_4.2_2.13", "delta-spark_4.2_2.13:4.4.0"),
    ],
)
def test_takes_the_jar_and_the_delta_of_the_platform(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    spark: str,
    scala: str | None,
    delta: str | None,
    jar: str,
    package: str,
):
    def version(name: str) -> str:
        if delta is None:
            raise PackageNotFoundError(name)
        return delta

    (tmp_path / "jars").mkdir()
    if scala:
        (tmp_path / f"jars/scala-library-{scala}.jar").touch()
    monkeypatch.setattr("pyspark.__version__", spark)
    monkeypatch.setattr("delta_upkeep.session.version", version)
    monkeypatch.setattr("delta_upkeep.session._find_spark_home", lambda: str(tmp_path))
    options = options_of(SparkSession.Builder())
    assert Path(options["spark.jars"]).name.startswith(f"{jar}-")
    assert options["spark.jars.packages"] == f"io.delta:{package}"


def test_leaves_out_a_delta_that_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    builder = SparkSession.Builder().config(
        "spark.jars", "/usr/share/aws/delta/lib/delta-spark.jar"
    )
    assert "spark.jars.packages" not in options_of(builder)
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars/delta-spark_2.13-4.0.0.jar").touch()
    monkeypatch.setattr("delta_upkeep.session._find_spark_home", lambda: str(tmp_path))
    assert "spark.jars.packages" not in options_of(SparkSession.Builder())


def defaults(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-defaults.conf").write_text(text)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


def test_appends_to_what_the_platform_has_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    text = "spark.sql.extensions their.Cache, their.Native\nspark.jars /opt/their.jar\n"
    defaults(tmp_path, text, monkeypatch)
    options = options_of(SparkSession.Builder())
    assert options["spark.sql.extensions"] == f"their.Cache,their.Native,{DELTAS},{OURS}"
    assert options["spark.jars"].startswith("/opt/their.jar,")
    # What a program sets replaces that of the platform, as everywhere in Spark.
    own = SparkSession.Builder().config("spark.sql.extensions", "my.Extension")
    assert options_of(own)["spark.sql.extensions"] == f"my.Extension,{DELTAS},{OURS}"


@pytest.mark.parametrize("place", ["file", "package", "files", "variable", "none"])
def test_finds_the_delta_of_the_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
):
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "delta-spark_2.12-3.3.2.jar").touch()
    # A directory alone has no jars for Java, and other names may begin like Delta's.
    class_path = f"/usr/lib/hadoop/*:/x/delta-spark-jobs/a.jar:{lib}"
    class_path += "/*" if place == "files" else ""
    named = {
        "file": "spark.jars /x/a.jar,/aws/delta-spark.jar",
        "package": "spark.jars.packages io.delta:delta-spark_2.12:3.3.2",
    }
    text = named.get(place, "")
    defaults(tmp_path, f"{text}\nspark.driver.extraClassPath {class_path}\n", monkeypatch)
    if place == "variable":
        monkeypatch.setenv("SPARK_DIST_CLASSPATH", f"/etc/hadoop:{lib}/*")
    assert ("spark.jars.packages" in options_of(SparkSession.Builder())) == (place == "none")


def test_does_not_fetch_its_own_jar_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    text = "spark.jars.packages my:package:1,io.deltaupkeep:delta-upkeep_4.2_2.13:0.1.0\n"
    defaults(tmp_path, text, monkeypatch)
    packages = options_of(SparkSession.Builder())["spark.jars.packages"]
    assert packages == "my:package:1,io.delta:delta-spark_4.2_2.13:4.4.0"


def test_knows_the_platforms_of_the_build():
    build = (ROOT / "project/Platform.scala").read_text()
    platforms = re.search(r"def lines: Seq\[String\] = Seq\(([\w, ]+)\)", build)
    assert platforms
    lines = [name.replace("Spark", "") for name in platforms[1].split(", ")]
    assert [".".join(line) for line in lines] == list(session._NEWEST_DELTA)
    newest = {
        version[:3]: version for version in re.findall(r'"(\d\.\d\.\d)",\s+Seq\("\d\.\d"', build)
    }
    for line, delta in session._NEWEST_DELTA.items():
        assert delta == newest["3.3" if line == "3.5" else max(newest)]


def test_make_tests_the_oldest_and_the_newest_delta_of_each_line():
    build = (ROOT / "project/Platform.scala").read_text()
    makefile = (ROOT / "Makefile").read_text()
    pairs = re.search(r"^PAIRS := (.*)$", makefile, re.MULTILINE)
    lines = re.search(r"^LINES := (.*)$", makefile, re.MULTILINE)
    assert pairs and lines
    tested: dict[str, list[str]] = {}
    for pair in pairs[1].split():
        spark, delta = pair.split("-")
        tested.setdefault(spark[:3], []).append(delta)
    # Make has Spark 4.2 in its own environment.
    tested["4.2"] = [session._NEWEST_DELTA["4.2"]]
    assert {line.split("_")[0] for line in lines[1].split()} == set(session._NEWEST_DELTA)
    assert {line: deltas[-1] for line, deltas in tested.items()} == session._NEWEST_DELTA
    compiled = set(re.findall(r'"(\d\.\d\.\d)",\s+Seq\("\d\.\d"', build))
    assert {delta for deltas in tested.values() for delta in deltas} == compiled

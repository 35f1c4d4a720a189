"""What a platform lacks, and a jar for another one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import delta
import py4j
import pyspark
import pytest
from py4j.java_gateway import JavaClass
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import delta_upkeep
from conftest import TableFactory
from delta_upkeep.session import _JARS, _delta_package
from support.processes import (
    ACTIVATED,
    BIN,
    CLEAN,
    COORDINATE,
    DELTA,
    FINDS_DROPPED_COLUMNS,
    LINE,
    ROOT,
    SCALA,
    run,
)

pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("spark")]

LACKS = re.findall(
    r"^  \| (.+) \| (Delta|Spark) before (\d)\.(\d) \| .+ \|$",
    (ROOT / "python/docs/limits.md").read_text(),
    re.MULTILINE,
)


def lacks_full(spark: SparkSession, table: TableFactory, path: Path) -> bool:
    spark.sql(f"CREATE TABLE delta.`{path}` (id INT) USING delta CLUSTER BY (id)")
    try:
        spark.sql(f"OPTIMIZE delta.`{path}` FULL DRY RUN")
    except AnalysisException as e:
        assert "[DELTA_UPKEEP.UNSUPPORTED_DELTA]" in str(e)
        return True
    return False


def lacks_dropped_columns(spark: SparkSession, table: TableFactory, path: Path) -> bool:
    t = table(1, 2, **{"columnMapping.mode": "name"})
    spark.sql(f"ALTER TABLE {t.sql_name} DROP COLUMN text")
    lacks = spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first().version is None
    assert lacks != FINDS_DROPPED_COLUMNS
    return lacks and DELTA < (3, 3)


def lacks_counts(spark: SparkSession, table: TableFactory, path: Path) -> bool:
    t = table(1, 2, 3, 4)
    row = spark.sql(f"CHECKPOINT {t.sql_name} OPTIONS (partSize = 2)").first()
    return row.parts > 2 and not list(t.log.glob("0*.crc"))


def lacks_connect(spark: SparkSession, table: TableFactory, path: Path) -> bool:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    if find_spec("delta.connect"):
        return False
    with pytest.raises(RuntimeError, match=r"Use delta-spark 4\.0 or newer"):
        delta_upkeep.UpkeepTable.forName(session, "t")
    return True


def lacks_class(name: str) -> Callable[[SparkSession, TableFactory, Path], bool]:
    def lacks(spark: SparkSession, table: TableFactory, path: Path) -> bool:
        return not isinstance(getattr(spark._jvm.org.apache.hadoop.fs, name), JavaClass)

    return lacks


CHECKS = {
    "`OPTIMIZE FULL`": lacks_full,
    "dropped columns in `REORG TABLE`": lacks_dropped_columns,
    "checksum files with the number of data files": lacks_counts,
    "`UpkeepTable` in a session of Spark Connect": lacks_connect,
    "deleting many files in one request": lacks_class("BulkDelete"),
    "telling an object store how each file is read": lacks_class("Options$OpenFileOptions"),
}


ARTIFACTS = re.findall(
    r"^\| [\d.]+ \| [^|]+ \| [\d.]+ \| (\d+) \| `io\.deltaupkeep:([\w.-]+):",
    (ROOT / "README.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize(("java", "artifact"), ARTIFACTS)
@pytest.mark.one_platform
def test_the_oldest_java_reads_all_classes(java: str, artifact: str):
    [jar] = _JARS.glob(f"{artifact}-*.jar")
    with ZipFile(jar) as archive:
        classes = [name for name in archive.namelist() if name.endswith(".class")]
        # Java class file format: the major version of Java 11 is 55.
        versions = {int.from_bytes(archive.read(name)[6:8], "big") for name in classes}
    assert len(classes) > 500
    assert max(versions) <= int(java) + 44


def test_every_row_is_checked():
    assert [missing for missing, *_ in LACKS] == list(CHECKS)


@pytest.mark.parametrize(("missing", "of", "major", "minor"), LACKS)
def test_what_the_guide_says_is_missing_is_missing_and_nothing_else(
    spark: SparkSession,
    table: TableFactory,
    tmp_path: Path,
    missing: str,
    of: str,
    major: str,
    minor: str,
):
    there = DELTA if of == "Delta" else tuple(int(part) for part in LINE.split("."))
    assert CHECKS[missing](spark, table, tmp_path / "t") == (there < (int(major), int(minor)))


def python39() -> str | None:
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.9.*"))
    return str(kept[-1] / "bin/python") if kept else shutil.which("python3.9")


@pytest.mark.skipif(LINE != "3.5", reason="later versions of PySpark need a later Python")
@pytest.mark.skipif(not python39(), reason="there is no Python 3.9")
def test_the_oldest_python_reads_all_modules(tmp_path: Path):
    for package in (pyspark, py4j, delta, delta_upkeep):
        place = Path(package.__file__ or "").parent
        (tmp_path / place.name).symlink_to(place)
    (tmp_path / "importlib_metadata.py").write_text("from importlib.metadata import *")
    (tmp_path / "tomli.py").touch()
    script = (
        "import importlib, pkgutil, delta_upkeep\n"
        "for module in pkgutil.walk_packages(delta_upkeep.__path__, 'delta_upkeep.'):\n"
        "    if module.name.split('.')[-1] not in ('__main__', 'connect', 'plot'):\n"
        "        importlib.import_module(module.name)\n"
        "        print(module.name)\n"
    )
    read = run([python39() or "", "-c", script], tmp_path, PYTHONPATH=str(tmp_path))
    assert "delta_upkeep.cli.commands" in read.splitlines()


def test_the_jar_of_another_spark_stands_aside(packages: list[str], tmp_path: Path):
    others = [
        jar
        for jar in sorted(_JARS.glob("*.jar"))
        if f"_{LINE}_" not in jar.name and f"_{SCALA}-" in jar.name
    ]
    if not others:
        pytest.skip(f"there is no other jar of Scala {SCALA}")
    other = others[0]
    options = [_delta_package() if option == COORDINATE else option for option in packages]
    script = (
        "CREATE TABLE t (id INT) USING delta; INSERT INTO t VALUES (41); OPTIMIZE t; "
        "SELECT id + 1 FROM t; CHECKPOINT t"
    )
    done = subprocess.run(
        [str(part) for part in (BIN / "spark-sql", *options, "--jars", other, "-e", script)],
        cwd=tmp_path,
        env={**CLEAN, **ACTIVATED},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "42" in done.stdout.splitlines(), done.stderr[-3000:]
    assert done.returncode != 0
    assert "DELTA_UPKEEP.UNSUPPORTED_SPARK" in done.stderr
    assert f"this session runs Spark {pyspark.__version__}" in done.stderr
    assert f"Use io.deltaupkeep:delta-upkeep_{LINE}_{SCALA}." in done.stderr

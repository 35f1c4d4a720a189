"""Real processes, as users start them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pyspark.sql import SparkSession

from delta_upkeep import __version__
from delta_upkeep.session import scala_version, spark_line

ROOT = Path(__file__).parents[2]
REPOSITORY = ROOT / "scala/target/repository"
LINE, SCALA = spark_line(), scala_version()
# First two numbers of Delta's version.
DELTA = tuple(int(part) for part in version("delta-spark").split(".")[:2])
# Delta 3.2 does not look for them, and Delta 4.0.0 was made for Spark 4.0.0.
FINDS_DROPPED_COLUMNS = DELTA >= (3, 3) and (
    version("delta-spark") != "4.0.0" or version("pyspark") == "4.0.0"
)
# The main project of the build is for Spark 4.2, and its tests have no line in their name.
_IS_PLAIN = LINE == "4.2"
_TARGET = ROOT / "scala/target" / ("" if _IS_PLAIN else f"{LINE}_{SCALA}") / f"scala-{SCALA}"
_MODULE = "delta-upkeep" if _IS_PLAIN else f"delta-upkeep_{LINE}"
TEST_CLASSES = _TARGET / "test-classes"
TEST_JAR = _TARGET / f"{_MODULE}_{SCALA}-{__version__}-tests.jar"
PARQUET_AVRO = f"org.apache.parquet:parquet-avro:{'1.13.1' if LINE == '3.5' else '1.17.0'}"
COORDINATE = f"io.deltaupkeep:delta-upkeep_{LINE}_{SCALA}:{__version__}"
BIN = Path(sys.executable).parent
# Spark's classes as a JVM has had them in memory: to start takes half the time. A JVM of another
# version, or with other jars, does without and says nothing.
ARCHIVE = BIN.parent / "spark.jsa"
ARCHIVED = f"-XX:SharedArchiveFile={ARCHIVE} -Xlog:disable -Xlog:all=error:stderr"
# Tests gain nothing from code that takes long to compile, nor from a collector with threads. The
# first compiler alone would keep 48 MiB of what it has compiled, and then compile it again. All
# memory is collected whenever more classes are loaded than the JVM expects.
SHORT_LIVED = (
    f"{ARCHIVED} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC "
    "-XX:MetaspaceSize=256m"
)
# For processes that use the tests' own modules.
WITH_TESTS = os.pathsep.join(filter(None, (str(ROOT / "tests"), os.environ.get("PYTHONPATH"))))
SMALL = ROOT / "tests/small"
# PySpark sets SPARK_HOME in this process when other tests start a session.
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")} | {
    "SPARK_SUBMIT_OPTS": SHORT_LIVED,
    "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
    "SPARK_CONF_DIR": str(SMALL),
}
ACTIVATED = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def small_session(memory: str) -> SparkSession.Builder:
    """Two threads and as many partitions: for tables of a few rows."""
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", memory)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        # Whatever a test makes OPTIMIZE write, Spark reads it as it reads the inputs.
        .config("spark.deltaUpkeep.optimize.verify", "true")
    )


def with_faults(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Let the session reach tables at `fault:/path`, where requests fail when they are told to."""
    return (
        builder.config("spark.jars", str(TEST_JAR))
        .config("spark.hadoop.fs.fault.impl", "io.deltaupkeep.store.FaultFileSystem")
        .config("spark.delta.logStore.fault.impl", "io.delta.storage.LocalLogStore")
    )


def start_no_processes(spark: SparkSession) -> None:
    """Keep Hadoop, which lacks its native code, from running chmod and readlink for each file."""
    jvm = spark._jvm
    assert jvm is not None
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("fs.file.impl", "io.deltaupkeep.store.ForklessFileSystem")
    hadoop.set("fs.AbstractFileSystem.file.impl", "io.deltaupkeep.store.ForklessFs")
    # The next one that asks for a file system gets a new one.
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def run(command: Sequence[str | Path], cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**CLEAN, **env},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout

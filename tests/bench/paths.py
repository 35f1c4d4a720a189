"""Where the benchmark keeps its files, and the rules of a run that all of its processes share."""

from __future__ import annotations

from pathlib import Path

from delta_upkeep.session import scala_version, spark_line

# The platform that is measured is the one that is installed; the main one is Spark 4.2.
_IS_MAIN = spark_line() == "4.2"
_NAME = f"{spark_line()}_{scala_version()}"
BUILD = Path("build/bench" if _IS_MAIN else f"build/bench-{_NAME}").resolve()
TABLES = BUILD / "tables"
WORK = BUILD / "work"
LOGS = BUILD / "logs"
TEST_CLASSES = Path(
    "scala/target", "" if _IS_MAIN else _NAME, f"scala-{scala_version()}/test-classes"
).resolve()
RESULTS = Path(__file__).parent / "results" / ("" if _IS_MAIN else spark_line())

CORES = 2
DRIVER_MEMORY = "4g"
EXECUTOR_MEMORY = "1g"
EXECUTORS = 4
# Delta's default, which is also ours; delta-rs has another.
TARGET_BYTES = 1 << 30

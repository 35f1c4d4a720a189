"""Where the benchmark keeps its files, and the rules of a run that all of its processes share."""

from __future__ import annotations

from pathlib import Path

BUILD = Path("build/bench").resolve()
TABLES = BUILD / "tables"
WORK = BUILD / "work"
LOGS = BUILD / "logs"
TEST_CLASSES = Path("scala/target/scala-2.13/test-classes").resolve()
RESULTS = Path(__file__).parent / "results"

CORES = 2
DRIVER_MEMORY = "4g"
# Delta's default, which is also ours; delta-rs has another.
TARGET_BYTES = 1 << 30

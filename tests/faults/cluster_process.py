"""Statements on two executors, where the first task fails while it writes; a process of its own.

Prints a line of JSON for each statement.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import SHORT_LIVED, TEST_CLASSES, small_session

PARTITIONS, FILES, ROWS = 4, 3, 240
SMALL = ["id", f"CAST(id % {PARTITIONS} AS INT) AS p"]
# 3 MB of texts that do not get much smaller: more than a task puts in order.
TEXT = "array_join(transform(sequence(1, 100), x -> sha2(concat(id, ' ', x), 512)), '')"
LARGE = ["id", "CAST(null AS INT) AS p", f"{TEXT} AS text"]
STATEMENTS = {
    "optimize": (SMALL, "OPTIMIZE {t} OPTIONS (maxBytesPerCommit = '7k')"),
    "order": (LARGE, "OPTIMIZE {t} ORDER BY (id DESC)"),
    "checkpoint": (SMALL, "CHECKPOINT {t} OPTIONS (mode = 'full', partSize = 10)"),
}


def session(master: str, jars: str) -> SparkSession:
    """Start executors that have `jars`."""
    settings = {
        "spark.executor.extraClassPath": f"{TEST_CLASSES}:{jars}",
        "spark.driver.extraClassPath": TEST_CLASSES,
        "spark.hadoop.fs.task.impl": "io.deltaupkeep.store.TaskFaultFileSystem",
        "spark.delta.logStore.task.impl": "io.delta.storage.LocalLogStore",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": SHORT_LIVED,
        "spark.driver.host": "127.0.0.1",
        "spark.task.maxFailures": 4,
        "spark.speculation": True,
        "spark.speculation.task.duration.threshold": "5s",
        "spark.deltaUpkeep.checkpoint.mode": "delta",
        "spark.deltaUpkeep.driverBytes": 0,
        "spark.deltaUpkeep.optimize.clusterBytes": "1m",
    }
    builder = small_session("1g").master(master)
    for key, value in settings.items():
        builder = builder.config(key, str(value))
    return configure_spark_with_delta_upkeep(builder).getOrCreate()


def main(master: str, directory: Path, jars: str, *faults: str) -> None:
    spark = session(master, jars)
    for name, (columns, _) in STATEMENTS.items():
        spark.range(0, ROWS, 1, FILES).selectExpr(*columns).write.format("delta").partitionBy(
            "p"
        ).save(f"task:{directory / 'templates' / name}")
    for fault in faults:
        for name, (_, statement) in STATEMENTS.items():
            table = directory / name / fault / "t"
            shutil.copytree(directory / "templates" / name, table)
            row = spark.sql(statement.format(t=f"delta.`task:{table}`")).first()
            print(json.dumps(row.asDict(recursive=True), default=str), flush=True)
    await_stalled(directory)
    spark.stop()


def await_stalled(directory: Path) -> None:
    """Let tasks that nobody waits for write their files."""
    until = time.monotonic() + 60
    for struck in directory.glob("*/stalled/struck"):
        while not struck.with_name("woken").exists() and time.monotonic() < until:
            time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])

"""Statements on two executors, where the first task fails while it writes; a process of its own.

Prints a line of JSON for each statement.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from processes import TEST_CLASSES, small_session

STATEMENTS = {
    "optimize": "OPTIMIZE {t} OPTIONS (maxBytesPerCommit = '7k')",
    "checkpoint": "CHECKPOINT {t} OPTIONS (mode = 'full', partSize = 10)",
}
PARTITIONS, FILES, ROWS = 4, 3, 240


def session(jars: str) -> SparkSession:
    """Start a cluster whose executors have `jars`."""
    settings = {
        "spark.executor.extraClassPath": f"{TEST_CLASSES}:{jars}",
        "spark.driver.extraClassPath": TEST_CLASSES,
        "spark.hadoop.fs.task.impl": "io.deltaupkeep.TaskFaultFileSystem",
        "spark.delta.logStore.task.impl": "io.delta.storage.LocalLogStore",
        "spark.task.maxFailures": 4,
        "spark.deltaUpkeep.checkpoint.mode": "delta",
        "spark.deltaUpkeep.checkpoint.driverBytes": 0,
    }
    builder = small_session("1g").master("local-cluster[2,1,1024]")
    for key, value in settings.items():
        builder = builder.config(key, str(value))
    return configure_spark_with_delta_upkeep(builder).getOrCreate()


def main(directory: Path, jars: str, *faults: str) -> None:
    spark = session(jars)
    template = directory / "template"
    spark.range(0, ROWS, 1, FILES).selectExpr(
        "id", f"CAST(id % {PARTITIONS} AS INT) AS p"
    ).write.format("delta").partitionBy("p").save(f"task:{template}")
    for fault in faults:
        for name, statement in STATEMENTS.items():
            table = directory / name / fault / "t"
            shutil.copytree(template, table)
            row = spark.sql(statement.format(t=f"delta.`task:{table}`")).first()
            print(json.dumps(row.asDict(recursive=True), default=str), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""What a session leaves in commits, plans and threads: `python -m support.traces MODE DIRECTORY`.

The modes are `without` (a session that never had the extension), `session` (it is switched off
there), and `table` (it is switched off for the table).
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from delta_upkeep.errors import condition_of
from support.processes import small_session

SWITCH = "deltaUpkeep.enabled"
PROPERTIES = {"delta.checkpointInterval": "4", "delta.enableDeletionVectors": "true"}
AUTO_COMPACT = "spark.databricks.delta.autoCompact"
ONLY_OURS = (
    "CHECKPOINT {t}",
    "CLEANUP LOG {t}",
    "OPTIMIZE {t} DRY RUN",
    "EXPLAIN OPTIMIZE {t}",
    "MAINTAIN {t}",
)
# Names, times, and what follows: files of one size are packed in the order of their names.
RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|#\d+L?|\d{13}|@[0-9a-f]+|file:\S+")
VARYING = ("timestamp", "modificationTime", "txnId", "inCommitTimestamp", "deletionTimestamp")
VARYING += ("createdTime", "size", "pathOrInlineDv")


def session(mode: str) -> SparkSession:
    builder = configure_spark_with_delta_upkeep(small_session("1g"))
    builder.config("spark.ui.showConsoleProgress", "false")
    if mode == "without":
        builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    return builder.getOrCreate()


def traces(spark: SparkSession, mode: str, path: Path) -> dict[str, Any]:
    t = f"delta.`{path}`"
    properties = PROPERTIES | ({SWITCH: "false"} if mode == "table" else {})
    texts = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    spark.sql(f"CREATE TABLE {t} (id BIGINT, p INT) USING delta TBLPROPERTIES ({texts})")
    spark.sql(f"INSERT INTO {t} VALUES (0, 0)")
    if mode == "session":  # It was on before, so that there is something to take back.
        spark.conf.set("spark.deltaUpkeep.enabled", "false")
    for i in range(1, 7):
        spark.sql(f"INSERT INTO {t} VALUES ({i}, 0)")
    frames = [DeltaTable.forPath(spark, str(path)).optimize().executeCompaction()]
    spark.sql(f"INSERT INTO {t} VALUES (7, 0)")
    frames.append(spark.sql(f"OPTIMIZE {t} ZORDER BY (id)"))
    spark.sql(f"DELETE FROM {t} WHERE id = 3")
    frames.append(spark.sql(f"REORG TABLE {t} APPLY (PURGE)"))
    spark.conf.set(f"{AUTO_COMPACT}.enabled", "true")
    spark.conf.set(f"{AUTO_COMPACT}.minNumFiles", "2")
    spark.range(20, 30, 1, 3).selectExpr("id", "1 AS p").write.format("delta").mode("append").save(
        str(path)
    )
    plans = [
        spark.sql(f"EXPLAIN EXTENDED {statement}").first()[0].replace(str(path), "TABLE")
        for statement in (f"SELECT * FROM {t}", f"DELETE FROM {t} WHERE id = 20")
    ]
    jvm = spark._jvm
    observer = jvm.org.apache.spark.sql.delta.TransactionExecutionObserver.getObserver()
    return {
        "commits": list(commits(path / "_delta_log")),
        "checkpoints": sorted(f.name for f in (path / "_delta_log").glob("*checkpoint*")),
        "schemas": [frame.schema.simpleString() for frame in frames],
        "plans": [RANDOM.sub("", plan) for plan in plans],
        "observer": RANDOM.sub("", observer.toString()),
        "threads": threads_of(spark),
        "rows": sorted(row.id for row in spark.sql(f"SELECT id FROM {t}").collect()),
        "errors": [error_of(spark, text.format(t=t)) for text in ONLY_OURS],
    }


def threads_of(spark: SparkSession) -> list[str]:
    """Name our threads, once those that have nothing to do have ended."""
    for _ in range(60):
        found = [t.getName() for t in spark._jvm.Thread.getAllStackTraces().keySet()]
        ours = [name for name in found if "upkeep" in name]
        if not ours:
            break
        time.sleep(0.5)
    return ours


def error_of(spark: SparkSession, statement: str) -> str | None:
    try:
        spark.sql(statement).collect()
    except PySparkException as e:
        return condition_of(e)
    return None


def commits(log: Path) -> Iterator[list[str]]:
    """The actions of each commit, without what differs from run to run."""
    for file in sorted(log.glob("*.json")):
        actions = [json.loads(line) for line in file.read_text().splitlines()]
        yield [
            file.name,
            *sorted(RANDOM.sub("", json.dumps(fixed(a), sort_keys=True)) for a in actions),
        ]


def fixed(value: Any) -> Any:
    """Leave out what varies, and the switch; of an operation's metrics only the names count."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            return value
        return json.dumps(fixed(parsed), sort_keys=True) if isinstance(parsed, dict) else value
    if isinstance(value, list):
        return [fixed(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if k not in VARYING and k != SWITCH}
    return {k: sorted(v) if k == "operationMetrics" else fixed(v) for k, v in kept.items()}


if __name__ == "__main__":
    mode, directory = sys.argv[1:]
    with session(mode) as spark:
        print(json.dumps(traces(spark, mode, Path(directory) / "table")))

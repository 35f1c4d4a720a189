"""Writers and maintainers of one table, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from faults import storm_process
from faults.scenarios import expired, is_cleaned, newest
from processes import CLEAN, ROOT, TEST_JAR
from strangers import ids_by_delta_rs

SEED = os.environ.get("TORTURE_SEED", "42")
SECONDS = os.environ.get("STORM_SECONDS", "8")
# What Delta alone tells a writer whose files another one has changed.
CONFLICTS = (
    "DELTA_CONCURRENT_APPEND",
    "DELTA_CONCURRENT_DELETE_READ",
    "DELTA_CONCURRENT_DELETE_DELETE",
)
OURS_IN_VAIN = "OPTIMIZE_CONFLICT"
MAINTENANCE = ("OPTIMIZE", "CHECKPOINT", "CLEANUP LOG")
OLD = range(-6, 0)


def test_the_table_is_what_its_writers_made_it(spark: SparkSession, tmp_path: Path):
    table = tmp_path / "t"
    expired(with_history, up_to=len(OLD))(spark, table)
    lines = storm(table)
    done = [line for line in lines if "error" not in line]
    writes = [line for line in done if line["kind"] == "write"]
    added = {*OLD, *(i for line in writes for i in line["add"])}
    expected = sorted(added - {i for line in writes for i in line["drop"]})
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    found = sorted(row.id for row in spark.sql(f"SELECT id FROM delta.`{table}`").collect())
    assert found == expected == ids_by_delta_rs(table)
    assert [line for line in lines if "error" in line and not is_conflict(line)] == []
    assert {line["kind"] for line in done} == {*MAINTENANCE, "write"}
    assert sum(line["removed"] for line in done if line["kind"] == "OPTIMIZE") > 0
    assert is_cleaned(table)
    oldest = max(line["oldest"] for line in done if line["kind"] == "CLEANUP LOG")
    for version in (oldest, newest(table)):
        frame = spark.sql(f"SELECT id FROM delta.`{table}` VERSION AS OF {version}")
        assert sorted(row.id for row in frame.collect()) == ids_by_delta_rs(table, version)


def with_history(spark: SparkSession, table: Path) -> None:
    """Make a table whose first versions can go: a commit for each old id, and a checkpoint."""
    name = f"delta.`{table}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, p INT) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.checkpointInterval' = '5')"
    )
    for i in OLD:
        spark.sql(f"INSERT INTO {name} VALUES ({i}, 0)")
    spark.sql(f"CHECKPOINT {name}")


def is_conflict(line: dict[str, Any]) -> bool:
    allowed = CONFLICTS if line["kind"] == "write" else (*CONFLICTS, OURS_IN_VAIN)
    return any(name in line["message"] for name in allowed)


def storm(table: Path) -> list[dict[str, Any]]:
    """Let it happen; what the processes told, each in its order."""
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                storm_process.__name__,
                str(number),
                kind,
                table,
                SECONDS,
                SEED,
                TEST_JAR,
            ],
            stdout=subprocess.PIPE,
            stderr=(table.parent / f"{kind}.log").open("w"),
            text=True,
            env={**CLEAN, "PYTHONPATH": str(ROOT / "tests")},
        )
        for number, kind in enumerate(storm_process.ROLES, start=1)
    ]
    told = [process.communicate(timeout=float(SECONDS) + 240)[0] for process in processes]
    for process, kind in zip(processes, storm_process.ROLES, strict=True):
        assert process.returncode == 0, (table.parent / f"{kind}.log").read_text()[-3000:]
    return [json.loads(line) for text in told for line in text.splitlines()]

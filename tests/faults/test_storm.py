"""Writers and maintainers of one table, each in a process of its own."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from faults import storm_process
from faults.scenarios import expired, is_cleaned, newest
from foreign.delta_rs import ids_by_delta_rs
from foreign.kernel import has_kernel, ids_by_kernel
from support.processes import CLEAN, ROOT, TEST_JAR
from support.sessions import after_next

pytestmark = pytest.mark.takes_turns

SEED = os.environ.get("TORTURE_SEED", "42")
SECONDS = os.environ.get("STORM_SECONDS", "8")
MERGES = int(os.environ.get("STORM_MERGES", "6"))
# What Delta alone tells a writer whose files another one has changed.
CONFLICTS = (
    "DELTA_CONCURRENT_APPEND",
    "DELTA_CONCURRENT_DELETE_READ",
    "DELTA_CONCURRENT_DELETE_DELETE",
)
OURS_IN_VAIN = ("OPTIMIZE_CONFLICT", "ANALYZE_CONFLICT")
MAINTENANCE = ("OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", *storm_process.OTHERS)
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
    assert [line for line in done if line["kind"] == "FSCK" and line["found"]] == []
    assert is_cleaned(table)
    oldest = max(line["oldest"] for line in done if line["kind"] == "CLEANUP LOG")
    for version in (oldest, newest(table)):
        frame = spark.sql(f"SELECT id FROM delta.`{table}` VERSION AS OF {version}")
        assert sorted(row.id for row in frame.collect()) == ids_by_delta_rs(table, version)


class Merges:
    """Merges into a table in a thread of its own: each deletes, updates and inserts rows.

    Attributes:
        rows: What the table must hold, text by id.
        done: How many were committed.
        failure: What ended the thread, if it was no conflict.
    """

    def __init__(self, spark: SparkSession, table: Path) -> None:
        self._spark = spark
        self._table = table
        self._random = random.Random(SEED)
        self.rows = dict.fromkeys(range(1000), "old")
        self.done = 0
        self.failure: Exception | None = None
        spark.range(1000).selectExpr("id", "'old' AS text").repartition(4).write.format(
            "delta"
        ).option("delta.enableDeletionVectors", "true").save(str(table))

    def run(self) -> None:
        try:
            while self.done < MERGES:
                self._merge()
        except Exception as e:
            self.failure = e

    def _merge(self) -> None:
        gone, *changed = self._random.sample(sorted(self.rows), 4)
        new = {**dict.fromkeys([*changed, max(self.rows) + 1], f"merge {self.done}"), gone: "gone"}
        source = " UNION ALL ".join(
            f"SELECT {i}L AS id, '{text}' AS text" for i, text in new.items()
        )
        try:
            self._spark.sql(
                f"MERGE INTO delta.`{self._table}` t USING ({source}) s ON t.id = s.id "
                "WHEN MATCHED AND s.text = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET * "
                "WHEN NOT MATCHED THEN INSERT *"
            )
        except PySparkException as e:
            if not any(name in str(e) for name in CONFLICTS):
                raise
        else:
            self.rows |= new
            del self.rows[gone]
            self.done += 1


@pytest.mark.parametrize("order", ["", "ZORDER BY (id)"], ids=["compaction", "order"])
def test_no_merge_undoes_an_optimize(spark: SparkSession, tmp_path: Path, order: str):
    merges = Merges(spark, tmp_path / "t")
    name = f"delta.`{tmp_path}/t`"
    thread = threading.Thread(target=merges.run)
    thread.start()
    results = []
    while thread.is_alive():
        # Whatever has a deleted row is rewritten, so that each merge changes an input.
        optimize = f"OPTIMIZE {name} {order} OPTIONS (maxDeletedRowsRatio = 0)"
        results.append(json.loads(after_next(spark, optimize, tmp_path / "t")))
    assert merges.failure is None
    assert {found["status"] for row in results for found in row["bins"]} == {"committed"}
    assert sum(row["metrics"]["numRowsDeletedMeanwhile"] for row in results) > 0
    found = {row.id: row.text for row in spark.sql(f"SELECT * FROM {name}").collect()}
    assert found == merges.rows
    if has_kernel():
        assert ids_by_kernel(spark, tmp_path / "t") == sorted(merges.rows)


def with_history(spark: SparkSession, table: Path) -> None:
    """Make a table whose first versions can go: a commit for each old id, and a checkpoint."""
    name = f"delta.`{table}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, p INT) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.checkpointInterval' = '5', "
        # More than CLEANUP LOG keeps, and less than a long storm.
        "'delta.deletedFileRetentionDuration' = 'interval 3 minutes')"
    )
    for i in OLD:
        spark.sql(f"INSERT INTO {name} VALUES ({i}, 0)")
    spark.sql(f"CHECKPOINT {name}")


def is_conflict(line: dict[str, Any]) -> bool:
    allowed = CONFLICTS if line["kind"] == "write" else (*CONFLICTS, *OURS_IN_VAIN)
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

"""MAINTAIN does what is due, in order; DESCRIBE HEALTH says what is due before and after."""

import json
import os
import time
from pathlib import Path
from urllib.parse import urlparse

import pytest
from deltalake import DeltaTable as DeltaRsTable
from pyspark.sql import Row, SparkSession

from conftest import DAY_SECONDS, Table, TableFactory
from delta_upkeep import HealthReport, UpkeepTable
from support.sessions import session_conf

# No step has done anything, and nobody has asked for VACUUM.
NOTHING = {"not due", "skipped"}


def statuses(rows) -> list[tuple[str, str]]:
    return [(row.step, row.status) for row in rows]


def test_maintain_does_what_is_due_and_then_nothing(spark: SparkSession, table: TableFactory):
    t = table(*range(1, 6), checkpointInterval="5")
    (t.log / "_last_checkpoint").unlink(missing_ok=True)
    for file in t.log.glob("*.checkpoint.parquet"):
        file.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    before = t.all_files()
    dry = spark.sql(f"MAINTAIN {t.sql_name} DRY RUN").collect()
    assert t.all_files() == before
    assert statuses(dry) == [
        ("optimize", "planned"),
        ("checkpoint", "planned"),
        ("vacuum", "skipped"),
        ("cleanup", "not due"),
    ]
    done = spark.sql(f"MAINTAIN {t.sql_name}").collect()
    assert statuses(done)[0] == ("optimize", "done")
    assert done[0].optimize.metrics.numFilesRemoved == 5
    assert {row.status for row in spark.sql(f"MAINTAIN {t.sql_name}").collect()} == NOTHING
    assert t.ids() == [1, 2, 3, 4, 5]


def test_steps_that_an_option_leaves_out_are_skipped(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    options = "OPTIONS (steps = 'Checkpoint, cleanup')"
    optimize, *others = spark.sql(f"MAINTAIN {t.sql_name} {options}").collect()
    assert (optimize.status, optimize.due) == ("skipped", False)
    assert optimize.reason == "the option steps leaves it out"
    assert {row.status for row in others} == NOTHING
    assert spark.sql(f"MAINTAIN {t.sql_name} DRY RUN").first().status == "planned"


def test_maintain_makes_the_checkpoint_that_a_cleanup_waits_for(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    t.age_log(days=40, up_to=3)
    rows = spark.sql(f"MAINTAIN {t.sql_name}").collect()
    assert rows[1].status == "done"
    assert rows[1].reason == "expired commits cannot be deleted before there is a newer checkpoint"
    assert rows[1].checkpoint.status == "written"


@pytest.mark.parametrize("may_clean", ["true", "false"])
def test_health_advises_what_maintain_does(
    spark: SparkSession, table: TableFactory, may_clean: str
):
    """A cleanup waits for a checkpoint: MAINTAIN writes it only where it may clean up."""
    t = table(1, 2, 3, enableExpiredLogCleanup=may_clean)
    t.age_log(days=40, up_to=3)

    def health() -> dict[str, tuple[str, str | None]]:
        rows = spark.sql(f"DESCRIBE HEALTH {t.sql_name}").collect()
        return {row.check: (row.severity, row.remedy) for row in rows}

    due = spark.sql(f"MAINTAIN {t.sql_name} DRY RUN").collect()[1].due
    assert due == (may_clean == "true")
    before = health()
    assert (before["commitsSinceCheckpoint"][0] == "warning") == due
    assert before["expiredLog"] == ("info", f"CHECKPOINT {t.sql_name}")
    spark.sql(before["expiredLog"][1])
    after = health()
    assert after["commitsSinceCheckpoint"][0] == "ok"
    assert after["expiredLog"] == ("info", f"CLEANUP LOG {t.sql_name}")
    spark.sql(after["expiredLog"][1])
    assert health()["expiredLog"][0] == "ok"


def test_health_counts_the_files_that_maintain_would_rewrite(spark: SparkSession, tmp_path: Path):
    """Of a clustered table too, where a compaction would take other files."""
    name = f"delta.`{tmp_path / 'clustered'}`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta CLUSTER BY (id)")
    for id in range(3):
        spark.sql(f"INSERT INTO {name} VALUES ({id})")

    def small_files() -> float:
        health = spark.sql(f"DESCRIBE HEALTH {name}")
        return health.where("check = 'smallFiles'").first().value

    assert small_files() == 3
    assert spark.sql(f"MAINTAIN {name} DRY RUN").first().reason == "3 files to rewrite"
    assert spark.sql(f"MAINTAIN {name}").first().reason == "rewrote 3 files into 1"
    spark.sql(f"INSERT INTO {name} VALUES (3)")
    due = spark.sql(f"MAINTAIN {name} DRY RUN").first()
    assert small_files() == (due.optimize.metrics.numFilesRemoved if due.due else 0)


def pointer(t: Table) -> int:
    return int(json.loads((t.log / "_last_checkpoint").read_text())["version"])


def test_each_step_of_maintain_works_on_the_newest_version(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3, checkpointInterval="1000", checkpointPolicy="v2")
    spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(4, 5)
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('delta.checkpointInterval' = '4')")
    t.age_log(days=40, up_to=5)
    optimize, checkpoint, _, cleanup = spark.sql(f"MAINTAIN {t.sql_name}").collect()
    assert (optimize.status, optimize.optimize.version) == ("done", 7)
    assert (checkpoint.status, checkpoint.checkpoint.version) == ("done", 7)
    assert "4 commits since the last checkpoint" in checkpoint.reason
    assert pointer(t) == 7
    assert (cleanup.status, cleanup.cleanup.oldestReadableVersion) == ("done", 3)
    # Readers that do not know v2 learn it from the newest checkpoint, not from an older one.
    assert {name for name in t.log_names() if name.endswith("checkpoint.parquet")} == {
        f"{7:020}.checkpoint.parquet"
    }
    assert t.ids() == [1, 2, 3, 4, 5]
    assert {row.status for row in spark.sql(f"MAINTAIN {t.sql_name}").collect()} == NOTHING


def test_maintain_finds_the_checkpoint_of_its_own_commit(spark: SparkSession, table: TableFactory):
    # Delta writes one of the version that OPTIMIZE commits.
    t = table(1, 2, 3, 4, 5, 6, checkpointInterval="7")
    assert statuses(spark.sql(f"MAINTAIN {t.sql_name}").collect()) == [
        ("optimize", "done"),
        ("checkpoint", "not due"),
        ("vacuum", "skipped"),
        ("cleanup", "not due"),
    ]
    assert pointer(t) == 7
    assert not (t.log / f"{6:020}.checkpoint.parquet").exists()


def test_maintain_tells_readers_of_a_checkpoint_that_is_there(
    spark: SparkSession, table: TableFactory
):
    t = table(1)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    pointer = t.log / "_last_checkpoint"
    pointer.unlink()
    row = spark.sql(f"MAINTAIN {t.sql_name}").collect()[1]
    assert (row.status, row.checkpoint.status) == ("done", "exists")
    assert row.reason == "_last_checkpoint does not name the newest checkpoint"
    assert json.loads(pointer.read_text())["version"] == 1
    assert spark.sql(f"MAINTAIN {t.sql_name}").collect()[1].status == "not due"


def test_maintain_leaves_the_log_where_the_table_says_so(spark: SparkSession, table: TableFactory):
    t = table(1, enableExpiredLogCleanup="false")
    row = UpkeepTable.forPath(spark, str(t.path)).maintain().collect()[3]
    assert (row.status, row.reason) == (
        "skipped",
        "delta.enableExpiredLogCleanup is false",
    )


def test_health_names_the_remedy_and_the_remedy_helps(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    report = upkeep.health()
    assert isinstance(report, HealthReport)
    small = next(check for check in report.findings if check.check == "smallFiles")
    assert (small.severity, small.value) == ("warning", 4.0)
    spark.sql(small.remedy)
    after = {check.check: check.severity for check in upkeep.health().checks}
    assert after["smallFiles"] == "ok"


def test_health_writes_nothing(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    before = t.all_files()
    rows = spark.sql(f"DESC HEALTH {t.sql_name}").collect()
    assert {row.check for row in rows} == {
        "files",
        "smallFiles",
        "clustering",
        "rowGroups",
        "compression",
        "deletedRows",
        "statistics",
        "orphans",
        "checkpoint",
        "checkpointAge",
        "commitsSinceCheckpoint",
        "checkpointAfterCommit",
        "log",
        "expiredLog",
        "oldestVersion",
    }
    assert t.all_files() == before


def orphans(spark: SparkSession, t: Table) -> tuple[float | None, str]:
    (row,) = (
        row for row in spark.sql(f"DESC HEALTH {t.sql_name}").collect() if row.check == "orphans"
    )
    return row.value, row.message


@pytest.mark.one_platform
def test_orphans_are_what_vacuum_would_delete(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, enableDeletionVectors="true")
    spark.sql(f"OPTIMIZE {t.sql_name} WHERE p = 1")
    spark.range(20, 40).selectExpr("id", "1 AS p", "'x' AS text").write.format("delta").mode(
        "append"
    ).save(str(t.path))
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 25")
    assert list(t.path.glob("deletion_vector*"))
    strangers = [t.path / name for name in ("p=0/part-of-nobody.parquet", "deletion_vector_x.bin")]
    for file in (*strangers, t.path / "_hidden", t.path / "p=1/new.parquet"):
        file.write_text("twelve bytes")
    long_ago = time.time() - 30 * DAY_SECONDS
    for file in t.path.rglob("*"):
        if file.is_file() and file.name != "new.parquet" and "_delta_log" not in file.parts:
            os.utime(file, (long_ago, long_ago))
    assert orphans(spark, t)[0] == 2
    assert "24 B" in orphans(spark, t)[1]
    # Delta's VACUUM lists with as many tasks as this.
    with session_conf(spark, {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "2"}):
        vacuumed = spark.sql(f"VACUUM {t.sql_name} DRY RUN").collect()
    assert {Path(urlparse(row.path).path) for row in vacuumed} == set(strangers)
    with session_conf(spark, {"spark.deltaUpkeep.health.listedFiles": "6"}):
        assert orphans(spark, t)[0] is None


def test_health_tells_of_files_that_are_not_there(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    gone = next(t.path.glob("p=1/*.parquet"))
    gone.unlink()
    checks = {row.check: row for row in spark.sql(f"DESC HEALTH {t.sql_name}").collect()}
    assert checks["rowGroups"].severity == "critical"
    assert gone.name in checks["rowGroups"].message


def test_maintain_vacuums_where_the_table_asks_for_it(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    orphan = t.path / "orphan.parquet"
    orphan.write_text("nobody names me")
    os.utime(orphan, (0, 0))

    def step(clause: str = "") -> Row:
        (row,) = (
            r for r in spark.sql(f"MAINTAIN {t.sql_name} {clause}").collect() if r.step == "vacuum"
        )
        return row

    assert (step().status, step().reason) == ("skipped", "deltaUpkeep.vacuum is off")
    by_log = step("DRY RUN OPTIONS (vacuum = 'log')")
    assert (by_log.status, by_log.vacuum) == ("not due", None)
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('deltaUpkeep.vacuum' = 'full')")
    assert step("OPTIONS (vacuum = 'off')").status == "skipped"
    planned = step("DRY RUN")
    assert (planned.status, planned.vacuum.filesDeleted, orphan.exists()) == ("planned", 1, True)
    done = step()
    assert (done.status, done.vacuum.filesDeleted, orphan.exists()) == ("done", 1, False)
    assert step().status == "not due"
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('deltaUpkeep.vacuum' = 'weekly')")
    assert step().reason == ("deltaUpkeep.vacuum cannot be 'weekly': use 'off' or 'log' or 'full'")


def test_maintain_lists_directories_once_in_a_while(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)

    def step(clause: str = "") -> Row:
        (row,) = spark.sql(f"MAINTAIN {t.sql_name} {clause}").where("step = 'vacuum'").collect()
        return row

    def properties(**values: str) -> None:
        pairs = ", ".join(f"'deltaUpkeep.{name}' = '{value}'" for name, value in values.items())
        spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ({pairs})")

    def leave_orphan() -> Path:
        orphan = t.path / "orphan.parquet"
        orphan.write_text("nobody names me")
        os.utime(orphan, (0, 0))
        return orphan

    properties(**{"vacuum": "log", "vacuum.fullEvery": "7 days"})
    planned, done = step("DRY RUN"), step()
    assert (planned.status, done.status) == ("planned", "done")
    assert (done.vacuum.mode, done.vacuum.filesDeleted) == ("full", 0)
    orphan = leave_orphan()
    assert step().status == "not due"
    note = t.log / "_last_full_vacuum_info"
    for began in (time.time() - 8 * DAY_SECONDS, time.time() + DAY_SECONDS):
        note.write_text(json.dumps({"startedAt": int(began * 1000)}))
        (t.log / f".{note.name}.crc").unlink(missing_ok=True)
        leave_orphan()
        assert (step().vacuum.filesDeleted, orphan.exists()) == (1, False)
        assert step().status == "not due"
    leave_orphan()
    assert step("OPTIONS (vacuumFullEvery = '1 hour')").status == "not due"
    properties(**{"vacuum.fullEvery": "sometimes"})
    assert (step().status, "fullEvery cannot be 'sometimes': use" in step().reason) == (
        "skipped",
        True,
    )
    assert DeltaRsTable(t.path).version() == t.version

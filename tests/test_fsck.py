"""FSCK finds files that are missing or damaged, removes their entries, and brings rows back."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from deltalake import DeltaTable as DeltaRsTable
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StringType, StructField

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import condition_of
from foreign.cases import CASES, SCHEMA
from foreign.forged import forge
from support.files import lose, overwrite
from support.logs import actions_of, edit_adds, live
from support.processes import DELTA
from support.sessions import meanwhile, session_conf
from support.streams import copy_new_rows

pytestmark = pytest.mark.takes_turns

FEATURES = {
    "plain": {},
    "mapped": {"columnMapping.mode": "name"},
    "vectors": {"enableDeletionVectors": "true"},
    "row ids": {"enableRowTracking": "true"},
    "change feed": {"enableChangeDataFeed": "true"},
    "commit times": {"enableInCommitTimestamps": "true"},
    "append only": {"appendOnly": "true"},
}
if DELTA < (3, 3):
    del FEATURES["commit times"]
SMALL_FILES = {"spark.databricks.delta.optimize.minFileSize": "1g"}


def fsck(t: Table, clauses: str = "") -> tuple[list[Row], Row]:
    """The findings and the totals."""
    *found, totals = t.spark.sql(f"FSCK REPAIR TABLE {t.sql_name} {clauses}").collect()
    assert totals.kind is None
    assert totals.findings == len(found)
    return found, totals


def restore(t: Table) -> tuple[list[Row], Row]:
    return fsck(t, "OPTIONS (mode = 'restore')")


def actions(t: Table, version: int | None = None) -> list[dict[str, Any]]:
    number = t.version if version is None else version
    return actions_of(t.log / f"{number:020}.json")


def file_of(t: Table, row_id: int) -> Path:
    """The file that has a row."""
    (name,) = (
        row[0]
        for row in t.spark.read.format("delta")
        .load(str(t.path))
        .where(f"id = {row_id}")
        .selectExpr("input_file_name()")
        .collect()
    )
    return Path(unquote(name.removeprefix("file:").removeprefix("//")))


def content(t: Table) -> list[str]:
    """All rows, with their ids where the table has them."""
    frame = t.spark.read.format("delta").load(str(t.path))
    detail = t.spark.sql(f"DESCRIBE DETAIL {t.sql_name}").first()
    if detail.properties.get("delta.enableRowTracking") == "true":
        frame = frame.selectExpr("*", "_metadata.row_id", "_metadata.row_commit_version")
    return sorted(map(str, frame.collect()))


def assert_refused(t: Table, condition: str, clauses: str = "") -> None:
    before = t.all_files()
    with pytest.raises(Exception) as refused:
        fsck(t, clauses)
    assert condition_of(refused.value) == f"DELTA_UPKEEP.{condition}"
    assert t.all_files() == before


def test_a_table_that_is_whole(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, enableDeletionVectors="true")
    before = t.all_files()
    for clauses in ("", "DRY RUN", "OPTIONS (deep = true)", "OPTIONS (mode = 'restore')"):
        found, totals = fsck(t, clauses)
        assert (found, totals.filesChecked, totals.version, totals.rowsGone) == ([], 4, None, 0)
        assert totals.bytesChecked == sum(add["size"] for add in live(t.log).values())
    assert t.all_files() == before


def test_the_entry_of_a_lost_file_is_removed(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    file = file_of(t, 2)
    lose(file)
    before = t.all_files()
    planned, totals = fsck(t, "DRY RUN")
    checked, _ = fsck(t, "OPTIONS (mode = 'check')")
    assert t.all_files() == before
    assert (totals.dryRun, totals.rowsGone, totals.version) == (True, 1, None)
    assert [row.action for row in planned + checked] == ["remove", "none"]
    (row,), totals = fsck(t)
    assert Path(row.dataFilePath.removeprefix("file:")) == file
    assert (row.dataFileMissing, row.deletionVectorPath, row.deletionVectorFileMissing) == (
        True,
        None,
        False,
    )
    assert (row.kind, row.problem, row.action, row.rows) == ("data file", "missing", "remove", 1)
    assert (totals.version, totals.rowsGone) == (t.version, 1)
    assert t.ids() == [1, 3]
    assert sorted(DeltaRsTable(t.path).to_pyarrow_table()["id"].to_pylist()) == [1, 3]
    (removed,) = (action["remove"] for action in actions(t) if "remove" in action)
    assert removed["dataChange"] is True
    entry = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()
    assert entry.operation == "FSCK" and entry.operationParameters == {"mode": "missing"}
    assert entry.operationMetrics["numRemovedFiles"] == "1"
    assert fsck(t)[1].version is None


def test_an_entry_whose_vector_is_lost_is_removed(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t").create({"delta.enableDeletionVectors": "true"})
    spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 0, 't' FROM range(0, 10, 1, 1)")
    t.append(11)
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 9")
    (vector,) = t.path.rglob("deletion_vector*.bin")
    lose(vector)
    (row,), totals = fsck(t)
    assert (row.kind, row.problem, row.action, row.rows) == (
        "deletion vector",
        "missing",
        "remove",
        9,
    )
    assert (row.dataFileMissing, row.deletionVectorFileMissing) == (False, True)
    assert Path(row.deletionVectorPath.removeprefix("file:")) == vector
    assert totals.rowsGone == 9
    assert t.ids() == [11]


def test_what_is_damaged_is_only_reported(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t").create({"delta.enableDeletionVectors": "true"}).append(1, 2, 3)
    spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 0, 't' FROM range(10, 20, 1, 1)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 19")
    (vector,) = t.path.rglob("deletion_vector*.bin")
    short, footer = file_of(t, 1), file_of(t, 2)
    overwrite(short, lambda data: data[:-5])
    overwrite(footer, lambda data: data[:-8] + bytes(8))
    overwrite(vector, lambda data: data[:-1] + bytes([data[-1] ^ 1]))

    def miscount(add: dict[str, Any]) -> None:
        stats = json.loads(add["stats"])
        if stats["minValues"]["id"] == 3:
            add["stats"] = json.dumps(stats | {"numRecords": 4})

    edit_adds(t.spark, t.log, miscount)
    before = t.all_files()
    found, _ = fsck(t)
    assert [(row.problem, row.action) for row in found] == [("wrong size", "none")]
    found, totals = fsck(t, "OPTIONS (deep = true)")
    assert sorted((row.kind, row.problem, row.action) for row in found) == [
        ("data file", "damaged", "none"),
        ("data file", "wrong row count", "none"),
        ("data file", "wrong size", "none"),
        ("deletion vector", "damaged", "none"),
    ]
    assert totals.rowsGone == 0
    assert "1 rows, and the log says 4" in "".join(row.reason for row in found)
    overwrite(vector, lambda data: data[:-3])
    assert ("deletion vector", "wrong size") in [(row.kind, row.problem) for row in fsck(t)[0]]
    assert set(t.all_files()) == set(before)


def test_pages_are_read_where_asked(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    overwrite(file_of(t, 2), lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:])
    assert fsck(t, "OPTIONS (deep = true)")[0] == []
    (row,), _ = fsck(t, "OPTIONS (pages = true)")
    assert (row.kind, row.problem, row.action) == ("data file", "damaged", "none")
    assert "checksum" in row.reason


@pytest.mark.one_platform
def test_the_pages_of_other_writers_are_whole(spark: SparkSession, tmp_path: Path):
    files = [file for case in CASES for file in case.files]
    t = forge(spark, tmp_path, SCHEMA, files, StructField("case", StringType()))
    *found, totals = spark.sql(f"FSCK REPAIR TABLE {t.sql_name} OPTIONS (pages = true)").collect()
    assert [row.reason for row in found] == [] and totals.filesChecked == len(files)


@pytest.mark.parametrize("features", FEATURES.values(), ids=list(FEATURES))
def test_a_lost_output_of_optimize_is_restored(
    spark: SparkSession, table: TableFactory, features: dict[str, str]
):
    t = table(1, 2, 3, 4, 5, 6, **features)
    if "enableDeletionVectors" in features:
        spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 1, 't' FROM range(10, 20, 1, 1)")
        spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 15")
    before, inputs, rows = content(t), live(t.log), t.ids()
    spark.sql(f"OPTIMIZE {t.sql_name}")
    assert len(live(t.log)) == 2
    kept = file_of(t, 2)
    lose(file_of(t, 1))
    if "appendOnly" not in features:
        (row,), totals = fsck(t)
        assert (row.action, totals.version) == ("none", None)
        assert "OPTIONS (mode = 'restore')" in row.reason
    result = UpkeepTable.forPath(spark, str(t.path)).fsck("restore").toResult()
    (finding,) = result.findings
    assert (finding.action, finding.problem) == ("restore", "missing")
    assert (result.version, result.rowsGone) == (t.version, 0)
    assert content(t) == before
    files = [add for add in live(t.log).values() if Path(unquote(add["path"])).name != kept.name]
    assert len(files) == len(live(t.log)) - 1
    for add in files:
        # Delta reads and writes no tags as an empty map.
        assert {"tags": {}} | add == {"tags": {}} | inputs[add["path"]] | {"dataChange": False}
    assert not any(a["remove"]["dataChange"] for a in actions(t) if "remove" in a)
    entry = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()
    assert entry.operationMetrics["numRestoredFiles"] == str(len(files))
    if set(features) <= {"enableChangeDataFeed", "appendOnly"}:
        assert sorted(DeltaRsTable(t.path).to_pyarrow_table()["id"].to_pylist()) == rows
    spark.sql(f"OPTIMIZE {t.sql_name}")
    assert content(t) == before


@pytest.mark.one_platform
def test_rewrites_are_undone_as_far_as_needed(spark: SparkSession, table: TableFactory):
    t = table(2, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    middle = file_of(t, 2)
    t.append(6)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    lose(file_of(t, 2))
    lose(middle)
    (row,), _ = restore(t)
    assert row.action == "restore"
    assert (t.ids(), len(live(t.log))) == ([2, 4, 6], 3)


@pytest.mark.one_platform
def test_what_cannot_be_restored_says_why(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 4)
    lost = file_of(t, 2)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    lose(file_of(t, 4))
    lose(lost)
    (row,), totals = restore(t)
    assert (row.action, totals.version, totals.rowsGone) == ("none", None, 2)
    assert "of the 2 files that version 4 replaced, 1 cannot be used" in row.reason
    assert fsck(t)[1].version is not None
    assert t.ids() == [1]


@pytest.mark.one_platform
def test_the_last_whole_version_is_named(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    spark.sql(
        f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS OPTIONS (mode = 'all')"
    ).collect()
    lose(file_of(t, 3))
    (row,), _ = fsck(t, "OPTIONS (mode = 'check')")
    assert "TO VERSION AS OF 2 " in row.reason
    spark.sql(f"RESTORE TABLE {t.sql_name} TO VERSION AS OF 2")
    assert (fsck(t)[1].findings, t.ids()) == (0, [1, 2])
    # Version 3 is not whole without the file that the update replaced.
    other = table(1, 2, 3, 4)
    lost = file_of(other, 1)
    spark.sql(f"UPDATE {other.sql_name} SET text = 'new' WHERE id = 1")
    lose(lost)
    lose(file_of(other, 1))
    (row,), _ = fsck(other, "OPTIONS (mode = 'check')")
    assert "RESTORE TABLE" not in row.reason and "mode = 'missing'" in row.reason


@pytest.mark.one_platform
def test_an_output_that_changed_is_not_restored(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 4, enableDeletionVectors="true")
    spark.sql(f"OPTIMIZE {t.sql_name}")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 4")
    lose(file_of(t, 2))
    (row,), totals = restore(t)
    assert (row.action, totals.version) == ("none", None)
    assert fsck(t)[0][0].action == "remove"
    assert t.ids() == [1]


@pytest.mark.one_platform
def test_nothing_is_restored_while_a_vacuum_runs(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    lose(file_of(t, 2))
    spark.sql(f"VACUUM {t.sql_name} OPTIONS (mode = 'full')")
    began = t.version - 1
    # Two of them begin, and one ends.
    first, second, third = (t.log / f"{began + i:020}.json" for i in range(3))
    second.rename(third)
    second.write_text(first.read_text())
    for file in (*t.log.glob(".*.crc"), *t.log.glob(f"{began + 1:020}.crc")):
        file.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    for clauses in ("DRY RUN OPTIONS (mode = 'restore')", "OPTIONS (mode = 'restore')"):
        (row,), totals = fsck(t, clauses)
        assert (row.action, totals.version) == ("none", None)
        assert f"a VACUUM that began in version {began} may be deleting files" in row.reason
    two_days_ago = time.time() - 2 * 24 * 3600
    for file in (first, second):
        os.utime(file, (two_days_ago, two_days_ago))
    assert restore(t)[0][0].action == "restore"
    assert t.ids() == [1, 2, 4]


@pytest.mark.one_platform
def test_what_a_vacuum_deleted_meanwhile_is_not_restored(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    lose(file_of(t, 2))
    before = live(t.log).keys()
    with session_conf(spark, {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}):
        row = json.loads(
            meanwhile(
                spark,
                f"FSCK REPAIR TABLE {t.sql_name} OPTIONS (mode = 'restore')",
                f"VACUUM {t.sql_name} RETAIN 0 HOURS",
            )
        )
    assert (row["action"], "was taken back" in row["reason"]) == ("none", True)
    assert live(t.log).keys() == before
    assert fsck(t)[0][0].action == "remove"
    assert t.ids() == [1]


def test_a_damaged_output_is_restored(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    overwrite(file_of(t, 2), lambda data: data[:-8] + bytes(8))
    assert restore(t)[0] == []
    (row,), totals = fsck(t, "OPTIONS (mode = 'restore', deep = true)")
    assert (row.problem, row.action, totals.version) == ("damaged", "restore", t.version)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    overwrite(file_of(t, 2), lambda data: data[:-1])
    (row,), _ = restore(t)
    assert (row.problem, row.action) == ("wrong size", "restore")
    assert t.ids() == [1, 2, 4]


@pytest.mark.one_platform
def test_a_commit_that_changed_rows_is_not_undone(spark: SparkSession, table: TableFactory):
    t = table(2, 4, 6)
    frame = spark.read.format("delta").load(str(t.path)).where("id < 5").coalesce(1)
    frame.write.format("delta").mode("overwrite").option("dataChange", "false").save(str(t.path))
    t.append(1)
    lose(file_of(t, 2))
    (row,), totals = restore(t)
    assert (row.action, totals.version) == ("none", None)
    assert "version 4 changed the number of rows" in row.reason


def test_a_commit_before_the_protocol_changed_is_not_undone(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    spark.sql(
        f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    lose(file_of(t, 2))
    (row,), totals = restore(t)
    assert (row.action, totals.version) == ("none", None)
    assert "protocol, which changed in version 5" in row.reason


@pytest.mark.one_platform
def test_statistics_made_again_are_no_rewrite(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    spark.sql(
        f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS OPTIONS (mode = 'all')"
    ).collect()
    lose(file_of(t, 2))
    (row,), totals = restore(t)
    assert (row.action, totals.version) == ("none", None)
    assert "no commit in the log made it" in row.reason


def test_a_lost_file_of_a_shallow_clone(spark: SparkSession, table: TableFactory, tmp_path: Path):
    source, clone = table(1, 2, 3), Table(spark, tmp_path / "clone")
    spark.sql(f"CREATE TABLE {clone.sql_name} SHALLOW CLONE {source.sql_name}")
    clone.append(4)
    assert fsck(clone)[1].filesChecked == 4
    lose(file_of(source, 2))
    lose(file_of(clone, 4))
    found, totals = fsck(clone)
    assert [row.action for row in found] == ["remove", "remove"]
    assert totals.rowsGone == 2
    assert clone.ids() == [1, 3]


@pytest.mark.one_platform
def test_files_of_a_directory_that_is_not_mounted_are_not_lost(
    spark: SparkSession, table: TableFactory, tmp_path: Path
):
    source, clone = table(1, 2, 3), Table(spark, tmp_path / "clone")
    spark.sql(f"CREATE TABLE {clone.sql_name} SHALLOW CLONE {source.sql_name}")
    clone.append(4)
    source.path.rename(tmp_path / "elsewhere")
    found, totals = fsck(clone)
    assert [(row.problem, row.action) for row in found] == [("unknown", "none")] * 3
    assert totals.version is None
    (tmp_path / "elsewhere").rename(source.path)
    assert clone.ids() == [1, 2, 3, 4]


@pytest.mark.one_platform
def test_an_overwrite_that_calls_itself_no_change_is_not_undone(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    spark.read.format("delta").load(str(t.path)).selectExpr("id", "p", "'right' AS text").coalesce(
        1
    ).write.format("delta").mode("overwrite").option("dataChange", "false").save(str(t.path))
    lose(file_of(t, 1))
    found, totals = restore(t)
    assert [(row.problem, row.action) for row in found] == [("missing", "none")]
    assert "is no OPTIMIZE and no REORG" in found[0].reason and totals.version is None


@pytest.mark.one_platform
def test_a_colon_in_a_name(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    file = file_of(t, 1)
    lost = file.with_name("a:b.parquet")
    file.rename(lost)
    edit_adds(
        t.spark,
        t.log,
        lambda add: add.update(path=add["path"].replace(file.name, "a:b.parquet")),
    )
    assert fsck(t)[0] == []
    lost.unlink()
    (row,), _ = fsck(t)
    assert (row.problem, row.action) == ("missing", "remove")


def test_the_change_feed_stays_readable(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, enableChangeDataFeed="true")
    lose(file_of(t, 2))
    fsck(t)
    (removed,) = (action["remove"] for action in actions(t) if "remove" in action)
    assert removed["dataChange"] is False
    changes = spark.read.format("delta").option("readChangeFeed", "true")
    assert changes.option("startingVersion", t.version).load(str(t.path)).count() == 0
    assert t.ids() == [1, 3]


def test_streams_learn_of_lost_rows_and_not_of_restored_ones(
    spark: SparkSession, table: TableFactory, tmp_path: Path
):
    source, target = table(2, 4, 1), table()

    def stream() -> None:
        copy_new_rows(spark, source.path, target.path, tmp_path / "progress")

    stream()
    spark.sql(f"OPTIMIZE {source.sql_name}")
    lose(file_of(source, 2))
    restore(source)
    stream()
    assert target.ids() == [1, 2, 4]
    lose(file_of(source, 1))
    fsck(source)
    with pytest.raises(Exception, match=r"DELTA_SOURCE_IGNORE_DELETE|[dD]etected deleted data"):
        stream()


@pytest.mark.one_platform
def test_entries_that_others_remove_meanwhile_are_left_out(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    lose(file_of(t, 2))
    statement = f"FSCK REPAIR TABLE {t.sql_name}"
    row = json.loads(meanwhile(spark, statement, f"DELETE FROM {t.sql_name} WHERE p = 0"))
    assert (row["action"], "another writer" in row["reason"]) == ("none", True)
    assert (t.version, t.ids()) == (4, [1, 3])


@pytest.mark.one_platform
def test_entries_of_others_stay(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 5)
    lose(file_of(t, 1))
    lose(file_of(t, 2))
    statement = f"FSCK REPAIR TABLE {t.sql_name}"
    row = json.loads(meanwhile(spark, statement, f"DELETE FROM {t.sql_name} WHERE p = 0"))
    assert row["kind"] == "data file"
    assert t.ids() == [3, 5]
    lose(file_of(t, 3))
    insert = f"INSERT INTO {t.sql_name} VALUES (7, 1, 'new')"
    assert json.loads(meanwhile(spark, statement, insert))["action"] == "remove"
    assert t.ids() == [5, 7]


@pytest.mark.one_platform
def test_if_all_files_are_gone_nothing_is_removed(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    for row_id in (1, 2):
        lose(file_of(t, row_id))
    assert_refused(t, "FSCK_ALL_FILES_GONE")
    assert_refused(t, "FSCK_ALL_FILES_GONE", "DRY RUN")
    assert len(fsck(t, "OPTIONS (mode = 'check')")[0]) == 2
    assert len(restore(t)[0]) == 2


def test_rows_stay_in_an_append_only_table(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, appendOnly="true")
    lose(file_of(t, 2))
    assert_refused(t, "FSCK_APPEND_ONLY")


def test_a_store_that_does_not_answer_has_not_lost_a_file(spark: SparkSession, table: TableFactory):
    local = table(1, 2, 3, 5)
    lost = file_of(local, 3)
    lose(lost)
    t = Table(spark, Path(f"fault:{local.path}"))
    t.sql_name = f"delta.`fault:{local.path}`"
    faults = spark._jvm.io.deltaupkeep.store.FaultFileSystem
    try:
        # A listing that fails, and a file that cannot be looked up.
        for part in ("/p=1", "/p=0"):
            faults.refuse(part)
            found, totals = fsck(t, "DRY RUN")
            problems = sorted((row.problem, row.action) for row in found)
            if part == "/p=1":
                assert problems == [("unknown", "none")] * 3
                assert totals.rowsGone == 0
            else:
                assert problems == [("missing", "remove"), ("unknown", "none")]
        assert "The store fails here" in "".join(row.reason for row in found)
        # The listing lacks it, and it cannot be looked up.
        faults.refuse(lost.name)
        assert [(row.problem, row.action) for row in fsck(t)[0]] == [("unknown", "none")]
        faults.refuse(str(local.path) + "/p")
        assert fsck(t)[1].version is None
    finally:
        faults.refuse(None)
    assert fsck(t)[1].version is not None


@pytest.mark.one_platform
def test_a_file_that_is_back_before_the_commit_stays(spark: SparkSession, table: TableFactory):
    local = table(1, 2, 3)
    file = file_of(local, 2)
    t = Table(spark, local.path)
    t.sql_name = f"delta.`fault:{local.path}`"
    # It is looked for after the listing, and once more before the commit.
    spark._jvm.io.deltaupkeep.store.FaultFileSystem.vanish(file.name, 1)
    (row,), totals = fsck(t)
    assert (row.problem, row.action, totals.version) == ("missing", "none", None)
    spark._jvm.io.deltaupkeep.store.FaultFileSystem.vanish(file.name, 2)
    assert fsck(t)[1].version is not None


@pytest.mark.one_platform
def test_a_file_in_a_store_that_cannot_be_reached(spark: SparkSession, table: TableFactory):
    t = table(1, 2)

    def move(add: dict[str, Any]) -> None:
        if json.loads(add["stats"])["minValues"]["id"] == 2:
            add["path"] = "nosuch://bucket/" + add["path"]

    edit_adds(t.spark, t.log, move)
    assert_refused(t, "FSCK_STORE_UNREACHABLE")


@pytest.mark.one_platform
def test_a_directory_in_place_of_a_file_is_not_a_lost_file(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    file = file_of(t, 2)
    lose(file)
    file.mkdir()
    (row,), totals = fsck(t)
    assert (row.problem, row.action, totals.version) == ("unknown", "none", None)


def test_names_that_need_quoting(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "a table %41")
    spark.sql(f"CREATE TABLE {t.sql_name} (id INT, p STRING) USING delta PARTITIONED BY (p)")
    for i, p in enumerate(["a b", "c/d=e", "%20", "ü"]):
        spark.sql(f"INSERT INTO {t.sql_name} VALUES ({i}, '{p}')")
    assert fsck(t)[1].findings == 0
    lose(file_of(t, 1))
    assert fsck(t)[1].rowsGone == 1
    assert t.ids() == [0, 2, 3]


def test_what_is_asked_wrongly(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    assert_refused(t, "INVALID_OPTION", "OPTIONS (mode = 'all')")
    assert_refused(t, "INVALID_OPTION", "OPTIONS (deep = 'perhaps')")
    assert_refused(t, "UNKNOWN_OPTION", "OPTIONS (threads = 3)")
    with pytest.raises(TypeError, match="mode"):
        UpkeepTable.forPath(spark, str(t.path)).fsck("check", options={"mode": "check"})
    with session_conf(spark, {"spark.deltaUpkeep.enabled": "false"}):
        assert_refused(t, "SWITCHED_OFF")

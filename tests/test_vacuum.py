"""VACUUM: the same files as Delta's, with reasons, by log and by listing."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Row, SparkSession

from conftest import DAY_SECONDS, Table, TableFactory
from delta_upkeep.errors import condition_of
from foreign.delta_rs import ids_by_delta_rs
from support.files import forget_checksum
from support.processes import DELTA
from support.sessions import session_conf

# Delta lists a directory in each of so many tasks.
pytestmark = pytest.mark.usefixtures("few_tasks")

ONE = pytest.mark.one_platform
OFF = {"spark.deltaUpkeep.enabled": "false"}
NO_CHECK = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}


@pytest.fixture(scope="module")
def few_tasks(spark: SparkSession) -> Iterator[None]:
    with session_conf(spark, {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "2"}):
        yield


def aged(t: Table, days: float) -> Table:
    """Make all commits, removals and files of a table older."""
    for commit in t.log.glob("*.json"):
        lines = [json.loads(line) for line in commit.read_text().splitlines()]
        for line in lines:
            if "remove" in line:
                line["remove"]["deletionTimestamp"] -= int(days * DAY_SECONDS * 1000)
        commit.write_text("\n".join(map(json.dumps, lines)) + "\n")
        # Hadoop's checksum of the old text.
        commit.with_name(f".{commit.name}.crc").unlink(missing_ok=True)
    # Those of the checkpoint are as they were.
    for file in [*t.log.glob("*.checkpoint*"), *t.log.glob("_last_checkpoint")]:
        file.unlink()
    then = time.time() - days * DAY_SECONDS
    for path in [*t.path.rglob("*")]:
        when = then + 60 * int(path.stem) if path.stem.isdigit() else then
        os.utime(path, (when, when))
    t.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return t


def names(t: Table) -> set[str]:
    """The files of a table outside its log, without checksums of Hadoop's local file system."""
    files = (path.relative_to(t.path) for path in t.path.rglob("*") if path.is_file())
    return {str(file) for file in files if file.parts[0] != "_delta_log" and file.name[0] != "."}


def path_of(t: Table, row: Row) -> str:
    return row.path.removeprefix("file:").removeprefix(f"{t.path}/")


def of_delta(t: Table, clause: str = "") -> set[str]:
    """What Delta would delete, without directories."""
    with session_conf(t.spark, OFF):
        rows = t.spark.sql(f"VACUUM {t.sql_name} {clause} DRY RUN").collect()
    return {path for path in (path_of(t, row) for row in rows) if (t.path / path).is_file()}


def planned(
    t: Table, clause: str = "", options: str = "mode = 'full'"
) -> tuple[Row, dict[str, str]]:
    """The totals, and the files that would be deleted with their reasons."""
    *files, total = t.spark.sql(
        f"VACUUM {t.sql_name} {clause} DRY RUN OPTIONS ({options})"
    ).collect()
    gone = {path_of(t, f): f.reason for f in files if (f.verdict, f.kind) == ("delete", "file")}
    return total, gone


def vacuum(t: Table, clause: str = "", options: str = "") -> Row:
    (row,) = t.spark.sql(f"VACUUM {t.sql_name} {clause} OPTIONS ({options})").collect()
    return row


@pytest.fixture(scope="module")
def lived_in_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vacuum") / "lived-in"
    live_in(Table(spark, path))
    return path


@pytest.fixture
def lived_in(spark: SparkSession, lived_in_once: Path, tmp_path: Path) -> Table:
    """All kinds of files: needed, removed, of vectors, of changes, orphans."""
    return Table(spark, Path(shutil.copytree(lived_in_once, tmp_path / "lived-in")))


def live_in(t: Table) -> None:
    t.create({"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"})
    t.append(1, 2, 3, 4, 5, 6)
    t.spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 1")
    t.spark.sql(f"UPDATE {t.sql_name} SET text = 'new' WHERE id IN (2, 3)")
    t.spark.sql(f"OPTIMIZE {t.sql_name}")
    t.spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 4")
    for name in (
        "orphan.parquet",
        "p=1/part with space %20 & ü.parquet",
        "p=7/.hidden.parquet",
        "p=7/_temporary/x.parquet",
        "_tmp/y.parquet",
        "_p=8/z.parquet",
        "metadata/v1.metadata.json",
        "_change_data/cdc-orphan.parquet",
        "_delta_index/i.bin",
        "deep/er/file.txt",
    ):
        (t.path / name).parent.mkdir(parents=True, exist_ok=True)
        (t.path / name).write_text("nobody knows me")


def test_the_same_files_as_delta(spark: SparkSession, lived_in: Table):
    t = lived_in
    time.sleep(0.01)
    for clause, settings in {"": {}, "RETAIN 0 HOURS": NO_CHECK}.items():
        with session_conf(spark, settings):
            total, gone = planned(t, clause)
            assert gone.keys() ^ of_delta(t, clause) == set()
            assert (len(gone), total.dryRun) == (total.filesDeleted - empty_directories(t), True)
    assert set(gone.values()) == {
        "removed before the retention",
        "named by no version inside retention",
    }
    assert "named by no version" in gone["p=1/part with space %20 & ü.parquet"]
    expected = t.ids()
    before = names(t)
    with session_conf(spark, NO_CHECK):
        row = vacuum(t, "RETAIN 0 HOURS", "mode = 'full'")
        assert before - names(t) == gone.keys()
        assert row.filesDeleted == total.filesDeleted
        assert of_delta(t, "RETAIN 0 HOURS") == set()
    spark.catalog.clearCache()
    assert t.ids() == expected


def empty_directories(t: Table) -> int:
    found = (path for path in t.path.rglob("*") if path.is_dir() and not any(path.iterdir()))
    return sum(not path.name.startswith("_") for path in found)


def test_what_is_inside_the_retention_stays(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    cut = t.version
    t.append(10, 11)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    t.spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 10")
    (t.path / "young.parquet").write_text("being written")
    expected = {version: t.ids(version) for version in range(cut, t.version + 1)}
    total, gone = planned(t)
    assert gone.keys() ^ of_delta(t) == set()
    assert "orphan.parquet" in gone and "young.parquet" not in gone
    assert total.oldestTimeTravelVersion == cut
    young = [r for r in total.reasons if r.reason.startswith("younger than the retention")]
    assert [r.files for r in young] == [1]
    row = vacuum(t, options="mode = 'full'")
    assert (row.oldestTimeTravelVersion, row.mode) == (cut, "full")
    assert {version: t.ids(version) for version in expected} == expected
    changes = spark.read.format("delta").option("readChangeFeed", "true")
    assert changes.option("startingVersion", cut + 1).load(str(t.path)).count() > 0


def test_by_log_nothing_is_listed(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    by_listing = {name for name, why in planned(t)[1].items() if why.startswith("removed")}
    _, gone = planned(t, options="mode = 'log'")
    assert by_listing <= gone.keys()
    assert "orphan.parquet" not in gone
    # Old files of the change data feed are named by commits alone.
    assert all(name.startswith("_change_data/") for name in gone.keys() - by_listing)
    row = vacuum(t)
    assert (row.mode, row.filesDeleted) == ("log", len(gone))
    assert row.message.startswith("reads what versions 0 to ")
    assert not gone.keys() & names(t)
    assert "orphan.parquet" in names(t)
    again = vacuum(t)
    assert (again.mode, again.filesDeleted) == ("log", 0)
    assert again.message.startswith("no commit has expired since the last VACUUM")
    assert t.ids() == [2, 3, 5, 6]


def test_commits_that_are_gone_are_made_up_for_by_listing(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=60)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    then = time.time() - 50 * DAY_SECONDS
    for file in t.log.glob(f"{t.version:020}.*"):
        os.utime(file, (then, then))
    cleaned = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert cleaned.filesDeleted > 0
    assert "VACUUM has not read versions 0 to" in cleaned.message
    with pytest.raises(AnalysisException) as caught:
        vacuum(t, options="mode = 'log'")
    assert condition_of(caught.value) == "DELTA_UPKEEP.COMMITS_CLEANED_UP"
    row = vacuum(t)
    assert row.mode == "full"
    assert re.match(
        r"lists all directories, because commits before version \d+ are gone", row.message
    )
    assert vacuum(t).mode == "log"
    assert t.ids() == [2, 3, 5, 6]


@pytest.mark.parametrize("by", ["an earlier run", pytest.param("the property", marks=ONE)])
def test_cleanup_log_writes_down_what_vacuum_has_not_read(
    spark: SparkSession, lived_in: Table, by: str
):
    t = lived_in
    if by == "the property":
        spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('deltaUpkeep.vacuum' = 'log')")
    else:
        vacuum(aged(t, days=10))
        assert (t.log / "_last_vacuum_info").exists()
    t.append(8, 9)
    spark.sql(f"UPDATE {t.sql_name} SET text = 'newer' WHERE id = 8")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id IN (5, 9)")
    expected = t.ids()
    aged(t, days=60)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    then = time.time() - 50 * DAY_SECONDS
    for file in t.log.glob(f"{t.version:020}.*"):
        os.utime(file, (then, then))
    gone = planned(t, options="mode = 'log'")[1]
    assert any(name.startswith("_change_data/") for name in gone)
    message = f"versions [0-9]+ to {t.version - 1} removed is written down for VACUUM"
    dry = spark.sql(f"CLEANUP LOG {t.sql_name} DRY RUN").collect()[-1]
    assert re.search(message, dry.message)
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert re.search(message, row.message)
    commits = [name for name in t.log_names() if name.endswith(".json")]
    assert commits == [f"{t.version:020}.json"]
    assert planned(t, options="mode = 'log'")[1] == gone
    # With limits a record is read more than once.
    assert vacuum(t, options="mode = 'log', maxFiles = 2").filesDeleted == 2
    assert vacuum(t, options="mode = 'log'").filesDeleted == len(gone) - 2
    assert not gone.keys() & names(t)
    assert vacuum(t, options="mode = 'log'").message.startswith("no commit has expired")
    again = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert {"VACUUM has read it": 1}.items() <= {r.reason: r.files for r in again.reasons}.items()
    assert not [name for name in t.log_names() if name.startswith("_removed_files")]
    spark.catalog.clearCache()
    assert t.ids() == expected
    assert ids_by_delta_rs(t.path) == expected


@ONE
def test_a_record_that_cannot_be_written_is_told(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=10)
    vacuum(t)
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 5")
    aged(t, days=60)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    then = time.time() - 50 * DAY_SECONDS
    for file in t.log.glob(f"{t.version:020}.*"):
        os.utime(file, (then, then))
    first = next(r.version for r in spark.sql(f"CLEANUP LOG {t.sql_name} DRY RUN").collect())
    assert first == 0
    unread = json.loads((t.log / "_last_vacuum_info").read_text())
    seen = unread["latestCommitVersionOutsideOfRetentionWindow"]
    damaged = t.log / f"{seen + 1:020}.json"
    damaged.write_text("{")
    os.utime(damaged, (then, then))
    forget_checksum(damaged)
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert row.filesDeleted > 0
    assert "That failed, so the next VACUUM will list all directories:" in row.message
    assert vacuum(t).mode == "full"


def test_limits_take_the_oldest_first(spark: SparkSession, table: TableFactory):
    t = aged(table(1), days=30)
    for i in range(4):
        file = t.path / f"orphan{i}"
        file.write_text("x" * 10)
        when = time.time() - (20 - i) * DAY_SECONDS
        os.utime(file, (when, when))
    assert planned(t, options="mode = 'full', maxFiles = 2")[1].keys() == {"orphan0", "orphan1"}
    assert planned(t, options="mode = 'full', maxBytes = 35")[1].keys() == {
        "orphan0",
        "orphan1",
        "orphan2",
    }
    row = vacuum(t, options="mode = 'full', maxFiles = 3")
    assert (row.filesDeleted, row.bytesDeleted) == (3, 30)
    left = [r for r in row.reasons if r.reason.startswith("left to a later run")]
    assert [(r.files, r.bytes) for r in left] == [(1, 10)]
    assert not (t.log / "_last_vacuum_info").exists()
    assert vacuum(t, options="mode = 'full'").filesDeleted == 1
    assert (t.log / "_last_vacuum_info").exists()


def test_limits_by_log_go_on_where_they_stopped(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    everything = planned(t, options="mode = 'log'")[1].keys()
    left = set(everything)
    for _ in range(len(everything)):
        gone = planned(t, options="mode = 'log', maxFiles = 4")[1].keys()
        assert vacuum(t, options="mode = 'log', maxFiles = 4").filesDeleted == len(gone & left)
        left -= gone
        if not left:
            break
    assert left == set()
    assert t.ids() == [2, 3, 5, 6]


def test_files_of_another_store_are_not_guessed_at(spark: SparkSession, table: TableFactory):
    t = aged(table(1, 2), days=30)
    newest = t.log / f"{t.version:020}.json"
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["path"] = f"elsewhere://bucket{t.path}/{line['add']['path']}"
    newest.write_text("\n".join(map(json.dumps, lines)) + "\n")
    newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    before = names(t)
    for size in ("256m", "0"):
        with session_conf(spark, {"spark.deltaUpkeep.driverBytes": size}):
            with pytest.raises(AnalysisException) as caught:
                vacuum(t, options="mode = 'full'")
            assert condition_of(caught.value) == "DELTA_UPKEEP.FILES_ELSEWHERE"
            ignore = {"spark.databricks.delta.vacuum.relativize.ignoreError": "true"}
            with session_conf(spark, ignore):
                # Its name is that of a file here, which is kept.
                assert vacuum(t, options="mode = 'full'").filesDeleted == 0
    assert names(t) == before


def test_a_job_finds_the_same(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    t.append(7)
    expected = planned(t)[1]
    with session_conf(spark, {"spark.deltaUpkeep.driverBytes": "0"}):
        assert planned(t)[1].keys() == expected.keys()


@pytest.mark.parametrize(
    "asked", ["clause", *(pytest.param(by, marks=ONE) for by in ("query", "option"))]
)
def test_an_inventory_takes_the_place_of_the_listing(
    spark: SparkSession, lived_in: Table, asked: str
):
    t = aged(lived_in, days=30)
    t.append(7)
    rows = [
        (f"file:{path}", path.stat().st_size, path.is_dir(), int(path.stat().st_mtime * 1000))
        for path in t.path.rglob("*")
        if path.suffix != ".crc"
    ]
    # With the time of none of its files.
    nested = Table(spark, t.path / "p=5/nested").create({})
    nested.append(1)
    rows += [(f"file:{file}", 1, False, 1) for file in nested.path.rglob("*.parquet")]
    rows += [(f"file:{t.path}/being-written", 1, False, 1)]
    (t.path / "being-written").write_text("the time in the inventory is wrong")
    rows += [("file:/elsewhere/orphan.parquet", 1, False, 1), (None, 1, False, 1)]
    rows += [(f"s3a://bucket{t.path}/orphan.parquet", 1, False, 1)]
    rows += [(f"file:{t.path}/no-time", 1, False, None), (f"file:{t.path}/gone", 1, False, 1)]
    inventory = spark.createDataFrame(
        rows, "path string, length long, isDir boolean, modificationTime long"
    )
    inventory.createOrReplaceTempView("inventory")
    clause = {"clause": "USING INVENTORY inventory", "option": ""}.get(
        asked, "USING INVENTORY (SELECT 'x' AS more, * FROM inventory WHERE length > 0)"
    )
    options = "inventory = 'inventory'" if asked == "option" else ""
    expected = {name for name, _ in planned(t)[1].items()}
    # Delta believes the inventory. It deletes hidden files in one, and finds none in a directory.
    wrong = {"gone", "being-written", *(str(f.relative_to(t.path)) for f in nested.path.rglob("*"))}
    hidden = {"p=7/.hidden.parquet", "p=7/_temporary/x.parquet", "metadata/v1.metadata.json"}
    timed = "(SELECT * FROM inventory WHERE modificationTime > 0)"
    deltas = of_delta(t, f"USING INVENTORY {timed}")
    assert expected <= deltas <= expected | wrong | hidden
    total, gone = planned(t, clause, options)
    # The store is asked for those that would go.
    assert gone.keys() == expected
    assert asked == "option" or set(plain(t, f"{clause} DRY RUN")) == expected
    assert total.mode == "inventory"
    assert {r.reason: r.files for r in total.reasons}[
        "younger than the retention, and may be part of a commit to come"
    ] == 2
    before = names(t)
    row = vacuum(t, clause, options)
    assert before - names(t) == expected
    assert row.filesDeleted == len(expected)
    assert not (t.log / "_last_vacuum_info").exists()
    assert t.ids() == [2, 3, 5, 6, 7]


@ONE
def test_an_inventory_that_cannot_be_used_is_refused(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    before = t.all_files()
    columns = "length, isDir, modificationTime"
    one = "1L AS length, false AS isDir, 1L AS modificationTime"
    for inventory, cause in {
        "no_such_table": "no_such_table",
        "(SELECT 1 AS path, 1 AS length, false AS isDir, 1L AS modificationTime)": "path is INT",
        f"(SELECT path, {columns[:13]} FROM (SELECT '/x' AS path, {one}))": "UNRESOLVED_COLUMN",
        f"(SELECT 's3://other/x' AS path, {one})": "None of its files is in the store",
    }.items():
        with pytest.raises(PySparkException) as refused:
            vacuum(t, f"USING INVENTORY {inventory}", "mode = 'full'")
        assert condition_of(refused.value) == "DELTA_UPKEEP.INVENTORY_NOT_READABLE"
        assert cause in str(refused.value)
    with pytest.raises(PySparkException) as refused:
        vacuum(t, "LITE USING INVENTORY no_such_table")
    assert condition_of(refused.value) == "DELTA_UPKEEP.INVALID_OPTION"
    assert t.all_files() == before


def entries(t: Table) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
    rows = t.spark.sql(f"DESCRIBE HISTORY {t.sql_name}").orderBy("version").collect()
    found = [row for row in rows if row.operation.startswith("VACUUM")]
    return [(row.operation, row.operationParameters, row.operationMetrics) for row in found]


@pytest.mark.parametrize("mode", ["full", "log"])
def test_files_of_clones_stay(spark: SparkSession, table: TableFactory, tmp_path: Path, mode: str):
    t = table(1, 2, 3, 4)
    clone = Table(spark, tmp_path / "a, clone")
    spark.sql(f"CREATE TABLE {clone.sql_name} SHALLOW CLONE {t.sql_name}")
    spark.sql(f"DELETE FROM {clone.sql_name} WHERE id = 1")
    t.append(5)
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id IN (1, 2, 5)")
    aged(t, 30)
    total, gone = planned(t, options=f"mode = '{mode}'")
    # The clone's log still names the file that it removed.
    kept = f"mode = '{mode}', keepFor = '{clone.sql_name}, {clone.sql_name}'"
    total, less = planned(t, options=kept)
    assert len(gone) == 3 and len(less) == 1
    assert {r.reason: r.files for r in total.reasons}["needed by a table that keepFor names"] == 2
    stranger = Table(spark, tmp_path / "stranger").create({})
    for wrong in ("no_such.clone", stranger.sql_name):
        with pytest.raises(PySparkException) as refused:
            vacuum(t, options=f"mode = '{mode}', keepFor = '{clone.sql_name}, {wrong}'")
        assert condition_of(refused.value) == "DELTA_UPKEEP.CLONE_NOT_READABLE"
    assert planned(t, options=f"mode = '{mode}', keepFor = '{t.sql_name}'")[1] == gone
    assert vacuum(t, options=kept).filesDeleted == 1
    assert clone.ids() == [2, 3, 4]
    # The property counts as well, and the files go once no clone is named.
    keep = f"'deltaUpkeep.vacuum.keepFor' = '{clone.sql_name}'"
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ({keep})")
    assert vacuum(t, options=f"mode = '{mode}'").filesDeleted == 0
    spark.sql(f"ALTER TABLE {t.sql_name} UNSET TBLPROPERTIES ('deltaUpkeep.vacuum.keepFor')")
    assert vacuum(t, options=f"mode = '{mode}'").filesDeleted == 2


def test_the_history_is_as_of_delta(spark: SparkSession, table: TableFactory):
    ours, deltas = (aged(table(1, 2), days=30) for _ in range(2))
    for t in (ours, deltas):
        orphan = t.path / "p=0/orphan"
        orphan.write_text("x" * 10)
        os.utime(orphan, (1, 1))
    with session_conf(spark, OFF):
        assert spark.sql(f"VACUUM {deltas.sql_name}").columns == ["path"]
    assert spark.sql(f"VACUUM {ours.sql_name}").first().filesDeleted == 1
    assert entries(ours) == entries(deltas)
    assert len(entries(ours)) == 2


def test_retentions_are_checked(spark: SparkSession, table: TableFactory):
    t = table(1)
    before = t.all_files()
    for clause, condition in {
        "RETAIN -1 HOURS": "NEGATIVE_RETENTION",
        "RETAIN 0 HOURS": "RETENTION_TOO_SHORT",
    }.items():
        with pytest.raises(AnalysisException) as caught:
            vacuum(t, clause)
        assert condition_of(caught.value) == f"DELTA_UPKEEP.{condition}"
        assert "VACUUM" in str(caught.value)
    if DELTA >= (4, 1):
        assert vacuum(t, "RETAIN 1 HOURS").filesDeleted == 0, "Delta ignores it too"
    else:
        with pytest.raises(AnalysisException, match="RETENTION_TOO_SHORT"):
            vacuum(t, "RETAIN 1 HOURS")
        assert t.all_files() == before


def plain(t: Table, clauses: str, deltas: bool = False) -> list[str]:
    """The first column of a VACUUM without options: Delta's only one."""
    conf = OFF if deltas else {}
    with session_conf(t.spark, NO_CHECK | conf):
        rows = t.spark.sql(f"VACUUM {t.sql_name} {clauses}").collect()
    paths = sorted(path_of(t, Row(path=row[0])) for row in rows)
    # Delta also names directories that it cannot delete, because hidden files are in them.
    return [
        path for path in paths if (t.path / path).is_file() or not any((t.path / path).iterdir())
    ]


def test_without_options_it_is_as_of_delta(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    anyhow = ("DRY RUN RETAIN 0 HOURS",) if DELTA >= (3, 3) else ()
    for clauses in ("DRY RUN", "RETAIN 0.4 HOURS DRY RUN", "RETAIN 0 HOURS DRY RUN", *anyhow):
        expected = plain(t, clauses, deltas=True)
        assert len(expected) > 8 and plain(t, clauses) == expected
    if DELTA >= (3, 3):
        by_log = plain(t, "LITE DRY RUN", deltas=True)
        assert by_log and plain(t, "LITE DRY RUN") == by_log
        assert plain(t, "FULL DRY RUN") == expected
        with session_conf(spark, {"spark.databricks.delta.vacuum.lite.enabled": "true"}):
            assert plain(t, "DRY RUN") == by_log
            assert plain(t, "FULL DRY RUN") == expected
    before = names(t)
    gone = {path for path in expected if (t.path / path).is_file()}
    for wrong in (f"{t.path}/p=1", f"{t.path}@v1"):
        with pytest.raises(AnalysisException):
            spark.sql(f"VACUUM '{wrong}'")
    assert names(t) == before
    (total,) = spark.sql(f"VACUUM {t.sql_name}").collect()
    assert (total[0].removeprefix("file:"), total.mode) == (str(t.path), "full")
    assert before - names(t) == gone


def test_the_method_of_delta_table_deletes_the_same(spark: SparkSession, lived_in: Table):
    t = aged(lived_in, days=30)
    expected = of_delta(t)
    before = names(t)
    DeltaTable.forPath(spark, str(t.path)).vacuum()
    assert expected and before - names(t) == expected
    assert (t.log / "_last_full_vacuum_info").exists() == (DELTA >= (4, 0))


def test_a_table_that_is_switched_off_is_left_to_delta(spark: SparkSession, table: TableFactory):
    t = table(1)
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('deltaUpkeep.enabled' = 'false')")
    for clauses in ("", "DRY RUN"):
        assert spark.sql(f"VACUUM {t.sql_name} {clauses}").columns == ["path"]
    with pytest.raises(AnalysisException, match="SWITCHED_OFF"):
        vacuum(t)


def test_what_it_will_do_is_explained(spark: SparkSession, table: TableFactory):
    t = table(1)
    plan = spark.sql(f"EXPLAIN VACUUM {t.sql_name} OPTIONS (mode = 'full')").first()[0]
    assert "lists all directories, because mode is full" in plan
    with pytest.raises(PySparkException):
        spark.sql(f"VACUUM {t.sql_name} OPTION (mode = 'full')")

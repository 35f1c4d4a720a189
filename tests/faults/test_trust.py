"""Hostile logs, names and texts: what is outside a table stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow
import pytest
from delta.tables import DeltaTable
from pyarrow.parquet import write_table
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conftest import DAY_SECONDS, Table, TableFactory
from delta_upkeep import UpkeepTable
from foreign.delta_rs import ids_by_delta_rs
from foreign.kernel import tombstones_by_kernel
from support.sessions import session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

OUTSIDE = (
    "{victim}/0.parquet",
    "file:{victim}/1.parquet",
    "file://{victim}/2.parquet",
    "../victim/3.parquet",
    "p=1/../../victim/4.parquet",
    "%2e%2e%2fvictim%2f5.parquet",
    "p=1%2F..%2F..%2Fvictim%2F6.parquet",
)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A directory beside the table, with data files of its columns, ids from 100."""
    directory = tmp_path / "victim"
    directory.mkdir()
    for i in range(len(OUTSIDE)):
        rows = pyarrow.table({"id": [100 + i], "text": ["not yours"]})
        write_table(rows, directory / f"{i}.parquet")
    make_old(*directory.iterdir())
    return directory


def make_old(*files: Path) -> None:
    old = time.time() - 40 * DAY_SECONDS
    for file in files:
        os.utime(file, (old, old), follow_symlinks=False)


def state(files: list[Path]) -> dict[str, tuple[int, bytes]]:
    """What files hold and when they were written, and of directories when a file came or went."""
    return {
        str(file): (file.lstat().st_mtime_ns, file.read_bytes() if file.is_file() else b"")
        for file in files
    }


def beside(path: Path) -> dict[str, tuple[int, bytes]]:
    """The state of all that is beside a table."""
    files = (file for other in path.parent.iterdir() if other != path for file in tree(other))
    return state(list(files))


def tree(root: Path) -> list[Path]:
    return [root, *root.rglob("*")]


def forget(spark: SparkSession) -> None:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def commit(t: Table, *actions: dict[str, Any]) -> None:
    """Write the next version as Delta never would."""
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    (t.log / f"{t.version + 1:020}.json").write_text(lines)
    forget(t.spark)


def add(path: str, file: Path) -> dict[str, Any]:
    return {
        "add": {
            "path": path,
            "partitionValues": {"p": "1"},
            "size": file.stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
            "stats": '{"numRecords":1}',
        }
    }


def actions_of(log: Path, version: int, kind: str) -> list[dict[str, Any]]:
    lines = (log / f"{version:020}.json").read_text().splitlines()
    return [action[kind] for action in map(json.loads, lines) if kind in action]


def assert_new_files_are_inside(path: Path, version: int) -> None:
    added = actions_of(path / "_delta_log", version, "add")
    for file in (Path(unquote(action["path"])) for action in added):
        assert not file.is_absolute() and ".." not in file.parts
        assert (path / file).is_file()
    assert added


def test_data_files_outside_are_read_and_left_alone(
    spark: SparkSession, table: TableFactory, victim: Path
):
    t = table(1, 2, 3, enableExpiredLogCleanup="true")
    paths = [path.format(victim=victim) for path in OUTSIDE]
    commit(t, *(add(path, victim / f"{i}.parquet") for i, path in enumerate(paths)))
    ids = [1, 2, 3, *range(100, 100 + len(paths))]
    assert t.ids() == ids
    before = beside(t.path)
    row = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert row.metrics.numFilesRemoved == 2 + len(paths)
    assert_new_files_are_inside(t.path, row.version)
    assert t.ids() == ids_by_delta_rs(t.path) == ids
    assert spark.sql(f"CHECKPOINT {t.sql_name}").first().status == "written"
    assert len(tombstones_by_kernel(spark, t.path)) == 2 + len(paths)
    t.append(4)
    t.age_log(days=40, up_to=t.version)
    data = state(list(t.path.glob("p=*/*")))
    assert spark.sql(f"CLEANUP LOG {t.sql_name}").first().filesDeleted > 0
    assert state(list(t.path.glob("p=*/*"))) == data
    steps = spark.sql(f"MAINTAIN {t.sql_name}").collect()
    assert [step.status for step in steps] == ["done", "not due", "skipped", "not due"]
    forget(spark)
    assert t.ids() == sorted([*ids, 4])
    assert beside(t.path) == before


@pytest.mark.parametrize("statement", ["OPTIMIZE", "MAINTAIN"])
def test_what_cannot_be_read_outside_stays_too(
    spark: SparkSession, table: TableFactory, victim: Path, statement: str
):
    t = table(1, 3)
    secret = victim / "secret"
    secret.write_text("no Parquet")
    commit(t, add("../victim/secret", secret))
    before, ours = beside(t.path), t.all_files()
    with pytest.raises(AnalysisException, match=r"DATA_FILE_DAMAGED.*file:.*/victim/secret"):
        spark.sql(f"{statement} {t.sql_name}")
    assert beside(t.path) == before
    assert t.all_files() == ours


def test_partition_values_are_no_paths(spark: SparkSession, tmp_path: Path, victim: Path):
    path = tmp_path / "t"
    name = f"delta.`{path}`"
    values = ("../victim", "/victim", "a/../../victim", "%2e%2e%2fvictim")
    rows = ", ".join(f"({i}, '{value}')" for i, value in enumerate(values))
    spark.sql(f"CREATE TABLE {name} (id BIGINT, p STRING) USING delta PARTITIONED BY (p)")
    for _ in range(2):
        spark.sql(f"INSERT INTO {name} VALUES {rows}")
    before = beside(path)
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert row.metrics.numFilesAdded == len(values)
    assert_new_files_are_inside(path, row.version)
    found = {(row.id, row.p) for row in spark.table(name).collect()}
    assert found == set(enumerate(values))
    assert beside(path) == before


def with_a_sidecar_elsewhere(t: Table, victim: Path, path: str) -> None:
    """Have a checkpoint name a sidecar in another directory; one of its name stays."""
    t.spark.sql(f"CHECKPOINT {t.sql_name} OPTIONS (policy = 'v2', format = 'json')")
    (sidecar,) = t.log.glob("_sidecars/*.parquet")
    (checkpoint,) = t.log.glob("*.checkpoint.*.json")
    shutil.copy(sidecar, victim)
    elsewhere = path.format(victim=victim, name=sidecar.name)
    checkpoint.write_text(checkpoint.read_text().replace(sidecar.name, elsewhere))
    (t.log / f".{checkpoint.name}.crc").unlink()
    (t.log / "_last_checkpoint").unlink()
    forget(t.spark)


ELSEWHERE = ("../../../victim/{name}", "file://{victim}/{name}")


@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_checkpoint_is_not_built_on_sidecars_outside(
    spark: SparkSession, table: TableFactory, victim: Path, path: str
):
    t = table(1, 2, checkpointPolicy="v2", checkpointInterval="1000")
    with_a_sidecar_elsewhere(t, victim, path)
    for decoy in t.log.glob("_sidecars/*.parquet"):
        decoy.unlink()
    t.append(3)
    before = beside(t.path)
    row = spark.sql(f"CHECKPOINT {t.sql_name}").first()
    assert (row.mode, row.numAddFiles) == ("full", 3)
    assert "the last checkpoint has sidecars outside their directory" in row.reason
    forget(spark)
    assert t.ids() == ids_by_delta_rs(t.path) == [1, 2, 3]
    assert beside(t.path) == before


@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_cleanup_does_not_stand_on_sidecars_outside(
    spark: SparkSession, table: TableFactory, victim: Path, path: str
):
    t = table(1, 2, checkpointPolicy="v2", checkpointInterval="1000")
    with_a_sidecar_elsewhere(t, victim, path)
    t.append(3)
    t.age_log(days=40, up_to=t.version)
    make_old(*t.log.glob("_sidecars/*"), *victim.iterdir())
    before, names = beside(t.path), t.log_names()
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert row.filesDeleted == 0
    assert "no complete checkpoint at or before version 3" in row.message
    assert t.log_names() == names
    assert beside(t.path) == before


def expired_table(table: TableFactory) -> Table:
    """Versions 0 to 4, all of them expired, and a checkpoint of version 3."""
    t = table(1, 2, 3, enableExpiredLogCleanup="false")
    t.spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(4)
    t.age_log(days=40, up_to=t.version)
    return t


def test_links_in_the_log_go_and_what_they_lead_to_stays(
    spark: SparkSession, table: TableFactory, victim: Path
):
    t = expired_table(table)
    first = t.log / f"{0:020}.json"
    first.replace(victim / first.name)
    links = {first: first.name, t.log / ".a.tmp": "0.parquet", t.log / ".directory.tmp": "."}
    for link, to in links.items():
        link.symlink_to(victim / to)
    before = beside(t.path)
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert (row.filesDeleted, row.oldestReadableVersion) == (7, 3)
    assert [link.name for link in links if link.is_symlink()] == [".directory.tmp"]
    assert beside(t.path) == before


@pytest.mark.parametrize(
    ("directory", "name"),
    [("_sidecars", "0.parquet"), ("_staged_commits", f"{0:020}.0-0.json"), ("_sidecars", ".a.tmp")],
)
def test_nothing_goes_behind_a_linked_directory(
    spark: SparkSession, table: TableFactory, victim: Path, directory: str, name: str
):
    t = expired_table(table)
    behind = victim / directory
    behind.mkdir()
    (behind / name).write_text("not yours")
    make_old(behind / name)
    if (t.log / directory).exists():
        (t.log / directory).rmdir()
    (t.log / directory).symlink_to(behind)
    before, names = beside(t.path), t.log_names()
    with pytest.raises(AnalysisException, match="is a link to another location") as caught:
        spark.sql(f"CLEANUP LOG {t.sql_name}")
    assert caught.value.getCondition() == "DELTA_UPKEEP.LOG_DIRECTORY_IS_LINK"
    assert t.log_names() == names
    assert spark.sql(f"DESCRIBE HEALTH {t.sql_name}").where("`check` = 'log'").count() == 1
    assert beside(t.path) == before


def test_names_in_the_log_are_names(spark: SparkSession, table: TableFactory, victim: Path):
    t = expired_table(table)
    (t.log / "_sidecars").mkdir()

    def made(*names: str) -> list[Path]:
        files = [t.log / f".{name}.tmp" for name in names]
        files += [t.log / "_sidecars" / f"{name}.parquet" for name in names]
        for file in files:
            file.write_text("")
        make_old(*files)
        return files

    strange = made("%2e%2e%2f%2e%2e%2fvictim%2f0", "..\\..\\victim")
    unknown = made("x:y", "file:a")
    before, data = beside(t.path), state(list(t.path.glob("p=*/*")))
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert row.filesDeleted >= len(strange)
    assert not any(file.exists() for file in strange)
    assert all(file.exists() for file in unknown)
    assert state(list(t.path.glob("p=*/*"))) == data
    assert beside(t.path) == before


HOSTILE = 'it\'s; DROP TABLE t -- "q" `b` /* $HOME %2e%2e'


def test_paths_from_python_are_one_value(spark: SparkSession, tmp_path: Path):
    path = tmp_path / HOSTILE
    for i in range(3):
        spark.range(i, i + 1).coalesce(1).write.format("delta").mode("append").save(str(path))
    before = beside(path)
    quoted = str(path).replace("`", "``")
    by_path = UpkeepTable.forPath(spark, str(path))
    by_name = UpkeepTable.forName(spark, f"delta.`{quoted}`")
    report = by_path.health()
    assert report.path == by_name.health().path == f"file:{path}"
    remedies = {check.remedy for check in report.findings if check.remedy}
    assert any(remedy.startswith("OPTIMIZE") for remedy in remedies)
    for remedy in remedies:
        spark.sql(remedy)
    assert by_path.history(1).first().operation == "OPTIMIZE"
    rows = [
        by_name.optimize().executeZOrderBy("id").first(),
        by_path.checkpoint().first(),
        by_name.cleanupLog().first(),
        by_path.maintain().first(),
    ]
    assert {row.path for row in rows} == {f"file:{path}"}
    assert by_path.toDF().count() == 3
    assert beside(path) == before


@pytest.mark.parametrize(
    "name",
    [
        "{t}; DROP TABLE {t}",
        "`{t}; DROP TABLE {t}`",
        "{t} FULL",
        "{t}` WHERE p = 1 --`",
        "delta.`/nowhere`; DROP TABLE {t}",
        "delta.`/nowhere'; DROP TABLE {t}`",
    ],
)
def test_names_from_python_are_one_value(spark: SparkSession, catalog_table: str, name: str):
    with pytest.raises(AnalysisException) as caught:
        UpkeepTable.forName(spark, name.format(t=catalog_table)).optimize().executeCompaction()
    assert caught.value.getCondition()
    assert spark.sql(f"DESCRIBE HISTORY {catalog_table}").count() == 5


@pytest.mark.parametrize(
    "texts",
    [
        ["p = 1; DROP TABLE {t}"],
        ["p = 1 OPTIONS (maxFiles = 1)"],
        ["p = 1 ZORDER BY (id)"],
        ["p = 1) OR (p = 0"],
        ["p = 1) OR (p = 0", "p = 1"],
        ["p = 1", "p = 1) OR (p = 0"],
        ["p = 1 /*", "*/"],
    ],
)
def test_predicates_from_python_are_one_value_each(
    spark: SparkSession, catalog_table: str, texts: list[str]
):
    optimize = UpkeepTable.forName(spark, catalog_table).optimize()
    for text in texts:
        optimize.where(text.format(t=catalog_table))
    with pytest.raises(AnalysisException) as caught:
        optimize.executeCompaction()
    assert caught.value.getCondition() == "DELTA_UPKEEP.INVALID_PREDICATE"
    assert spark.sql(f"DESCRIBE HISTORY {catalog_table}").count() == 5


def test_a_comment_in_a_predicate_ends_with_it(spark: SparkSession, catalog_table: str):
    optimize = UpkeepTable.forName(spark, catalog_table).optimize()
    planned = optimize.where("p = 1 -- or").where("p = 0").dryRun().first()
    assert planned.metrics.totalConsideredFiles == 0
    deltas = DeltaTable.forName(spark, catalog_table).optimize()
    row = deltas.where("p = 1").where("p = 0 OR p = 2").executeCompaction().first()
    assert row.metrics.totalConsideredFiles == 0


def test_options_from_python_are_one_value_each(spark: SparkSession, catalog_table: str):
    optimize = UpkeepTable.forName(spark, catalog_table).optimize()
    with pytest.raises(AnalysisException) as caught:
        optimize.option("targetFileSize", "1m', maxFiles = '1").dryRun()
    assert caught.value.getCondition() == "DELTA_UPKEEP.INVALID_OPTION"


COLUMNS = ("`a b`", "`a.b`", "`a``b`", "a.b")


def ordered_table(spark: SparkSession, path: Path) -> UpkeepTable:
    """Ids 0 to 3; each of the columns is in order when the id is that of its place."""
    name = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {name} (id INT, `a b` INT, `a.b` INT, `a``b` INT, a STRUCT<b: INT>) "
        "USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for i in (2, 0, 3, 1):
        values = [(i + shift) % 4 for shift in range(4)]
        spark.sql(
            f"INSERT INTO {name} SELECT {i}, {values[0]}, {values[1]}, {values[2]}, "
            f"named_struct('b', {values[3]})"
        )
    return UpkeepTable.forPath(spark, str(path))


@pytest.mark.parametrize("shift", range(4))
def test_columns_to_order_by_are_one_name_each(spark: SparkSession, tmp_path: Path, shift: int):
    upkeep = ordered_table(spark, tmp_path / "t")
    with session_conf(spark, {"spark.databricks.io.skipping.mdc.sortWithinFiles": "true"}):
        row = upkeep.optimize().executeZOrderBy(COLUMNS[shift]).first()
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (4, 1)
    assert [row.id for row in upkeep.toDF().collect()] == [(i - shift) % 4 for i in range(4)]


def test_text_in_columns_to_order_by_is_a_name(spark: SparkSession, tmp_path: Path):
    upkeep = ordered_table(spark, tmp_path / "t")
    for text in ("id; DROP TABLE t", "id) DRY RUN --", "`id`; DROP TABLE t", "id`"):
        with pytest.raises(AnalysisException) as caught:
            upkeep.optimize().executeZOrderBy(text)
        assert caught.value.getCondition() in (
            "DELTA_UPKEEP.ZORDER_COLUMN",
            "INVALID_ATTRIBUTE_NAME_SYNTAX",
        )
    assert upkeep.optimize().dryRun("a b").first().metrics.numFilesRemoved == 4
    assert upkeep.history().count() == 5

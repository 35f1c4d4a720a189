"""CHECKPOINT: a state that others read without the commits before it."""

import json
import shutil
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from foreign.delta_rs import adds_by_delta_rs, ids_by_delta_rs, tombstones_by_delta_rs
from foreign.kernel import adds_by_kernel, files_by_kernel, has_kernel, tombstones_by_kernel
from support.processes import DELTA
from support.sessions import as_arrow


def hide_older_commits(t: Table) -> None:
    for file in t.log.iterdir():
        number = file.name.split(".")[0]
        if file.suffix == ".crc" or (number.isdigit() and int(number) < t.version):
            file.unlink()


def assert_others_read_it(spark: SparkSession, t: Table, files: int, ids: list[int]) -> None:
    hide_older_commits(t)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert t.ids() == ids
    assert ids_by_delta_rs(t.path) == ids
    if has_kernel():
        assert files_by_kernel(spark, t.path) == files


@pytest.mark.parametrize(
    ("options", "properties", "policy", "parts"),
    [
        ("", {}, "classic", {1}),
        # A plan counts every action of the log where Delta, until 3.2, leaves no counts.
        ("OPTIONS (partSize = 2)", {}, "classic", {4} if DELTA < (3, 3) else {2}),
        ("", {"checkpointPolicy": "v2"}, "v2", {1}),
        (
            "OPTIONS (format = 'parquet', partSize = 2)",
            {"checkpointPolicy": "v2"},
            "v2",
            # Two threads fill them, of one or two files each.
            {2, 3},
        ),
        ("OPTIONS (policy = 'classic')", {"checkpointPolicy": "v2"}, "classic", {1}),
    ],
)
def test_every_layout_is_read_by_others(
    spark: SparkSession, table: TableFactory, options, properties, policy, parts
):
    t = table(1, 2, 3, 4, **properties)
    row = spark.sql(f"CHECKPOINT {t.sql_name} {options}").first()
    assert (row.version, row.policy, row.status) == (4, policy, "written")
    assert row.parts in parts
    assert row.numAddFiles == 4
    pointer = json.loads((t.log / "_last_checkpoint").read_text())
    assert (pointer["version"], pointer["numOfAddFiles"]) == (4, 4)
    assert "checksum" in pointer
    assert_others_read_it(spark, t, files=4, ids=[1, 2, 3, 4])


@pytest.mark.parametrize("layout", ["json", "parquet"])
def test_one_built_on_the_last_is_read_by_others(
    spark: SparkSession, table: TableFactory, layout: str
):
    t = table(1, 2, 3, 4, checkpointPolicy="v2", checkpointInterval="1000")
    statement = f"CHECKPOINT {t.sql_name} OPTIONS (format = '{layout}', partSize = 4)"
    assert spark.sql(statement).first().mode == "full"
    t.append(5)
    assert spark.sql(statement).first().mode == "incremental"
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 2")
    t.append(6)
    row = spark.sql(statement).first()
    assert (row.mode, row.numAddFiles) == ("incremental", 5)
    pointer = json.loads((t.log / "_last_checkpoint").read_text())
    assert (pointer["version"], pointer["numOfAddFiles"]) == (7, 5)
    assert_others_read_it(spark, t, files=5, ids=[1, 3, 4, 5, 6])


def log_of(t: Table, to: Path, *, commits: bool) -> Path:
    """Copy the log: its commits alone, or the newest checkpoint without any commit before it."""
    shutil.copytree(t.path, to)
    for file in (to / "_delta_log").rglob("*"):
        is_commit = file.suffix == ".json" and file.stem.isdigit()
        is_kept = is_commit if commits else not is_commit or int(file.stem) == t.version
        if file.is_file() and (not is_kept or file.suffix == ".crc"):
            file.unlink()
    return to


def assert_others_read_the_same_state(spark: SparkSession, t: Table, directory: Path) -> None:
    """Delta Kernel and delta-rs read from the newest checkpoint what they read from the commits."""
    commits = log_of(t, directory / f"commits{t.version}", commits=True)
    alone = log_of(t, directory / f"alone{t.version}", commits=False)
    if has_kernel():
        assert adds_by_kernel(spark, alone) == adds_by_kernel(spark, commits)
        assert tombstones_by_kernel(spark, alone) == tombstones_by_kernel(spark, commits)
    assert adds_by_delta_rs(alone) == adds_by_delta_rs(commits)
    assert tombstones_by_delta_rs(alone) == tombstones_by_delta_rs(commits)


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_others_read_the_whole_state(
    spark: SparkSession, table: TableFactory, tmp_path: Path, policy: str
):
    t = table(1, 2, 3, 4, 5, 6, checkpointPolicy=policy, checkpointInterval="1000")
    spark.sql(f"INSERT INTO {t.sql_name} VALUES (7, NULL, NULL)")
    spark.sql(f"UPDATE {t.sql_name} SET text = 'other' WHERE id = 3")
    assert spark.sql(f"CHECKPOINT {t.sql_name}").first().mode == "full"
    assert_others_read_the_same_state(spark, t, tmp_path)
    t.append(8)
    assert "1 of " in spark.sql(f"CHECKPOINT {t.sql_name}").first().reason
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 8")
    t.append(9)
    row = spark.sql(f"CHECKPOINT {t.sql_name}").first()
    # The first of them names no file that changed since, and the others are written again.
    assert row.mode == "incremental" and "1 of " in row.reason
    assert_others_read_the_same_state(spark, t, tmp_path)
    if policy == "classic":
        file = str(t.log / f"{t.version:020}.checkpoint.parquet")
        rows = in_order(as_arrow(spark.read.parquet(file)))
        assert in_order(pyarrow.parquet.read_table(file)) == rows
        found = duckdb.sql("SELECT * FROM read_parquet($1)", params=[file])
        assert in_order(found.to_arrow_table()) == rows


def in_order(actions: pyarrow.Table) -> list[str]:
    return sorted(map(str, actions.to_pylist()))


def test_again_is_a_no_op_that_says_so(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    before = t.all_files()
    row = spark.sql(f"CHECKPOINT {t.sql_name}").first()
    assert (row.status, row.dryRun) == ("exists", False)
    assert "of this version exists" in row.reason
    assert t.all_files() == before


@pytest.mark.parametrize("policy", ["classic", "v2"])
@pytest.mark.parametrize("pointer", [None, "behind", "no JSON"])
def test_again_mends_the_pointer(
    spark: SparkSession, table: TableFactory, policy: str, pointer: str | None
):
    t = table(1, 2, checkpointPolicy=policy)
    file = t.log / "_last_checkpoint"
    spark.sql(f"CHECKPOINT {t.sql_name}")
    behind = file.read_text()
    t.append(3)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    written = json.loads(file.read_text())
    if pointer is None:
        file.unlink()
    else:
        file.write_text(behind if pointer == "behind" else pointer)
    (t.log / "._last_checkpoint.crc").unlink(missing_ok=True)

    row = spark.sql(f"CHECKPOINT {t.sql_name}").first()
    assert row.status == "exists" and "rewritten" in row.reason
    mended = json.loads(file.read_text())
    for key in ("version", "size", "sizeInBytes", "numOfAddFiles"):
        assert mended[key] == written[key]
    assert "rewritten" not in spark.sql(f"CHECKPOINT {t.sql_name}").first().reason
    assert_others_read_it(spark, t, files=3, ids=[1, 2, 3])


def test_dry_run_writes_nothing(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    before = t.all_files()
    row = spark.sql(f"CHECKPOINT {t.sql_name} DRY RUN OPTIONS (partSize = 2)").first()
    assert (row.status, row.parts, row.dryRun) == ("planned", 3 if DELTA < (3, 3) else 2, True)
    assert t.all_files() == before


def test_no_cleanup_hides_behind_a_checkpoint(spark: SparkSession, table: TableFactory):
    t = table(*range(1, 13))
    t.age_log(days=60, up_to=12)
    before = t.log_names()
    spark.sql(f"CHECKPOINT {t.sql_name}")
    assert before <= t.log_names()


def test_python_says_the_same_as_sql(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    dry = upkeep.checkpoint(partSize=2, mode="full", dryRun=True)
    sql = spark.sql(f"CHECKPOINT {t.sql_name} DRY RUN OPTIONS (partSize = 2, mode = 'full')")
    assert dry.collect() == sql.collect()
    assert upkeep.checkpoint().first().status == "written"

"""CHECKPOINT: a state that others read without the commits before it."""

import json

import pytest
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from strangers import files_by_kernel, ids_by_delta_rs


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
    assert files_by_kernel(spark, t.path) == files


@pytest.mark.parametrize(
    ("options", "properties", "policy", "parts"),
    [
        ("", {}, "classic", 1),
        ("OPTIONS (partSize = 2)", {}, "classic", 2),
        ("", {"checkpointPolicy": "v2"}, "v2", 1),
        (
            "OPTIONS (format = 'parquet', partSize = 2)",
            {"checkpointPolicy": "v2"},
            "v2",
            2,
        ),
        ("OPTIONS (policy = 'classic')", {"checkpointPolicy": "v2"}, "classic", 1),
    ],
)
def test_every_layout_is_read_by_others(
    spark: SparkSession, table: TableFactory, options, properties, policy, parts
):
    t = table(1, 2, 3, 4, **properties)
    row = spark.sql(f"CHECKPOINT {t.sql_name} {options}").first()
    assert (row.version, row.policy, row.parts, row.status) == (
        4,
        policy,
        parts,
        "written",
    )
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


def test_again_is_a_no_op_that_says_so(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    before = t.all_files()
    row = spark.sql(f"CHECKPOINT {t.sql_name}").first()
    assert (row.status, row.dryRun) == ("exists", False)
    assert "is there" in row.reason
    assert t.all_files() == before


def test_dry_run_writes_nothing(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    before = t.all_files()
    row = spark.sql(f"CHECKPOINT {t.sql_name} DRY RUN OPTIONS (partSize = 2)").first()
    assert (row.status, row.parts, row.dryRun) == ("planned", 2, True)
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

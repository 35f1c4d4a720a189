"""Auto-compaction: decided by Delta, done by our engine."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from conftest import Table, TableFactory
from support.sessions import session_conf

ENGINE = "spark.deltaUpkeep.optimize.engine"
AUTO = "spark.databricks.delta.autoCompact"
THROW = "spark.databricks.delta.postCommitHook.throwOnError"


@pytest.fixture(autouse=True)
def of_three_files(spark: SparkSession) -> Iterator[None]:
    with session_conf(spark, {f"{AUTO}.minNumFiles": "3"}):
        yield


def last(t: Table) -> Row:
    return t.spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()


def last_adds(log: Path) -> list[dict[str, Any]]:
    """Add actions of the last commit."""
    lines = max(log.glob("*.json")).read_text().splitlines()
    return [json.loads(line)["add"] for line in lines if line.startswith('{"add"')]


def added(t: Table) -> list[Path]:
    """Files that the last commit added."""
    return [t.path / add["path"] for add in last_adds(t.log)]


def is_spliced(file: Path) -> bool:
    """Whether its name has the attempt that wrote it, as no other writer's."""
    return re.search(r"-t\d+-c000\.", file.name) is not None


def test_table_property_compacts_by_splicing(table: TableFactory):
    t = table(**{"autoOptimize.autoCompact": "true"}).append(2, 4, 6)
    history = last(t)
    assert history.operation == "OPTIMIZE"
    assert history.operationParameters["auto"] == "true"
    assert (history.operationMetrics["numRemovedFiles"], t.version) == ("3", 4)
    assert [is_spliced(file) for file in added(t)] == [True]
    assert t.ids() == [2, 4, 6]


def test_session_setting_compacts_the_partition_that_was_written(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 3, 5, 2, 4)
    with session_conf(spark, {f"{AUTO}.enabled": "true"}):
        t.append(6)
    assert last(t).operation == "OPTIMIZE"
    assert [file.parent.name for file in added(t)] == ["p=0"]
    assert t.ids() == [1, 2, 3, 4, 5, 6]


def test_nothing_is_compacted_unless_asked_for(table: TableFactory):
    t = table(2, 4, 6, 8)
    assert last(t).operation == "WRITE"


def test_rows_engine_leaves_it_to_delta(spark: SparkSession, table: TableFactory):
    with session_conf(spark, {ENGINE: "rows"}):
        t = table(**{"autoOptimize.autoCompact": "true"}).append(2, 4, 6)
    assert last(t).operation == "OPTIMIZE"
    assert [is_spliced(file) for file in added(t)] == [False]


def test_clustered_tables_are_left_to_delta(spark: SparkSession, tmp_path: Path):
    """Only Delta clusters: our auto-compaction would merge the files without marking them."""
    path = tmp_path / "clustered"
    name = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT) USING delta CLUSTER BY (id) "
        "TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')"
    )
    for i in range(3):
        spark.sql(f"INSERT INTO {name} VALUES ({i})")
    assert sorted(row.id for row in spark.table(name).collect()) == [0, 1, 2]
    newest, *_ = history = spark.sql(f"DESCRIBE HISTORY {name}").collect()
    assert [row.operation for row in history].count("WRITE") == 3
    assert newest.operation == "OPTIMIZE"
    parameters = newest.operationParameters
    assert (parameters["auto"], parameters["clusterBy"]) == ("true", '["id"]')
    (add,) = last_adds(path / "_delta_log")
    assert (add["clusteringProvider"], add["tags"]["ZCUBE_ZORDER_BY"]) == ("liquid", '["id"]')


def test_a_clustered_table_without_columns_is_compacted_by_splicing(
    spark: SparkSession, tmp_path: Path
):
    path = tmp_path / "none"
    name = f"delta.`{path}`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta CLUSTER BY (id)")
    spark.sql(f"ALTER TABLE {name} CLUSTER BY NONE")
    with session_conf(spark, {f"{AUTO}.enabled": "true"}):
        for i in range(3):
            spark.sql(f"INSERT INTO {name} VALUES ({i})")
    (add,) = last_adds(path / "_delta_log")
    assert is_spliced(path / add["path"])
    assert sorted(row.id for row in spark.table(name).collect()) == [0, 1, 2]


def test_failure_fails_the_write_only_where_asked_for(spark: SparkSession, table: TableFactory):
    t = table(**{"autoOptimize.autoCompact": "true"}).append(2, 4)
    (file,) = added(t)
    file.unlink()
    t.append(6)
    assert (last(t).operation, t.version) == ("WRITE", 3)
    with (
        session_conf(spark, {THROW: "true"}),
        pytest.raises(Exception, match="DELTA_POST_COMMIT_HOOK_FAILED"),
    ):
        t.append(8)
    assert (last(t).operation, t.version) == ("WRITE", 4)


def test_each_micro_batch_is_followed_by_one(
    spark: SparkSession, table: TableFactory, tmp_path: Path
):
    source = table(2, 4, 6)
    target = table(**{"autoOptimize.autoCompact": "true"})
    rows = spark.readStream.format("delta").option("maxFilesPerTrigger", "1")
    query = (
        rows.load(str(source.path))
        .writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "progress"))
        .trigger(availableNow=True)
        .start(str(target.path))
    )
    query.awaitTermination()
    assert last(target).operation == "OPTIMIZE"
    assert [is_spliced(file) for file in added(target)] == [True]
    assert target.ids() == [2, 4, 6]


def test_optimize_is_not_followed_by_one(spark: SparkSession, table: TableFactory):
    t = table(2, 4, 6, 1)
    spark.sql(
        f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')"
    )
    version = spark.sql(f"OPTIMIZE {t.sql_name}").first().version
    assert t.version == version
    assert last(t).operationParameters["auto"] == "false"

"""ZORDER BY and clustering put rows in order column by column, whoever wrote the files."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from conftest import TableFactory
from foreign.cases import CASES, SCHEMA
from foreign.checks.log_statistics import check_log_stats
from foreign.checks.parquet_statistics import check_parquet
from foreign.checks.seen import same_rows
from foreign.forged import forge
from foreign.kernel import ids_by_strangers
from foreign.rows import python_columns, rows_of
from support.processes import DELTA
from support.sessions import as_arrow, session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

SEED = int(time.time())
CASE_COLUMN = t.StructField("case", t.StringType())
ORDERED = (t.NumericType, t.StringType, t.DateType, t.TimestampType, t.TimestampNTZType)
# So that a table of a few kilobytes gets several files.
SMALL = {"spark.databricks.delta.optimize.maxFileSize": "2000"}


@pytest.mark.one_platform
@pytest.mark.takes_turns
def test_files_of_every_writer_are_put_in_order(spark: SparkSession, tmp_path: Path):
    cases = [case for case in CASES if not case.needs_row_reader]
    made = forge(spark, tmp_path, SCHEMA, [x for case in cases for x in case.files], CASE_COLUMN)
    schema = made.frame().schema
    before, old = as_arrow(made.frame()), made.adds()
    keys = [field.name for field in SCHEMA.fields if isinstance(field.dataType, ORDERED)]
    columns = ", ".join(f"`{name}`" for name in random.Random(SEED).sample(keys, 2))
    statement = f"OPTIMIZE {made.sql_name} ZORDER BY ({columns})"
    with session_conf(spark, {"spark.databricks.delta.optimize.maxFileSize": "40000"}):
        bins = spark.sql(statement).first().bins
    assert {b.status for b in bins} == {"committed"}, statement
    # A bin with one odd file goes row by row as a whole.
    assert sum(b.tier == "gather" for b in bins) > len(bins) / 2, statement
    after = as_arrow(made.frame())
    for case in cases:
        rows = [
            rows_of(python_columns(x.filter(x["case"].to_numpy() == case.name), schema), schema)
            for x in (before, after)
        ]
        same_rows("Spark", *rows)
    for path, add in made.adds().items():
        assert path not in old
        check_log_stats(made, add)
        check_parquet(made.file_of(add))


def test_every_reader_reads_what_was_put_in_order(spark: SparkSession, table: TableFactory):
    t = table(*range(40))
    with session_conf(spark, {"spark.databricks.delta.optimize.maxFileSize": "4000"}):
        row = spark.sql(f"OPTIMIZE {t.sql_name} ZORDER BY (id)").first()
    assert row.metrics.tiers[0].tier == "gather"
    assert row.metrics.numFilesAdded > 2
    assert t.ids() == list(range(40))
    for reader, ids in ids_by_strangers(spark, t.path).items():
        assert ids == list(range(40)), reader


def test_rows_with_all_that_a_table_can_have(spark: SparkSession, tmp_path: Path):
    """Deletion vectors, row ids, renamed, new and widened columns, in a nested key's order."""
    name = f"delta.`{tmp_path}`"
    widens = DELTA >= (4, 0)
    number = "BIGINT" if widens else "INT"
    spark.sql(
        f"CREATE TABLE {name} "
        "(id BIGINT, s STRUCT<`a b`: INT, n: INT>, l ARRAY<STRUCT<x: STRING>>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7', "
        "'delta.enableDeletionVectors' = true, 'delta.enableRowTracking' = true"
        + (", 'delta.enableTypeWidening' = true)" if widens else ")")
    )

    def append(start: int) -> None:
        rows = spark.range(start, 600, 3).selectExpr(
            "id",
            "named_struct('a b', cast(if(id % 11 = 0, null, id * 7 % 600) AS INT), "
            "'n', cast(id AS INT)) AS s",
            "if(id % 5 = 0, null, transform(sequence(0, id % 4), "
            "i -> named_struct('x', if(i = 2, null, cast(id + i AS STRING))))) AS l",
        )
        rows.repartition(2).writeTo(name).append()

    append(0)
    append(1)
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN id TO `the id`")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN (more STRING)")
    if widens:
        spark.sql(f"ALTER TABLE {name} ALTER COLUMN s.n TYPE BIGINT")
    spark.range(2, 600, 3).selectExpr(
        "id AS `the id`",
        f"named_struct('a b', cast(id * 7 % 600 AS INT), 'n', cast(id AS {number})) AS s",
        "cast(null AS ARRAY<STRUCT<x: STRING>>) AS l",
        "cast(id % 3 AS STRING) AS more",
    ).writeTo(name).append()
    spark.sql(f"DELETE FROM {name} WHERE `the id` % 13 = 5")
    spark.sql(f"UPDATE {name} SET more = 'changed' WHERE `the id` % 17 = 3")
    query = f"SELECT *, _metadata.row_id, _metadata.row_commit_version FROM {name}"
    before = sorted(map(repr, spark.sql(query).collect()))
    with session_conf(spark, SMALL):
        row = spark.sql(
            f"OPTIMIZE {name} ZORDER BY (s.`a b`, `the id`) OPTIONS (verify = true)"
        ).first()
    assert [(b.tier, b.status) for b in row.bins] == [("gather", "committed")]
    assert row.metrics.numFilesAdded > 3
    assert sorted(map(repr, spark.sql(query).collect())) == before
    assert len({x.row_id for x in spark.sql(query).collect()}) == len(before)


def test_one_column_is_sorted_over_all_files(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "t"
    spark.range(5000).select((f.col("id") * 7 % 5000).alias("id")).repartition(5).write.format(
        "delta"
    ).save(str(path))
    with session_conf(spark, {"spark.databricks.delta.optimize.maxFileSize": "6000"}):
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id)")
    log = (path / "_delta_log" / f"{1:020}.json").read_text().splitlines()
    adds = [add for line in log if (add := json.loads(line).get("add"))]
    assert len(adds) > 2
    files = sorted((pq.read_table(path / add["path"])["id"].to_pylist() for add in adds), key=min)
    assert [x for ids in files for x in ids] == list(range(5000))
    # Each has about as many rows.
    assert max(map(len, files)) - min(map(len, files)) <= 1


def test_several_tasks_put_in_order_what_is_too_large_for_one(spark: SparkSession, tmp_path: Path):
    """Their ranges follow each other, and rows, row ids and statistics are those of before."""
    name = f"delta.`{tmp_path}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, text STRING, tags ARRAY<STRING>, s STRUCT<k: INT>) "
        "USING delta TBLPROPERTIES "
        "('delta.enableDeletionVectors' = true, 'delta.enableRowTracking' = true)"
    )
    # Random texts do not get smaller.
    rows = spark.range(6000).selectExpr(
        "id",
        "if(id % 50 = 3, null, repeat(uuid(), 12)) AS text",
        "if(id % 4 = 1, null, array(cast(id AS STRING), null)) AS tags",
        "named_struct('k', if(id % 9 = 2, null, cast(id * 7 % 40 AS INT))) AS s",
    )
    rows.repartition(5).writeTo(name).append()
    spark.sql(f"DELETE FROM {name} WHERE id % 17 = 5")
    query = f"SELECT *, _metadata.row_id, _metadata.row_commit_version FROM {name}"
    before = sorted(map(repr, spark.sql(query).collect()))
    conf = {
        "spark.deltaUpkeep.optimize.clusterBytes": "1m",
        "spark.databricks.delta.optimize.maxFileSize": "300000",
    }
    statement = f"OPTIMIZE {name} ORDER BY (s.k DESC, id)"
    with session_conf(spark, conf):
        (planned,) = spark.sql(f"{statement} DRY RUN").first().bins
        row = spark.sql(f"{statement} OPTIONS (verify = true)").first()
    assert planned.tier == "gather"
    assert "by several tasks" in planned.reason
    assert [(b.tier, b.status) for b in row.bins] == [("gather", "committed")]
    assert row.metrics.numFilesAdded > 6
    assert sorted(map(repr, spark.sql(query).collect())) == before
    log = (tmp_path / "_delta_log" / f"{3:020}.json").read_text().splitlines()
    adds = [add for line in log if (add := json.loads(line).get("add"))]
    assert len({add["tags"]["deltaUpkeep.cube"] for add in adds}) == 1
    files = [keys_in(tmp_path / add["path"]) for add in adds]
    order = [keys for file in sorted(files, reverse=True) for keys in file]
    assert len(order) == len(before)
    assert order == sorted(order, reverse=True)


def keys_in(file: Path) -> list[tuple[int, int]]:
    """What sorts rows by s.k DESC, nulls last, and then by id, from the largest to the smallest."""
    rows = pq.read_table(file, columns=["s", "id"]).to_pylist()
    return [(-1 if row["s"]["k"] is None else row["s"]["k"], -row["id"]) for row in rows]

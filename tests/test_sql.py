"""The statements in Spark SQL: names, EXPLAIN, other statements, the order of extensions."""

import json
import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

from conftest import TableFactory

STATEMENTS = ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "DESCRIBE HEALTH", "MAINTAIN"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_names_of_one_to_three_parts(spark: SparkSession, catalog_table: str, statement: str):
    paths = {
        spark.sql(f"{statement} {name}").first().path
        for name in (
            catalog_table,
            f"default.{catalog_table}",
            f"`spark_catalog`.`default`.`{catalog_table}`",
        )
    }
    assert len(paths) == 1


@pytest.mark.parametrize("statement", STATEMENTS)
def test_paths(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1)
    paths = {spark.sql(f"{statement} {name}").first().path for name in (f"'{t.path}'", t.sql_name)}
    assert paths == {f"file:{t.path}"}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_explain_shows_the_plan_and_changes_nothing(
    spark: SparkSession, table: TableFactory, statement: str
):
    t = table(1, 2, 3, 4)
    before = t.all_files()
    for mode in ("", "EXTENDED", "FORMATTED"):
        (row,) = spark.sql(f"EXPLAIN {mode} {statement} {t.sql_name}").collect()
        assert f"Execute {statement}" in row.plan
        assert "== Maintenance Plan ==" in row.plan
    assert t.all_files() == before


def test_explain_tells_each_bin(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name} WHERE p >= 0 ZORDER BY (id)").first().plan
    assert "OPTIMIZE WHERE p >= 0 ZORDER BY (id)" in plan
    footers = "DRY RUN also reads the files' footers"
    assert footers not in plan, "every bin is rewritten by rows, whatever the footers say"
    plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name}").first().plan
    assert "bins: 2, files: 4 of 4" in plan
    assert "p=1 (splice: small row groups are merged)" in plan
    assert footers in plan


@pytest.mark.parametrize("statement", ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "MAINTAIN"])
def test_dry_run_has_the_schema_of_the_real_run(
    spark: SparkSession, table: TableFactory, statement: str
):
    t = table(1, 2)
    dry = spark.sql(f"{statement} {t.sql_name} DRY RUN")
    assert dry.first().dryRun is True
    assert dry.schema == spark.sql(f"{statement} {t.sql_name}").schema


def test_other_statements_are_untouched(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    assert spark.sql(f"DESCRIBE HISTORY {t.sql_name}").count() == 3
    assert spark.sql(f"DESCRIBE DETAIL {t.sql_name}").first().numFiles == 2
    query = f"""
        -- a comment
        SELECT /*+ BROADCAST(b) */ count(*) AS n  /* another; one */
        FROM {t.sql_name} a JOIN {t.sql_name} b USING (id)
    """
    assert spark.sql(query).first().n == 2


def test_comments_and_several_lines(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    text = f"""
        -- before
        OPTIMIZE /* here */ {t.sql_name}
          WHERE p = 1 -- of two
          DRY RUN;
    """
    assert spark.sql(text).first().metrics.totalConsideredFiles == 1


OTHER_ORDER = """
import json, sys
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

ours = "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension"
deltas = "io.delta.sql.DeltaSparkSessionExtension"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder.config("spark.sql.extensions", f"{ours},{deltas}")
builder.config("spark.databricks.delta.snapshotPartitions", "1")
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
name = f"delta.`{sys.argv[1]}`"
rows = [
    spark.sql(f"OPTIMIZE {name} WHERE p = 1 DRY RUN OPTIONS (targetFileSize = 1)").first(),
    spark.sql(f"OPTIMIZE {name} WHERE p = 1 DRY RUN").first(),
    spark.sql(f"OPTIMIZE {name} DRY RUN").first(),
    spark.sql(f"OPTIMIZE {name}").first(),
]
found = [[row.dryRun, row.metrics.totalConsideredFiles, row.metrics.numBins] for row in rows]
checks = spark.sql(f"DESCRIBE HEALTH {name}").count()
print("RESULT " + json.dumps([spark.conf.get("spark.sql.extensions"), found, checks]))
"""


def test_extensions_in_the_other_order(table: TableFactory):
    t = table(1, 2, 3, 4)
    command = [sys.executable, "-c", OTHER_ORDER, str(t.path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    extensions, found, checks = json.loads(line.removeprefix("RESULT "))
    assert extensions.startswith("io.deltaupkeep"), "ours stays first, so Delta parses first"
    assert found == [[True, 2, 0], [True, 2, 1], [True, 4, 2], [False, 4, 2]]
    assert checks == 12

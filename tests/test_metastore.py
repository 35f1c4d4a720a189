"""A fleet in a Hive metastore, which Spark brings with an embedded database."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.processes import ACTIVATED, BIN, run

# Two processes that resolve one package at once are in each other's way.
pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.one_platform]

TABLES = """
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

builder = SparkSession.builder.enableHiveSupport()
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
for schema in ("sales", "lab"):
    spark.sql(f"CREATE SCHEMA {schema}")
    for table in ("orders", "lost"):
        spark.sql(f"CREATE TABLE {schema}.{table} (id BIGINT) USING delta")
        for i in range(3):
            spark.sql(f"INSERT INTO {schema}.{table} VALUES ({i})")
spark.sql("CREATE VIEW sales.seen AS SELECT * FROM sales.orders")
spark.sql("CREATE TABLE sales.plain (id BIGINT) USING parquet")
"""

FLEET = """
tables.include = ["*.*"]
[spark]
hive = true
"spark.master" = "local[1]"
"""


@pytest.fixture
def metastore(spark: SparkSession, tmp_path: Path) -> Path:
    """A directory with a metastore: two schemas, views, other formats, a table that is gone."""
    run([sys.executable, "-c", TABLES], tmp_path)
    shutil.rmtree(tmp_path / "spark-warehouse/lab.db/lost")
    return tmp_path


def test_a_fleet_of_two_schemas(metastore: Path):
    (metastore / "upkeep.toml").write_text(FLEET)
    command = f"{BIN / 'delta-upkeep'} run --config upkeep.toml --json || echo code $?"
    printed = run(["bash", "-c", command], metastore, **ACTIVATED)
    summary, code = printed.rsplit("}", 1)
    assert code.split() == ["code", "1"]
    found = json.loads(summary[summary.index("{") :] + "}")
    assert {table["table"]: table["status"] for table in found["tables"]} == {
        "spark_catalog.sales.orders": "done",
        "spark_catalog.sales.lost": "done",
        "spark_catalog.lab.orders": "done",
        "spark_catalog.lab.lost": "failed",
    }
    (error,) = (table["error"] for table in found["tables"] if table["error"])
    assert error["condition"].startswith("DELTA_UPKEEP.")
    assert found["notDelta"] == {"views": 1, "otherFormats": 1}


def test_one_table_by_its_name(metastore: Path):
    health = [BIN / "delta-upkeep", "health", "sales.orders", "--format", "json"]
    settings = ["--conf", "spark.sql.catalogImplementation=hive", "--conf", "spark.master=local[1]"]
    report = json.loads(run([*health, *settings], metastore, **ACTIVATED))
    assert {check["check"] for check in report["checks"]} >= {"smallFiles", "log"}
    # Without it the session has no metastore.
    due = "delta-upkeep health sales.orders --fail-on info 2>&1 || echo code $?"
    printed = run(["bash", "-c", due], metastore, **ACTIVATED)
    assert "has no metastore" in printed and printed.split()[-1] == "1"
    due = f"delta-upkeep health sales.orders --fail-on warning {' '.join(settings)} || echo code $?"
    assert run(["bash", "-c", due], metastore, **ACTIVATED).split()[-2:] == ["code", "3"]

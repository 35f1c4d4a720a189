"""A fleet in a Hive metastore, which Spark brings with an embedded database."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from support.processes import ACTIVATED, BIN, run

# Two processes that resolve one package at once are in each other's way.
pytestmark = [
    pytest.mark.xdist_group("packages"),
    pytest.mark.one_platform,
    pytest.mark.takes_turns,
]

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
spark.sql("CREATE TABLE sales.due USING delta AS SELECT * FROM range(0, 100, 1, 20)")
spark.sql("CREATE VIEW sales.seen AS SELECT * FROM sales.orders")
spark.sql("CREATE TABLE sales.plain (id BIGINT) USING parquet")
"""

FLEET = """
tables.include = ["*.*"]
tables.exclude = ["*.due"]
[spark]
hive = true
"spark.master" = "local[1]"
"""


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a metastore: two schemas, a view, another format, a table that is gone."""
    directory = tmp_path_factory.mktemp("metastore")
    run([sys.executable, "-c", TABLES], directory)
    shutil.rmtree(directory / "spark-warehouse/lab.db/lost")
    return directory


def run_for_code(command: str, directory: Path) -> tuple[str, int]:
    """What a command prints, and its exit code."""
    printed = run(["bash", "-c", f"{BIN}/{command}; echo $?"], directory, **ACTIVATED)
    output, code = printed.strip().rsplit("\n", 1)
    return output, int(code)


def test_a_fleet_of_two_schemas(metastore: Path):
    (metastore / "upkeep.toml").write_text(FLEET)
    summary, code = run_for_code("delta-upkeep run --config upkeep.toml --json", metastore)
    assert code == 1
    found = json.loads(summary[summary.index("{") :])
    assert {table["table"]: table["status"] for table in found["tables"]} == {
        "spark_catalog.sales.orders": "done",
        "spark_catalog.sales.lost": "done",
        "spark_catalog.lab.orders": "done",
        "spark_catalog.lab.lost": "failed",
    }
    (error,) = (table["error"] for table in found["tables"] if table["error"])
    assert error["condition"] == "DELTA_UPKEEP.NO_DELTA_LOG"
    assert found["notDelta"] == {"views": 1, "otherFormats": 1}


def test_one_table_by_its_name(metastore: Path):
    settings = "--conf spark.sql.catalogImplementation=hive --conf spark.master=local[1]"
    health = f"delta-upkeep health sales.due --format json --fail-on warning {settings}"
    report, code = run_for_code(health, metastore)
    assert code == 3
    checks = json.loads(report[report.index("{") :])["checks"]
    assert {"smallFiles", "log"} <= {check["check"] for check in checks}


def test_names_need_a_metastore(metastore: Path):
    printed, code = run_for_code("delta-upkeep health sales.due 2>&1", metastore)
    assert "has no metastore" in printed and code == 1

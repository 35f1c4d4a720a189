"""As users run it: real processes, with the published artifact or the wheel alone."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

import pytest
from pyarrow.parquet import ParquetFile

from processes import ACTIVATED, ROOT, run

# Two processes that resolve one package at once are in each other's way; the session has Delta's.
pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("spark")]

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
name = f"delta.`{sys.argv[1]}`"
spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta")
for i in range(3):
    spark.sql(f"INSERT INTO {name} VALUES ({i})")
print("OPTIMIZE", spark.sql(f"OPTIMIZE {name}").first().metrics.numFilesRemoved)
print("CHECKPOINT", spark.sql(f"CHECKPOINT {name}").first().status)
print("ROWS", spark.table(name).count())
"""

SQL = """
-- a comment; with a semicolon
CREATE TABLE delta.`{path}` (id BIGINT) USING delta;
INSERT INTO delta.`{path}` VALUES (1);
INSERT INTO delta.`{path}` VALUES (2);
EXPLAIN OPTIMIZE delta.`{path}`;
OPTIMIZE '{path}';
CHECKPOINT '{path}' OPTIONS (partSize = 1000);
CLEANUP LOG '{path}' DRY RUN;
DESCRIBE HEALTH '{path}';
MAINTAIN '{path}';
SELECT 'rows', count(*) FROM delta.`{path}`;
"""

NOTEBOOK = """
import json, sys
from pyspark.sql import SparkSession
from delta_upkeep import UpkeepTable, configure_spark_with_delta_upkeep

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
spark.sql("CREATE TABLE t (id BIGINT) USING delta")
for i in range(3):
    spark.sql(f"INSERT INTO t VALUES ({i})")
table = UpkeepTable.forName(spark, "t")
table.delete("id = 0")
removed = table.optimize().executeCompaction().first().metrics.numFilesRemoved
status = table.checkpoint().first().status
worst = [check.check for check in table.health().findings]
print("RESULT " + json.dumps([removed, status, worst, table.toDF().count()]))
"""


def test_spark_sql_runs_a_file(packages: list[str], tmp_path: Path):
    script = tmp_path / "maintain.sql"
    script.write_text(SQL.format(path=tmp_path / "table"))
    output = run(["spark-sql", *packages, "-f", script], tmp_path, **ACTIVATED)
    assert "== Maintenance Plan ==" in output
    assert "smallFiles\tok" in output
    assert "rows\t2" in output.splitlines()
    assert (tmp_path / "table/_delta_log/_last_checkpoint").exists()


def test_spark_submit_runs_a_job(packages: list[str], tmp_path: Path):
    job = tmp_path / "job.py"
    job.write_text(JOB)
    output = run(["spark-submit", *packages, job, tmp_path / "table"], tmp_path, **ACTIVATED)
    assert output.splitlines()[-3:] == ["OPTIMIZE 3", "CHECKPOINT written", "ROWS 3"]


def test_wheel_in_a_clean_environment(tmp_path: Path):
    (wheel,) = (ROOT / "dist").glob("*.whl")
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin/python"
    run([python, "-m", "pip", "install", "--quiet", wheel], tmp_path)
    script = tmp_path / "notebook.py"
    script.write_text(NOTEBOOK)
    output = run([python, script], tmp_path)
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    assert json.loads(line.removeprefix("RESULT ")) == [2, "written", [], 2]


APPENDS = """
import os, sys, time
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
name = f"delta.`{sys.argv[1]}`"
spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta")
for i in range(1, 11):
    spark.sql(f"INSERT INTO {name} VALUES ({i})")
end = time.time() + 60
while not os.path.exists(sys.argv[2]) and time.time() < end:
    time.sleep(0.1)
spark.stop()
"""


def test_a_due_checkpoint_comes_with_nothing_but_the_extension(tmp_path: Path):
    table = tmp_path / "t"
    checkpoint = table / "_delta_log" / f"{10:020}.checkpoint.parquet"
    pointer = table / "_delta_log" / "_last_checkpoint"
    run([sys.executable, "-c", APPENDS, table, pointer], tmp_path)
    # Ours has a row group of file actions, and one of the others.
    assert ParquetFile(checkpoint).num_row_groups == 2
    assert pointer.exists()

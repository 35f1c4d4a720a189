"""As users run it: real processes, with the wheel alone."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from pyarrow.parquet import ParquetFile

from support.processes import ROOT, run

# Two processes that resolve one package at once are in each other's way; the session has Delta's.
pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("spark")]

# The first thing that README shows.
EXAMPLE = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[0]

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


WITHOUT_DELTA = """
try:
    import delta_upkeep
except ModuleNotFoundError as e:
    print(e)
"""


def test_wheel_in_a_clean_environment(tmp_path: Path):
    (wheel,) = (ROOT / "dist").glob("*.whl")
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # To unpack PySpark takes a minute.
    for name in ("pyspark", "py4j"):
        for installed in Path(sysconfig.get_path("purelib")).glob(f"{name}*"):
            (packages / installed.name).symlink_to(installed)
    python = environment / "bin/python"
    alone = [python, "-m", "pip", "install", "--quiet", wheel]
    run(alone, tmp_path)
    missing = run([python, "-c", WITHOUT_DELTA], tmp_path)
    assert "'delta-spark<4' beside PySpark 3.5" in missing
    run([*alone[:-1], f"{wheel}[spark]"], tmp_path)
    assert "rewrote 6 files into 2" in run([python, "-c", EXAMPLE], tmp_path)
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

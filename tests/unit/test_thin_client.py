"""A client of Spark Connect without Py4J and without Spark, as pyspark-client is."""

from __future__ import annotations

import sys
from pathlib import Path

from support.processes import ROOT, run

WITHOUT_SPARK = """
import importlib.abc, sys

REFUSED = ("py4j", "pyspark.core", "pyspark.sql.classic", "pyspark.java_gateway")

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(name == each or name.startswith(each + ".") for each in REFUSED):
            raise ModuleNotFoundError(f"{name} is refused", name=name)

sys.meta_path.insert(0, Refuse())

from delta.connect.tables import DeltaTable
from pyspark.sql.connect.session import SparkSession

from delta_upkeep import UpkeepOptimizeBuilder, UpkeepTable

spark = SparkSession.builder.remote("sc://127.0.0.1:1")
spark = SparkSession.__new__(SparkSession)  # Nothing below connects.
for table in (
    UpkeepTable.forName(spark, "a.b"),
    UpkeepTable.forPath(spark, "/a/b"),
    UpkeepTable.of(DeltaTable(spark, path="/a/b")),
    UpkeepTable.of(DeltaTable(spark, tableOrViewName="a.b")),
):
    assert isinstance(table, UpkeepTable) and isinstance(table, DeltaTable)
    assert isinstance(table.optimize(), UpkeepOptimizeBuilder)
    assert UpkeepTable.of(table) is table
loaded = {name.split(".")[0] for name in sys.modules}
print("PY4J" if "py4j" in loaded else "THIN")
"""


def test_the_tables_of_a_client_need_no_spark(tmp_path: Path):
    package = str(ROOT / "python")
    output = run([sys.executable, "-c", WITHOUT_SPARK], tmp_path, PYTHONPATH=package)
    assert output.splitlines()[-1] == "THIN"

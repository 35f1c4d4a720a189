"""A client of Spark Connect without Py4J and without Spark, as pyspark-client is."""

from __future__ import annotations

import sys
from pathlib import Path

from support.processes import ROOT, run

TABLES = """
import support.thin_client
from delta.connect.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.connect.session import SparkSession as ConnectSession

from delta_upkeep import UpkeepOptimizeBuilder, UpkeepTable, configure_spark_with_delta_upkeep

spark = ConnectSession.__new__(ConnectSession)  # Nothing here connects to a server.
for table in (
    UpkeepTable.forName(spark, "a.b"),
    UpkeepTable.forPath(spark, "/a/b"),
    UpkeepTable.of(DeltaTable(spark, path="/a/b")),
    UpkeepTable.of(DeltaTable(spark, tableOrViewName="a.b")),
):
    assert isinstance(table, UpkeepTable) and isinstance(table, DeltaTable)
    assert isinstance(table.optimize(), UpkeepOptimizeBuilder)
    assert UpkeepTable.of(table) is table
try:
    configure_spark_with_delta_upkeep(SparkSession.builder)
except RuntimeError as e:
    print(e)
"""


def test_the_tables_of_a_client_need_no_spark(tmp_path: Path):
    path = f"{ROOT / 'python'}:{ROOT / 'tests'}"
    output = run([sys.executable, "-c", TABLES], tmp_path, PYTHONPATH=path)
    assert "only a client of Spark Connect" in output

"""The memory of OPTIMIZE is what its settings say, not the size of the table."""

import subprocess
import sys
from pathlib import Path

import pytest

# The session has fetched Delta's package by then.
pytestmark = pytest.mark.usefixtures("spark")

SCRIPT = """
import os, pathlib, sys
import deltalake, pyarrow, pyarrow.parquet
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "600m")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.databricks.delta.snapshotPartitions", "2")
    .config("spark.deltaUpkeep.optimize.bytesInFlight", "16m")
)
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
# Random bytes do not compress, so this is 1.3 times the heap.
files, rows, columns = 256, 12_500, 16
data = pathlib.Path(sys.argv[1])
data.mkdir()
chunk = [pyarrow.py_buffer(os.urandom(16 * rows)) for _ in range(columns)]
arrays = [pyarrow.Array.from_buffers(pyarrow.binary(16), rows, [None, bytes]) for bytes in chunk]
names = [f"c{i}" for i in range(columns)]
table = pyarrow.table([range(rows), *(a.cast(pyarrow.binary()) for a in arrays)], ["id", *names])
pyarrow.parquet.write_table(table, data / "0.parquet", use_dictionary=False)
for i in range(1, files):
    os.link(data / "0.parquet", data / f"{i}.parquet")
deltalake.convert_to_deltalake(data)
name = f"delta.`{data}`"


def optimize(clause, tier):
    row = spark.sql(f"OPTIMIZE {name} {clause}").first()
    assert [bin.tier for bin in row.bins] == [tier], row
    assert row.metrics.filesRemoved.totalSize > 700 << 20, row.metrics.filesRemoved
    assert row.metrics.numFilesRemoved == 256, row.metrics
    found = spark.table(name).selectExpr("sum(id)").first()[0]
    assert found == files * sum(range(rows))
    return row.metrics.numFilesAdded


assert optimize("", "splice") == 1
spark.sql(f"RESTORE {name} TO VERSION AS OF 0")
# Tasks take a twentieth of it each, and meet in a shuffle.
spark.conf.set("spark.databricks.delta.optimize.maxFileSize", 64 << 20)
assert optimize("ZORDER BY (id)", "gather") > 20
"""


def test_a_bin_larger_than_the_heap(tmp_path: Path):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "t")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]

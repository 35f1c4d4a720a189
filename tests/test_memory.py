"""The memory of OPTIMIZE is what its settings say, not the size of the table."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "600m")
    .config("spark.ui.enabled", "false")
    .config("spark.deltaUpkeep.optimize.bytesInFlight", "16m")
)
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
path = sys.argv[1]
# Random text does not compress, so this is 1.3 times the heap.
text = [f"unhex(md5(concat(id, 'c{i}'))) AS c{i}" for i in range(16)]
rows = spark.range(0, 3_200_000, 1, 256).selectExpr("id", *text)
rows.write.format("delta").save(path)
row = spark.sql(f"OPTIMIZE delta.`{path}`").first()
assert [bin.tier for bin in row.bins] == ["splice"], row
assert row.metrics.filesRemoved.totalSize > 700 << 20, row.metrics.filesRemoved
assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (256, 1), row.metrics
assert spark.read.format("delta").load(path).selectExpr("sum(id)").first()[0] == 5_119_998_400_000
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

"""The session of a run of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import PARQUET_AVRO, SHORT_LIVED, small_session, with_faults


@contextmanager
def new_session() -> Iterator[SparkSession]:
    os.environ["SPARK_SUBMIT_OPTS"] = SHORT_LIVED
    builder = small_session("2g").config("spark.ui.showConsoleProgress", "false")
    for key in ("spark.sql.shuffle.partitions", "spark.databricks.delta.snapshotPartitions"):
        builder = builder.config(key, "1")
    builder = builder.config("spark.deltaUpkeep.checkpoint.mode", "delta")
    spark = configure_spark_with_delta_upkeep(with_faults(builder), [PARQUET_AVRO]).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()

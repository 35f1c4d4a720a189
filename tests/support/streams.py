"""Streams between tables."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession


def copy_new_rows(spark: SparkSession, source: Path, target: Path, progress: Path) -> None:
    """Copy the rows that a stream has not seen yet."""
    rows = spark.readStream.format("delta").load(str(source))
    writer = rows.writeStream.format("delta").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(progress))
    writer.start(str(target)).awaitTermination()

"""A session as a test needs it for a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow
from pyspark.sql import DataFrame, SparkSession


@contextmanager
def session_conf(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Set some configuration of the session for a while."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)


def meanwhile(spark: SparkSession, statement: str, change: str) -> str:
    """Run a statement, and another one before its commit; the first row of it as JSON."""
    upkeep = spark._jvm.org.apache.spark.sql.delta.upkeep
    return str(upkeep.Meanwhile.sql(spark._jsparkSession, statement, change))


def after_next(spark: SparkSession, statement: str, table: Path) -> str:
    """Run a statement that commits after another thread has; the first row of it as JSON."""
    upkeep = spark._jvm.org.apache.spark.sql.delta.upkeep
    return str(upkeep.Meanwhile.sqlAfterNext(spark._jsparkSession, statement, str(table)))


def as_arrow(frame: DataFrame) -> pyarrow.Table:
    """Collect a frame. PySpark has had a method for this since 4.0."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    return pyarrow.Table.from_batches(frame._collect_as_arrow())

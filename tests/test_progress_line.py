"""A statement from Python shows how far it is, in a terminal and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest
from pyspark.sql import SparkSession

from conftest import TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep._table import progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Screen(), io.StringIO()], ids=["terminal", "file"])
def test_the_line(
    spark: SparkSession,
    table: TableFactory,
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO,
):
    t = table()
    rows = spark.range(0, 3000, 1, 3).selectExpr("id", "CAST(id % 60 AS INT) AS p", "'x' AS text")
    rows.write.format("delta").mode("append").save(str(t.path))
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.02)
    monkeypatch.setattr(sys, "stderr", stream)
    UpkeepTable.forPath(spark, str(t.path)).optimize().executeCompaction()
    lines = stream.getvalue().split("\r")
    if stream.isatty():
        assert any(" of 60 done" in line and " | OPTIMIZE" in line for line in lines)
        assert lines[-1] == "\x1b[K"
    else:
        assert lines == [""]

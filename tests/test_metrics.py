"""Spark's metrics servlet shows what statements did."""

import json
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.processes import WITH_TESTS, run


@pytest.mark.one_platform
@pytest.mark.takes_turns
@pytest.mark.xdist_group("packages")
def test_the_servlet_shows_them_for_each_application(spark: SparkSession, tmp_path: Path):
    command = [sys.executable, "-m", "support.metered", tmp_path]
    shown = run(command, tmp_path, PYTHONPATH=WITH_TESTS).splitlines()[-1]
    first, restarted, off = json.loads(shown)
    for counts in (first, restarted):
        assert counts.pop("checkpoint.bytes") > 0
        assert counts == {
            "checkpoint.age": 1,
            "checkpoint.exists": 1,
            "checkpoint.time": 1,
            "checkpoint.written": 1,
            "error.UNKNOWN_OPTION": 1,
            "statement.checkpoint.done": 1,
            "statement.checkpoint.nothingToDo": 1,
            "statement.checkpoint.refused": 1,
            "statement.checkpoint.time": 3,
        }
    assert off == {}

"""No request to the store may fail such that a row, or a version that was promised, is lost."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.matrix import FAULTS, Matrix
from faults.scenarios import ALL, CHECKPOINTS, OPTIMIZES, Scenario

SEED = int(os.environ.get("TORTURE_SEED", "42"))
POINTS = int(os.environ.get("TORTURE_POINTS", "1"))
"""Of each statement; 0 for all that there are."""
KILLS = int(os.environ.get("TORTURE_KILLS", "1"))


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.name)
def test_nothing_is_lost(
    spark: SparkSession,
    scenario: Scenario,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
):
    matrix = Matrix(spark, scenario, tmp_path)
    points = [(fault, i) for i in range(matrix.requests()) for fault in FAULTS]
    if POINTS:
        points = random.Random(f"{SEED} {scenario.name}").sample(points, POINTS)
    tried = sum(matrix.interrupt(fault, request) for fault, request in points)
    record_property("crash points", f"{scenario.name}: {tried} of {len(points)}")
    assert tried


@pytest.mark.parametrize(
    "scenario",
    [OPTIMIZES[0], CHECKPOINTS[-1]],
    ids=lambda scenario: scenario.name,
)
def test_nothing_is_lost_with_the_process(
    spark: SparkSession,
    scenario: Scenario,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
):
    matrix = Matrix(spark, scenario, tmp_path)
    requests = random.Random(f"{SEED} {scenario.name}").sample(range(matrix.requests()), KILLS)
    killed = sum(matrix.kill(request) for request in requests)
    record_property("crash points", f"{scenario.name}: process killed {killed} times")

"""A few tables of the fuzz, and cells of the matrix of readers; `make torture` tries more."""

from __future__ import annotations

import os
import random
import time
from itertools import count, islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from torture.cells import CELLS
from torture.readers import Matrix
from torture.run import KEPT, Torture, is_large

pytestmark = pytest.mark.usefixtures("usual_queries")

TABLES = 3
SEED = int(os.environ.get("TORTURE_SEED") or time.time())


def test_tables_that_others_wrote(spark: SparkSession):
    seeds = list(islice((seed for seed in count(SEED) if not is_large(seed)), TABLES))
    torture = Torture(spark, Path(KEPT))
    reports = [torture.one(seed) for seed in seeds]
    print(f"seeds {seeds}: {dict(torture.tally)}")
    assert not any(reports), "\n\n".join(filter(None, reports))


def test_others_read_what_optimize_writes(spark: SparkSession):
    rng = random.Random(SEED)
    long, wide = ([cell for cell in CELLS if cell.is_long == is_long] for is_long in (True, False))
    cells = [*rng.sample(long, 1), *rng.sample(wide, 4)]
    matrix = Matrix(spark, Path(KEPT) / "readers")
    reports = [matrix.one(cell, SEED) for cell in cells]
    print(f"seed {SEED}, cells {[cell.name for cell in cells]}")
    assert matrix.tally["columns compared"] > 0
    assert not any(reports), "\n\n".join(filter(None, reports))

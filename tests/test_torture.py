"""A few of the tables, histories, damages, vacuums and cells that `make torture` tries."""

from __future__ import annotations

import os
import random
import time
from itertools import count, islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from torture.cells import CELLS
from torture.histories.run import Histories
from torture.log_damage.run import LogDamage
from torture.matrix import Matrix
from torture.plan import Plan
from torture.run import KEPT, Torture, is_large
from torture.vacuum.run import Vacuums

pytestmark = [pytest.mark.usefixtures("usual_queries"), pytest.mark.takes_turns]

SEED = int(os.environ.get("TORTURE_SEED") or time.time())
TABLES = 2
VACUUMS = 8
KINDS = 4  # at most: of tables that are of more kinds, Spark cannot read some itself


def ordinary(first: int) -> list[int]:
    """Choose the next seeds of tables that are not too large or odd."""
    fitting = (n for n in count(first) if not is_large(n) and len(Plan.of(n).kinds()) <= KINDS)
    return list(islice(fitting, TABLES))


def test_tables_that_others_wrote(spark: SparkSession):
    seeds = ordinary(SEED)
    torture = Torture(spark, Path(KEPT))
    reports = [torture.one(seed) for seed in seeds]
    print(f"seeds {seeds}: {dict(torture.tally)}")
    assert not any(reports), "\n\n".join(filter(None, reports))


def test_others_read_what_optimize_writes(spark: SparkSession):
    rng = random.Random(SEED)
    long, wide = ([cell for cell in CELLS if cell.is_long == is_long] for is_long in (True, False))
    cells = [*rng.sample(long, 1), *rng.sample(wide, 2)]
    matrix = Matrix(spark, Path(KEPT) / "readers")
    reports = [matrix.one(cell, SEED) for cell in cells]
    print(f"seed {SEED}, cells {[cell.name for cell in cells]}")
    assert matrix.tally["columns compared"] > 0
    assert not any(reports), "\n\n".join(filter(None, reports))


def test_history_of_a_table(spark: SparkSession):
    histories = Histories(spark, Path(KEPT))
    report = histories.one(SEED, steps=1)
    print(f"seed {SEED}: {dict(histories.tally)}")
    assert not report, report


def test_damaged_log(spark: SparkSession):
    damage = LogDamage(spark, Path(KEPT))
    report = damage.one(SEED, statements=4)
    print(f"seed {SEED}: {dict(damage.tally)}")
    assert not report, report


def test_vacuum_of_random_tables(spark: SparkSession):
    vacuums = Vacuums(spark, Path(KEPT))
    reports = [vacuums.one(SEED + i) for i in range(VACUUMS)]
    print(f"seed {SEED}: {dict(vacuums.tally)}")
    assert vacuums.tally["files deleted"] > 0
    assert not any(reports), "\n\n".join(filter(None, reports))

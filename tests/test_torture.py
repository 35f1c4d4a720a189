"""A few tables of the fuzz; `make torture` tries as many as it has time for."""

from __future__ import annotations

import os
import time
from itertools import count, islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from torture.run import KEPT, Torture, is_large

pytestmark = pytest.mark.usefixtures("usual_queries")

TABLES = 3


def test_tables_that_others_wrote(spark: SparkSession):
    first = int(os.environ.get("TORTURE_SEED") or time.time())
    seeds = list(islice((seed for seed in count(first) if not is_large(seed)), TABLES))
    torture = Torture(spark, Path(KEPT))
    reports = [torture.one(seed) for seed in seeds]
    print(f"seeds {seeds}: {dict(torture.tally)}")
    assert not any(reports), "\n\n".join(filter(None, reports))

"""OPTIMIZE and CHECKPOINT on executors that are lost at work, and tasks that run twice."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as DeltaRs
from pyspark.sql import SparkSession

from faults import cluster_process
from faults.cluster_process import FILES, PARTITIONS, ROWS
from faults.matrix import LONG_AGO, data_files, leftovers, live_files, vacuumed
from foreign.delta_rs import ids_by_delta_rs
from foreign.kernel import files_by_kernel
from support.cluster import jars_of, standalone_cluster
from support.processes import ROOT, run

# A cluster for all of them.
pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.takes_turns]

FAULTS = ("killed-after", "killed", "failed-after", "stalled")
if os.environ.get("TORTURE_POINTS", "1") == "1":
    FAULTS = FAULTS[:1]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table below `<statement>/<fault>/t` each, once the statement was run with the fault."""
    directory = tmp_path_factory.mktemp("cluster")
    module = cluster_process.__name__
    with standalone_cluster(directory, workers=2) as master:
        run(
            [sys.executable, "-m", module, master, directory, ":".join(jars_of(spark)), *FAULTS],
            directory,
            PYTHONPATH=str(ROOT / "tests"),
        )
    return directory


def actions(table: Path, kind: str) -> list[str]:
    lines = (line for file in table.glob("_delta_log/*.json") for line in file.open())
    return [action[kind]["path"] for action in map(json.loads, lines) if kind in action]


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost_and_nothing_twice(spark: SparkSession, tables: Path, fault: str):
    checks = {"optimize": check_optimized, "order": check_order, "checkpoint": check_checkpoint}
    for statement, check in checks.items():
        t = tables / statement / fault / "t"
        assert (t.parent / "struck").exists()
        assert ids_by_delta_rs(t) == list(range(ROWS))
        check(spark, t, fault)


def check_optimized(spark: SparkSession, t: Path, fault: str) -> None:
    added, removed = check_files(t, fault)
    assert len(removed) == PARTITIONS * FILES and len(added) == PARTITIONS
    assert DeltaRs(str(t)).version() > 1, "a batch is a commit"


def check_order(spark: SparkSession, t: Path, fault: str) -> None:
    """What an executor had shuffled is lost with it."""
    added, removed = check_files(t, fault)
    assert len(removed) == FILES and len(added) > 2, "several tasks"
    ids = [pq.read_table(t / path, columns=["id"])["id"].to_pylist() for path in added]
    assert [x for file in sorted(ids, reverse=True) for x in file] == list(range(ROWS))[::-1]


def check_files(t: Path, fault: str) -> tuple[set[str], set[str]]:
    """Check that each file is added and removed once; gives the new and the old ones."""
    added, removed = Counter(actions(t, "add")), Counter(actions(t, "remove"))
    assert set(added.values()) == set(removed.values()) == {1}
    of_lost_tasks = data_files(t) - live_files(t) - set(removed)
    # A task that fails, other than one whose process is killed, takes its file away itself; one
    # that stalled does so if its executor still runs by then.
    if fault != "stalled":
        assert bool(of_lost_tasks) == (fault != "failed-after")
    assert of_lost_tasks <= vacuumed(t)
    return set(added - removed), set(removed)


def check_checkpoint(spark: SparkSession, t: Path, fault: str) -> None:
    assert files_by_kernel(spark, t) == PARTITIONS * FILES
    for file in (t / "_delta_log").rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    spark.sql(f"CLEANUP LOG delta.`{t}`")
    assert leftovers(t) == set()
    (t / "_delta_log" / f"{0:020}.json").unlink(missing_ok=True)
    assert ids_by_delta_rs(t) == list(range(ROWS)), "from the checkpoint alone"

"""No request to the store may fail such that a row, or a version that was promised, is lost."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from deltalake import DeltaTable as DeltaRs
from pyspark.sql import SparkSession

from faults.matrix import FAULTS, Matrix
from faults.scenarios import ALL, CHECKPOINTS, CLEANUPS, OPTIMIZES, Scenario, newest

SEED = int(os.environ.get("TORTURE_SEED", "42"))
POINTS = int(os.environ.get("TORTURE_POINTS", "1"))
"""Of each statement; 0 for all that there are."""
KILLS = int(os.environ.get("TORTURE_KILLS", "1"))


@pytest.mark.takes_turns
@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.name)
def test_nothing_is_lost(
    spark: SparkSession,
    scenario: Scenario,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
):
    matrix = Matrix(spark, scenario, tmp_path)
    points = [(fault, i) for i in range(matrix.requests()) for fault in FAULTS]
    count = min(POINTS, len(points)) or len(points)
    chosen = random.Random(f"{SEED} {scenario.name}").sample(points, count)
    tried = sum(matrix.interrupt(fault, request) for fault, request in chosen)
    record_property("crash points", f"{scenario.name}: {tried} of {len(points)}")
    assert tried


@pytest.mark.takes_turns
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
    assert killed == KILLS


def test_no_part_of_a_checkpoint_is_seen(spark: SparkSession, tmp_path: Path):
    matrix = Matrix(spark, CLEANUPS[-1], tmp_path)
    torn, seen = [], []
    for request in range(matrix.requests()):
        path = matrix.copy()
        torn.append(matrix.fail(path, "torn write", request))
        for file in path.glob("_delta_log/*.checkpoint.parquet"):
            seen.append(pyarrow.parquet.read_schema(file).names)
    assert [at for at in torn if at.startswith("write") and ".checkpoint.parquet" in at] != []
    assert seen != [] and [names for names in seen if "add" not in names] == []


def lose_a_row(path: Path) -> None:
    """Make the file of the last commit one with a row less, as an engine would that drops it."""
    commit = path / "_delta_log" / f"{newest(path):020}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    adds = [action["add"] for action in actions if "add" in action]
    file = path / adds[0]["path"]
    rows = pyarrow.parquet.ParquetFile(file).read()
    pyarrow.parquet.write_table(rows.slice(1), file)
    adds[0]["size"] = file.stat().st_size
    del adds[0]["stats"]
    commit.write_text("\n".join(map(json.dumps, actions)))
    forget_checksums(path)


def lose_a_file(path: Path) -> None:
    """Make the last commit one that adds a file less."""
    commit = path / "_delta_log" / f"{newest(path):020}.json"
    lines = commit.read_text().splitlines()
    adds = [line for line in lines if "add" in json.loads(line)]
    commit.write_text("\n".join(line for line in lines if line != adds[0]))
    forget_checksums(path)


def lose_a_version(path: Path) -> None:
    """Delete the data that only the first version with rows has."""
    first, last = (DeltaRs(str(path), version=v).file_uris() for v in (1, newest(path)))
    for uri in set(first) - set(last):
        Path(uri).unlink()


def forget_checksums(path: Path) -> None:
    for file in path.rglob("*.crc"):
        file.unlink()


@pytest.mark.parametrize("lose", [lose_a_row, lose_a_file, lose_a_version])
def test_what_is_lost_is_noticed(spark: SparkSession, tmp_path: Path, lose: Callable[[Path], None]):
    matrix = Matrix(spark, OPTIMIZES[0], tmp_path)
    path = matrix.copy()
    matrix.run(path)
    matrix.check(path)
    lose(path)
    with pytest.raises((AssertionError, pyarrow.ArrowException)):
        matrix.check(path)

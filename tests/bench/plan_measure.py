"""The benchmarks of planning: each returns its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.cases import scaled
from bench.checkpoint_measure import table_of
from bench.checkpoint_table import CLASSIC
from bench.engines import DELTA, UPKEEP, Worker
from bench.layout import linked_copy
from bench.measure import Bench
from bench.paths import TABLES
from bench.results import SpaceResult
from bench.space_measure import Job, ours, run

SIZES = {"plan_200k": 200_000, "plan_1m": 1_000_000}
WARM = 4
FEW_SMALL = "OPTIONS (minFileSize = '41k')"
"""Of the files, which have 40,000 to 60,000 bytes, a tenth is smaller."""
JOBS = (
    ours("Delta Upkeep, EXPLAIN OPTIMIZE", "EXPLAIN OPTIMIZE {t}"),
    ours("Delta Upkeep, a tenth is small", f"EXPLAIN OPTIMIZE {{t}} {FEW_SMALL}"),
    ours("Delta Upkeep, DESCRIBE HEALTH", "DESCRIBE HEALTH {t}"),
    Job("Delta, collecting its files", DELTA, "collect_files"),
)


def plan(count: int, bench: Bench) -> SpaceResult:
    """Look at all files of a table that has a checkpoint."""
    files = scaled(count, bench.setting.scale)
    runs = run(bench, JOBS, checkpointed(bench, files), linked_copy, warm=WARM)
    return SpaceResult(f"{files:,} small files in a checkpoint", bench.setting, runs)


def checkpointed(bench: Bench, files: int) -> Path:
    """Make a log with a checkpoint, or find it where an earlier run has left it."""
    path = TABLES / f"plan-{files}"
    if not path.exists():
        unfinished = linked_copy(table_of(bench, files, CLASSIC).path, Path(f"{path}.tmp"))
        with Worker(UPKEEP) as worker:
            worker.call("checkpoint", path=str(unfinished))
        unfinished.rename(path)
    return path


BENCHMARKS: dict[str, Callable[[Bench], SpaceResult]] = {
    name: partial(plan, count) for name, count in SIZES.items()
}

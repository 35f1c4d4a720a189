"""The benchmarks of VACUUM, FSCK, ANALYZE and new codecs: each returns its result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.cases import CASE_OF
from bench.engines import DELTA, DELTA_RS, DUCKDB, UPKEEP, EngineError, Worker, rotated
from bench.layout import fresh_copy, linked_copy
from bench.measure import Bench, appended, discard
from bench.paths import DRIVER_MEMORY, WORK
from bench.results import EngineRuns, SpaceResult
from bench.space_table import data_files, littered, numerous, without_statistics

LIVE, REMOVED, ORPHANS = 30_000, 30_000, 3_000
CHECKED = 100_000
MILLION = 1_000_000
CALL_MS = 20
BULK = 1_000
SMALL_DRIVER = "2g"
CODEC = {"spark.sql.parquet.compression.codec": "zstd"}
PARALLEL = {"spark.databricks.delta.vacuum.parallelDelete.enabled": "true"}
FEW_TASKS = {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "4"}
Copy = Callable[[Path, Path], Path]


@dataclass(frozen=True)
class Job:
    """What one engine does with a table.

    Attributes:
        label: Its row in the results.
        engine: Who does it.
        do: The worker's command.
        arguments: Of the command, besides the path of the table.
        once: Whether it is slow enough to be timed once.
        left: Data files that it has to leave; None if they are not counted.
        store: What stands before the path of the table.
        cluster: Where a Spark engine works, if not in its driver.
    """

    label: str
    engine: str
    do: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    once: bool = False
    left: int | None = None
    store: str = ""
    cluster: str = ""


def ours(label: str, statement: str, left: int | None = None) -> Job:
    """Have ours run a statement, with `{t}` for the name of the table."""
    return Job(label, UPKEEP, "statement", {"statement": statement}, left=left)


def far(bulk: int) -> Job:
    """Have ours vacuum on a store where each call takes its time."""
    conf = {"fs.latency.ms": str(CALL_MS), "fs.latency.bulk.page": str(bulk)}
    return Job(
        f"Delta Upkeep, {bulk:,} a call",
        UPKEEP,
        "statement",
        {"statement": "VACUUM {t} OPTIONS (mode = 'full')", "conf": conf},
        once=bulk == 1,
        left=LIVE,
        store="latency://",
    )


RECOMPRESS = (
    ours("Delta Upkeep", "OPTIMIZE {t} OPTIONS (codec = 'zstd', level = 3)"),
    Job("Delta", DELTA, "statement", {"statement": "OPTIMIZE {t}", "conf": CODEC}),
    Job("delta-rs", DELTA_RS, "optimize", {"codec": "ZSTD"}),
    Job("DuckDB, COPY of the files", DUCKDB, "copy"),
)
VACUUM = (
    ours("Delta Upkeep, full", "VACUUM {t} OPTIONS (mode = 'full')", left=LIVE),
    ours("Delta Upkeep, log", "VACUUM {t} OPTIONS (mode = 'log')", left=LIVE + ORPHANS),
    Job(
        "Delta, parallel deletes",
        DELTA,
        "statement",
        {"statement": "VACUUM {t}", "conf": PARALLEL},
        once=True,
        left=LIVE,
    ),
    Job(
        "Delta, parallel deletes, 4 tasks",
        DELTA,
        "statement",
        {"statement": "VACUUM {t}", "conf": {**PARALLEL, **FEW_TASKS}},
        once=True,
        left=LIVE,
    ),
    Job("delta-rs, full", DELTA_RS, "vacuum", {"full": True}, left=LIVE),
)
ANALYZE = (ours("Delta Upkeep", "ANALYZE TABLE {t} COMPUTE DELTA STATISTICS"),)
FSCK = (
    ours("Delta Upkeep", "FSCK REPAIR TABLE {t} DRY RUN"),
    ours("Delta Upkeep, deep", "FSCK REPAIR TABLE {t} DRY RUN OPTIONS (deep = true)"),
    Job("delta-rs", DELTA_RS, "repair"),
)


def recompress(bench: Bench) -> SpaceResult:
    """Give the files of a table another codec."""
    table = bench.table(CASE_OF["small"])
    runs = run(bench, RECOMPRESS, table, fresh_copy, warm=2)
    return SpaceResult("lineitem in files of 1 MB, from snappy to zstd", bench.setting, runs)


def vacuum(bench: Bench) -> SpaceResult:
    """Delete what expired, and what no commit names."""
    table = littered(LIVE, REMOVED, ORPHANS)
    runs = run(bench, VACUUM, table, linked_copy, warm=2, small=littered(300, 300, 30))
    what = f"VACUUM of {LIVE:,} live, {REMOVED:,} removed and {ORPHANS:,} orphaned files"
    return SpaceResult(what, bench.setting, runs)


def vacuum_again(bench: Bench) -> SpaceResult:
    """Find that there is nothing to delete."""
    jobs = [replace(job, left=LIVE) for job in VACUUM]
    small = littered(300, 0, 0)
    runs = run(bench, jobs, littered(LIVE, 0, 0), linked_copy, warm=2, small=small)
    return SpaceResult(f"VACUUM of {LIVE:,} live files: nothing to do", bench.setting, runs)


def vacuum_far(bench: Bench) -> SpaceResult:
    """Do the same on a store that is far away."""
    table = littered(LIVE, REMOVED, ORPHANS)
    runs = run(bench, (far(1), far(BULK)), table, linked_copy, small=littered(300, 300, 30))
    what = f"VACUUM of {REMOVED + ORPHANS:,} files on a store where a call takes {CALL_MS} ms"
    return SpaceResult(what, bench.setting, runs)


def vacuum_million(bench: Bench) -> SpaceResult:
    """Delete by the log what a million removals name."""
    job = replace(ours("Delta Upkeep, log", "VACUUM {t} OPTIONS (mode = 'log')", LIVE), once=True)
    table, small = littered(LIVE, MILLION, 0), littered(300, 300, 30)
    runs = run(bench, (job,), table, linked_copy, small=small, memory=SMALL_DRIVER)
    what = f"VACUUM of {MILLION:,} removed files in a driver of {SMALL_DRIVER}"
    return SpaceResult(what, bench.setting, runs)


def analyze(bench: Bench) -> SpaceResult:
    """Make the statistics of files that have none."""
    table = without_statistics(bench.table(CASE_OF["small"]))
    runs = run(bench, ANALYZE, table, linked_copy, warm=2)
    scan = run(bench, (Job("Spark, reading all", DELTA, "scan"),), table, linked_copy, warm=2)
    return SpaceResult("statistics of lineitem in files of 1 MB", bench.setting, {**runs, **scan})


def fsck(bench: Bench) -> SpaceResult:
    """Look whether all files are there."""
    table = numerous(CHECKED)
    runs = run(bench, FSCK, table, linked_copy, warm=1)
    seconds = tuple(listing_seconds(table) for _ in range(bench.setting.runs))
    runs["listing by one thread"] = EngineRuns(seconds=seconds)
    return SpaceResult(f"FSCK of {CHECKED:,} files", bench.setting, runs)


def run(
    bench: Bench,
    jobs: Sequence[Job],
    table: Path,
    copy: Copy,
    warm: int = 1,
    small: Path | None = None,
    memory: str = DRIVER_MEMORY,
) -> dict[str, EngineRuns]:
    """Have all jobs done in turns, each with a copy of its own; some turns do not count.

    Slow jobs warm up with a small table.
    """
    by_label = {job.label: job for job in jobs}
    runs = {label: EngineRuns() for label in by_label}
    with ExitStack() as stack:
        workers = {
            (name, cluster): stack.enter_context(Worker(name, memory, cluster))
            for name, cluster in dict.fromkeys((job.engine, job.cluster) for job in jobs)
        }
        for turn in range(-warm, bench.setting.runs):
            for label in rotated(list(by_label), turn):
                job = by_label[label]
                done = runs[label]
                if done.error or (job.once and done.seconds):
                    continue
                is_short = job.once and turn < 0
                target = copy(small if small and is_short else table, WORK / f"space-{turn + warm}")
                worker = workers[job.engine, job.cluster]
                timed = once(bench, worker, job, target, done)
                left = None if is_short else job.left
                if left not in (None, data_files(target)) and not timed.error:
                    raise RuntimeError(f"{job.label} left {data_files(target):,} files.")
                discard(target)
                runs[label] = timed if turn >= 0 or timed.error else done
    return runs


def once(bench: Bench, worker: Worker, job: Job, table: Path, runs: EngineRuns) -> EngineRuns:
    """Add one run of a job."""
    try:
        reply = worker.call(job.do, path=f"{job.store}{table}", **job.arguments)
    except EngineError as e:
        bench.say(f"{job.label} failed: {e}")
        return EngineRuns(error=str(e))
    bench.say(f"{job.label} {reply['seconds']:.2f} s")
    return replace(
        runs,
        seconds=(*runs.seconds, reply["seconds"]),
        peak_heap_mb=appended(runs.peak_heap_mb, reply.get("peak_heap_mb")),
    )


def listing_seconds(table: Path) -> float:
    """List all directories, with the size of each file."""
    started = time.perf_counter()
    for directory in (table, *(d for d in table.iterdir() if d.is_dir())):
        with os.scandir(directory) as entries:
            for entry in entries:
                entry.stat()
    return time.perf_counter() - started


BENCHMARKS: dict[str, Callable[[Bench], SpaceResult]] = {
    "recompress": recompress,
    "vacuum": vacuum,
    "vacuum_again": vacuum_again,
    "vacuum_far": vacuum_far,
    "vacuum_million": vacuum_million,
    "analyze": analyze,
    "fsck": fsck,
}

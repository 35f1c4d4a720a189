"""The benchmarks of ZORDER BY and of clustering: each returns its result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from bench.cases import CASE_OF
from bench.engines import DELTA, DELTA_RS, DUCKDB, UPKEEP, Worker, rotated
from bench.layout import linked_copy, live_files
from bench.measure import READS_BEFORE, Bench, discard
from bench.paths import DRIVER_MEMORY, EXECUTORS, LOGS, TEST_CLASSES, WORK
from bench.results import EngineRuns, SpaceResult
from bench.space_measure import Job, run
from support.cluster import standalone_cluster

KEYS = ["l_shipdate", "l_partkey"]
COLUMNS = ", ".join(KEYS)
# So that a table of 200 MB gets more than one file.
FILE_BYTES = 16 << 20
CONF = {"spark.databricks.delta.optimize.maxFileSize": str(FILE_BYTES)}
# The fastest needs 20 seconds until the JVM has compiled what is hot, as in the cases of OPTIMIZE.
WARM = 5
GROWTH = 10
SMALL_HEAP = "1g"
QUERIES = 20
SORT = Job("DuckDB, sorted into one file", DUCKDB, "sort", {"keys": KEYS})


def statement(engine: str, label: str, text: str) -> Job:
    """Have a Spark engine run a statement that makes files of 16 MiB."""
    return Job(label, engine, "statement", {"statement": text, "conf": CONF})


ZORDER = (
    statement(UPKEEP, "Delta Upkeep", f"OPTIMIZE {{t}} ZORDER BY ({COLUMNS})"),
    statement(DELTA, "Delta", f"OPTIMIZE {{t}} ZORDER BY ({COLUMNS})"),
    Job("delta-rs", DELTA_RS, "z_order", {"keys": KEYS, "target": FILE_BYTES}),
    SORT,
)
SORTED = (
    statement(UPKEEP, "Delta Upkeep", f"OPTIMIZE {{t}} ORDER BY ({COLUMNS})"),
    SORT,
)
LIQUID = (
    statement(UPKEEP, "Delta Upkeep", "OPTIMIZE {t} FULL"),
    statement(DELTA, "Delta", "OPTIMIZE {t} FULL"),
)


def zorder(bench: Bench) -> SpaceResult:
    """Put all rows in Z-order."""
    runs = run(bench, ZORDER, bench.table(CASE_OF["small"]), linked_copy, warm=WARM)
    return SpaceResult(f"lineitem in files of 1 MB, ZORDER BY ({COLUMNS})", bench.setting, runs)


def liquid(bench: Bench) -> SpaceResult:
    """Cluster all rows of a table with CLUSTER BY."""
    table = linked_copy(bench.table(CASE_OF["small"]), WORK / "clustered")
    clause = f"ALTER TABLE {{t}} CLUSTER BY ({COLUMNS})"
    with Worker(DELTA, DRIVER_MEMORY) as worker:
        worker.call("statement", path=str(table), statement=clause)
    runs = run(bench, LIQUID, table, linked_copy, warm=WARM)
    return SpaceResult(f"lineitem in files of 1 MB, CLUSTER BY ({COLUMNS})", bench.setting, runs)


def sort(bench: Bench) -> SpaceResult:
    """Sort all rows."""
    runs = run(bench, SORTED, bench.table(CASE_OF["small"]), linked_copy, warm=WARM)
    return SpaceResult(f"lineitem in files of 1 MB, ORDER BY ({COLUMNS})", bench.setting, runs)


def zorder_heap(bench: Bench) -> SpaceResult:
    """Put several gigabytes in Z-order in a heap of one."""
    table = bench.table(CASE_OF["small"], growth=GROWTH)
    jobs = (replace(ZORDER[0], once=True),)
    small = bench.table(CASE_OF["small"])
    runs = run(bench, jobs, table, linked_copy, small=small, memory=SMALL_HEAP)
    what = f"{GROWTH} times as many of these files, ZORDER BY ({COLUMNS}) in a heap of {SMALL_HEAP}"
    return SpaceResult(what, bench.setting, runs)


def zorder_executors(bench: Bench) -> SpaceResult:
    """Have four executors put all rows in Z-order, on the processors that one process has else."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with Worker(UPKEEP) as worker:
        class_path = ":".join(map(str, [TEST_CLASSES, *worker.call("jars")["jars"]]))
    with standalone_cluster(LOGS, EXECUTORS, applications=2) as master:
        cluster = f"{master} {class_path}"
        spread = tuple(
            replace(job, label=f"{job.label}, {EXECUTORS} executors", cluster=cluster)
            for job in ZORDER[:2]
        )
        jobs = (ZORDER[0], *spread)
        runs = run(bench, jobs, bench.table(CASE_OF["small"]), linked_copy, warm=1)
    what = f"lineitem in files of 1 MB, ZORDER BY ({COLUMNS}) by {EXECUTORS} executors of 1 GB"
    return SpaceResult(what, bench.setting, runs)


def queries(bench: Bench) -> SpaceResult:
    """Have Spark and DuckDB look for single values in what each engine made."""
    jobs = [job for job in ZORDER if job is not SORT]
    table = bench.table(CASE_OF["small"])
    parts = pq.read_table(next(table.glob("*.parquet")), columns=["l_partkey"])["l_partkey"]
    keys = parts.take(list(range(0, len(parts), len(parts) // QUERIES))).to_pylist()[:QUERIES]
    seconds: dict[str, list[float]] = {}
    with ExitStack() as stack:
        names = dict.fromkeys((DELTA, DUCKDB, *(job.engine for job in jobs)))
        workers = {name: stack.enter_context(Worker(name, DRIVER_MEMORY)) for name in names}
        copies = {job.label: linked_copy(table, WORK / f"queries-{job.engine}") for job in jobs}
        for job in jobs:
            workers[job.engine].call(job.do, path=str(copies[job.label]), **job.arguments)
        files = {label: files_of(copy) for label, copy in copies.items()}
        for turn, key in enumerate([*keys[:READS_BEFORE], *keys]):
            where = f"l_partkey = {key}"
            for label in rotated(list(copies), turn):
                path = str(copies[label])
                by_spark = workers[DELTA].call("select", path=path, where=where)
                by_duckdb = workers[DUCKDB].call("select", files=files[label], where=where)
                if turn >= READS_BEFORE:
                    seconds.setdefault(f"{label}, by Spark", []).append(by_spark["seconds"])
                    seconds.setdefault(f"{label}, by DuckDB", []).append(by_duckdb["seconds"])
        for copy in copies.values():
            discard(copy)
    runs = {label: EngineRuns(seconds=tuple(found)) for label, found in sorted(seconds.items())}
    what = f"WHERE l_partkey = ... after ZORDER BY ({COLUMNS}), {QUERIES} values"
    return SpaceResult(what, bench.setting, runs)


def files_of(table: Path) -> list[str]:
    """List the data files of the newest version."""
    return [str(table / add["path"]) for add in live_files(table)]


BENCHMARKS: dict[str, Callable[[Bench], SpaceResult]] = {
    "zorder": zorder,
    "liquid": liquid,
    "sort": sort,
    "queries": queries,
    "zorder_heap": zorder_heap,
    "zorder_executors": zorder_executors,
}

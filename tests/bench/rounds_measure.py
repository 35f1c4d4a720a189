"""The benchmark of tables that grow and are put in order again and again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.cases import CASE_OF
from bench.cluster_measure import COLUMNS, KEYS, ZORDER, statement
from bench.engines import DELTA, DELTA_RS, UPKEEP, Worker
from bench.layout import linked_copy, live_files
from bench.measure import Bench, discard
from bench.paths import DRIVER_MEMORY, WORK
from bench.results import Round, RoundsResult
from bench.space_measure import Job

ROUNDS, SHARE, QUERIES = 10, 0.05, 200
FULL = statement(UPKEEP, "Delta Upkeep, FULL", f"OPTIMIZE {{t}} FULL ZORDER BY ({COLUMNS})")
JOBS = tuple(job for job in ZORDER if job.engine in (UPKEEP, DELTA, DELTA_RS))


@dataclass(frozen=True)
class Queries:
    """Values of the keys that queries look for, as statistics have them."""

    values: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, table: Path) -> Queries:
        """Take some from the first file."""
        keys = pq.read_table(next(table.glob("*.parquet")), columns=KEYS)
        some = keys.take(list(range(0, keys.num_rows, max(1, keys.num_rows // QUERIES))))
        return cls(
            {
                key: [v if isinstance(v, int) else str(v) for v in some[key].to_pylist()]
                for key in KEYS
            }
        )

    def opened(self, live: Sequence[Mapping[str, Any]]) -> float:
        """Of the bytes of files, the share that a query for one value opens on average."""
        files = [(add["size"], json.loads(add["stats"])) for add in live]
        opened = [
            int(size)
            for key, values in self.values.items()
            for value in values
            for size, stats in files
            if stats["minValues"][key] <= value <= stats["maxValues"][key]
        ]
        queries = sum(len(values) for values in self.values.values())
        return sum(opened) / queries / sum(int(size) for size, _ in files)


def rounds(bench: Bench) -> RoundsResult:
    """Append a twentieth and put the table in Z-order, ten times."""
    table = bench.table(CASE_OF["small"])
    queries = Queries.of(table)
    engines = {}
    with ExitStack() as stack:
        names = dict.fromkeys((DELTA, *(job.engine for job in JOBS)))
        workers = {name: stack.enter_context(Worker(name, DRIVER_MEMORY)) for name in names}
        for job in (*JOBS[:1], FULL, *JOBS[1:]):
            copy = linked_copy(table, WORK / "rounds")
            workers[job.engine].call(job.do, path=str(copy), **job.arguments)
            engines[job.label] = tuple(
                one_round(bench, workers, job, copy, table, queries, seed) for seed in range(ROUNDS)
            )
            discard(copy)
    what = f"lineitem in Z-order, {ROUNDS} times {SHARE:.0%} appended and ZORDER BY ({COLUMNS})"
    return RoundsResult(what, bench.setting, engines)


def one_round(
    bench: Bench,
    workers: Mapping[str, Worker],
    job: Job,
    copy: Path,
    table: Path,
    queries: Queries,
    seed: int,
) -> Round:
    """Append and put in order."""
    before = live_files(copy)
    workers[DELTA].call("append_sample", path=str(copy), source=str(table), share=SHARE, seed=seed)
    appended = live_files(copy)
    reply = workers[job.engine].call(job.do, path=str(copy), **job.arguments)
    after = live_files(copy)
    bench.say(f"{job.label} {reply['seconds']:.2f} s")
    return Round(
        reply["seconds"],
        bytes_of_new(before, appended),
        bytes_of_new(appended, after),
        len(after),
        queries.opened(after),
    )


def bytes_of_new(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> int:
    """Count the files that are in the second list only."""
    paths = {add["path"] for add in before}
    return sum(add["size"] for add in after if add["path"] not in paths)


BENCHMARKS: dict[str, Callable[[Bench], RoundsResult]] = {"rounds": rounds}

"""The benchmarks of OPTIMIZE: each takes a bench and returns its result.

A new one is a function here, its result in `results`, and its section in `report`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from bench.cases import CASE_OF, CASES, Case
from bench.engines import DELTA, ENGINES, UPKEEP, EngineError, Worker, rotated
from bench.environment import Setting
from bench.layout import Layout, fresh_copy, layout_of
from bench.paths import TABLES, WORK
from bench.results import (
    Compaction,
    EngineRuns,
    FirstResult,
    HeapResult,
    HeapRun,
    OptimizeResult,
)

FIRST_ENGINES = (UPKEEP, DELTA)
WARM_UP_SECONDS = 20
"""Of compaction by each engine that do not count: the JVM compiles what is hot while they run."""
READS, READS_BEFORE = 9, 3
"""Of each result by one and the same session, and how many go before that do not count."""
HEAP_MEMORY = "1g"
HEAP_GROWTH = 4.5
Figure = TypeVar("Figure")


@dataclass(frozen=True)
class Bench:
    """What benchmarks share.

    Attributes:
        setting: Where and how they run.
        say: Tells the user what is going on.
    """

    setting: Setting
    say: Callable[[str], None]

    def table(self, case: Case, growth: float = 1) -> Path:
        """Make the table of a case, or find it where an earlier run has left it."""
        scale = self.setting.scale * growth
        path = case.table(scale)
        if not path.exists():
            self.say(f"writing the table {path.name}")
            TABLES.mkdir(parents=True, exist_ok=True)
            with Worker(DELTA) as writer:
                writer.call("write", case=case.name, path=str(path), scale=scale)
        return path

    def optimize(
        self, worker: Worker, table: Path, copy: Path, runs: EngineRuns, do: str = "optimize"
    ) -> EngineRuns:
        """Add one OPTIMIZE of a fresh copy to the runs of an engine."""
        fresh_copy(table, copy)
        try:
            reply = worker.call(do, path=str(copy))
        except EngineError as e:
            self.say(f"{copy.name} failed: {e}")
            return EngineRuns(error=str(e))
        self.say(f"{copy.name} {reply['seconds']:.2f} s")
        return replace(
            runs,
            seconds=(*runs.seconds, reply["seconds"]),
            peak_heap_mb=appended(runs.peak_heap_mb, reply.get("peak_heap_mb")),
            live_heap_mb=appended(runs.live_heap_mb, reply.get("live_heap_mb")),
            tiers=tuple(reply.get("tiers", ())),
        )


def optimize(case: Case, bench: Bench) -> OptimizeResult:
    """Compact a table by every engine in turns, then read the results."""
    table = bench.table(case)
    before = layout_of(table)
    engines = {name: EngineRuns() for name in ENGINES}
    copies: dict[str, Path] = {}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name)) for name in ENGINES}
        for name in ENGINES:
            engines[name] = warm_up(bench, workers[name], table, f"{case.name}-warm-{name}")
        for turn in range(bench.setting.runs):
            for name in rotated(ENGINES, turn):
                if engines[name].error:
                    continue
                discard(copies.pop(name, None))
                # Of a process that slept while others ran, the system takes pages away.
                before_it = f"{case.name}-{turn}-{name}-untimed"
                untimed(bench, workers[name], table, before_it, EngineRuns())
                copies[name] = WORK / f"{case.name}-{turn}-{name}"
                engines[name] = bench.optimize(workers[name], table, copies[name], engines[name])
        for name in (name for name, runs in engines.items() if not runs.error):
            engines[name] = replace(engines[name], output=result_of(copies[name], before, name))
        read(bench, workers[DELTA], case, copies, engines)
    return OptimizeResult(case.what, bench.setting, before, engines)


def warm_up(bench: Bench, worker: Worker, table: Path, name: str) -> EngineRuns:
    """Compact until an engine has had its time; no runs, or the error that it met."""
    runs = EngineRuns()
    while not runs.error and sum(runs.seconds) < WARM_UP_SECONDS:
        runs = untimed(bench, worker, table, name, runs)
    return EngineRuns(error=runs.error)


def untimed(bench: Bench, worker: Worker, table: Path, name: str, runs: EngineRuns) -> EngineRuns:
    """Add an OPTIMIZE whose result nobody needs."""
    copy = WORK / name
    runs = bench.optimize(worker, table, copy, runs)
    discard(copy)
    return runs


def read(
    bench: Bench,
    reader: Worker,
    case: Case,
    copies: dict[str, Path],
    engines: dict[str, EngineRuns],
) -> None:
    """Add to the runs of each engine what reading its result costs one and the same session."""
    where = case.narrow(bench.setting.scale)
    names = [name for name, runs in engines.items() if runs.output]
    for turn in range(READS_BEFORE + READS):
        for name in rotated(names, turn):
            path = str(copies[name])
            scan = reader.call("scan", path=path)["seconds"]
            select = reader.call("select", path=path, where=where)["seconds"]
            if turn < READS_BEFORE:
                continue
            runs = engines[name]
            engines[name] = replace(
                runs,
                scan_seconds=(*runs.scan_seconds, scan),
                select_seconds=(*runs.select_seconds, select),
            )
    bench.say(f"read {READS_BEFORE + READS} times")


def first(bench: Bench) -> FirstResult:
    """Time the first OPTIMIZE of fresh sessions, ours and Delta's in turns."""
    case = CASE_OF["small"]
    table = bench.table(case)
    before = layout_of(table)
    engines = {name: EngineRuns() for name in FIRST_ENGINES}
    for turn in range(bench.setting.runs):
        for name in rotated(FIRST_ENGINES, turn):
            if engines[name].error:
                continue
            copy = WORK / f"first-{turn}-{name}"
            with Worker(name) as worker:
                runs = bench.optimize(worker, table, copy, engines[name])
            if not runs.error:
                runs = replace(runs, output=result_of(copy, before, name))
            engines[name] = runs
            discard(copy)
    return FirstResult(f"{case.what}, in a fresh session", bench.setting, before, engines)


def heap(bench: Bench) -> HeapResult:
    """Compact a table and one that is several times as large, each in a fresh small heap."""
    case = CASE_OF["small"]
    small = heap_run(bench, bench.table(case), "heap-small")
    large = heap_run(bench, bench.table(case, growth=HEAP_GROWTH), "heap-large")
    return HeapResult(f"{case.what}, ours only", bench.setting, HEAP_MEMORY, small, large)


def heap_run(bench: Bench, table: Path, name: str) -> HeapRun:
    """Compact a table in a small heap, and see how much of that is ever in use at once."""
    before = layout_of(table)
    runs = EngineRuns()
    copy = WORK / name
    with Worker(UPKEEP, memory=HEAP_MEMORY) as worker:
        for _ in range(bench.setting.runs):
            if not runs.error:
                runs = bench.optimize(worker, table, copy, runs, do="optimize_collecting")
    if not runs.error:
        runs = replace(runs, output=result_of(copy, before, name))
    discard(copy)
    return HeapRun(before, runs)


def appended(figures: tuple[Figure, ...], figure: Figure | None) -> tuple[Figure, ...]:
    """Add a figure if there is one."""
    return figures if figure is None else (*figures, figure)


def result_of(table: Path, before: Layout, engine: str) -> Layout:
    """Look at a result, and refuse one with other rows than the table had."""
    after = layout_of(table)
    if after.rows != before.rows:
        raise RuntimeError(f"{engine} made {after.rows} rows of {before.rows}: {table}")
    return after


def discard(copy: Path | None) -> None:
    """Remove a copy that is not needed any more."""
    if copy:
        shutil.rmtree(copy, ignore_errors=True)


BENCHMARKS: dict[str, Callable[[Bench], Compaction]] = {
    **{case.name: partial(optimize, case) for case in CASES},
    "first": first,
    "heap": heap,
}

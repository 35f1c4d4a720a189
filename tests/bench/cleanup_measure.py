"""The benchmarks of CLEANUP LOG: each takes a bench and returns its result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from bench.cleanup_table import LATER_COMMITS, expired_log, left_in
from bench.engines import DELTA, LABELS, UPKEEP, EngineError, Worker
from bench.layout import linked_copy
from bench.measure import Bench, appended, discard
from bench.paths import WORK
from bench.results import CleanupHeapResult, CleanupResult, CleanupRuns

EXPIRED = 10_000
MANY_EXPIRED = 250_000
CALL_MS = 20
HEAP_MEMORY = "1g"


@dataclass(frozen=True)
class Cleaner:
    """An engine on a store.

    Attributes:
        engine: Its name.
        bulk: Files that the store deletes in a call.
        once: Whether it is slow enough to be timed once.
    """

    engine: str
    bulk: int = 1
    once: bool = False

    @property
    def label(self) -> str:
        """Its name in the results."""
        return LABELS[self.engine] + (f", {self.bulk} files a call" if self.bulk > 1 else "")


CLEANERS = (Cleaner(UPKEEP), Cleaner(UPKEEP, bulk=250), Cleaner(DELTA, once=True))


def cleanup(bench: Bench) -> CleanupResult:
    """Clean a log on a store that is far away, by each engine in turns."""
    table = expired_log(EXPIRED)
    runs = {cleaner.label: CleanupRuns() for cleaner in CLEANERS}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name)) for name in (UPKEEP, DELTA)}
        for turn in range(bench.setting.runs):
            for cleaner in CLEANERS:
                done = runs[cleaner.label]
                if done.error or (cleaner.once and done.seconds):
                    continue
                copy = linked_copy(table, WORK / f"cleanup-{turn}")
                runs[cleaner.label] = clean(
                    bench, workers[cleaner.engine], cleaner, str(copy), done
                )
                if left_in(copy) != LATER_COMMITS + 1:
                    raise RuntimeError(f"{cleaner.label} left {left_in(copy)} commits.")
                discard(copy)
    what = f"{EXPIRED:,} expired commits, {CALL_MS} ms a call"
    return CleanupResult(what, bench.setting, 2 * EXPIRED, runs)


def clean(
    bench: Bench, worker: Worker, cleaner: Cleaner, path: str, runs: CleanupRuns
) -> CleanupRuns:
    """Add one cleanup to the runs of an engine."""
    try:
        reply = worker.call("cleanup", path=path, bulk=cleaner.bulk, call_ms=CALL_MS)
    except EngineError as e:
        bench.say(f"{cleaner.label} failed: {e}")
        return CleanupRuns(error=str(e))
    bench.say(f"{cleaner.label} {reply['seconds']:.2f} s, {reply['requests']}")
    return replace(
        runs,
        seconds=(*runs.seconds, reply["seconds"]),
        requests=reply["requests"],
        peak_heap_mb=appended(runs.peak_heap_mb, reply["peak_heap_mb"]),
    )


def heap(bench: Bench) -> CleanupHeapResult:
    """Clean a log and one of many more files, and see how much of a small heap is in use."""
    opening: dict[int, float] = {}
    live: dict[int, float] = {}
    for expired in (EXPIRED // 2, MANY_EXPIRED):
        copy = linked_copy(expired_log(expired), WORK / f"cleanup-heap-{expired}")
        with Worker(UPKEEP, memory=HEAP_MEMORY) as worker:
            # What the first statement loads is of no table.
            for path in (linked_copy(expired_log(EXPIRED // 2), WORK / "cleanup-warm"), copy):
                opened = worker.call("open_collecting", path=str(path))["live_heap_mb"]
                cleaned = worker.call("cleanup_collecting", path=str(path))["live_heap_mb"]
        opening[2 * expired], live[2 * expired] = opened, cleaned
        bench.say(f"{2 * expired:,} files: {opened:.0f} MB live to open, {cleaned:.0f} MB to clean")
        discard(copy)
    return CleanupHeapResult("ours only", bench.setting, HEAP_MEMORY, opening, live)


BENCHMARKS: dict[str, Callable[[Bench], CleanupResult | CleanupHeapResult]] = {
    "cleanup": cleanup,
    "cleanup_heap": heap,
}

"""The benchmarks of commits: what each of many appends takes while checkpoints fall due."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.cases import scaled
from bench.checkpoint_log import fresh_log
from bench.checkpoint_measure import table_of
from bench.checkpoint_table import CLASSIC, LogTable
from bench.engines import DELTA, UPKEEP, EngineError, Worker
from bench.measure import Bench, discard
from bench.paths import WORK
from bench.results import AppendRuns, AppendsResult

SIZES = {"appends_1k": 1_000, "appends_200k": 200_000}
ENGINES = (UPKEEP, DELTA)
APPENDS, UNTIMED = 100, 30
INTERVAL = 10
"""Commits from one due checkpoint to the next."""


def appends(count: int, bench: Bench) -> AppendsResult:
    """Append to copies of a table by each engine, all runs of which count together."""
    files = scaled(count, bench.setting.scale)
    table = table_of(bench, files, CLASSIC)
    runs = {name: AppendRuns() for name in ENGINES}
    for turn in range(bench.setting.runs):
        for name in ENGINES:
            if not runs[name].error:
                copy = WORK / f"appends-{turn}-{name}"
                runs[name] = append(bench, table, copy, name, runs[name])
                discard(copy)
    what = f"{APPENDS} appends to a table of {files:,} files, a checkpoint due every {INTERVAL}"
    return AppendsResult(what, bench.setting, files, runs)


def append(bench: Bench, table: LogTable, copy: Path, name: str, runs: AppendRuns) -> AppendRuns:
    """Add the appends of one fresh process."""
    fresh_log(table, copy)
    try:
        with Worker(name) as worker:
            worker.call("prepare_appends", path=str(copy), interval=INTERVAL)
            worker.call("append", path=str(copy), commits=UNTIMED, interval=INTERVAL)
            reply = worker.call("append", path=str(copy), commits=APPENDS, interval=INTERVAL)
    except EngineError as e:
        bench.say(f"{copy.name} failed: {e}")
        return AppendRuns(error=str(e))
    worst = max(reply["seconds"])
    bench.say(f"{copy.name} worst {worst:.2f} s, checkpoints {reply['late_seconds']:.2f} s later")
    return AppendRuns(
        (*runs.seconds, *reply["seconds"]), (*runs.late_seconds, reply["late_seconds"])
    )


BENCHMARKS: dict[str, Callable[[Bench], AppendsResult]] = {
    name: partial(appends, files) for name, files in SIZES.items()
}

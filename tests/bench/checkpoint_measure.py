"""The benchmarks of CHECKPOINT: the first one, and the next one after some commits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from bench.cases import scaled
from bench.checkpoint_log import add_later, fresh_log, state_of, written_since
from bench.checkpoint_table import LATER_COMMITS, LATER_FILES, POLICIES, LogTable
from bench.engines import CHECKPOINTERS, DELTA, EngineError, Worker, rotated
from bench.measure import Bench, appended, discard
from bench.paths import TABLES, WORK
from bench.results import CheckpointResult, CheckpointRuns, Checkpoints

SIZES = {"checkpoint_1k": 1_000, "checkpoint_200k": 200_000, "checkpoint_1m": 1_000_000}
WARM_UP_SECONDS, WARM_UP_ROUNDS = 20, 10
"""Of checkpoints by each engine of each policy that do not count, whichever are over first."""
QUICK_SECONDS = 5
"""A turn that takes less is taken again, and only then counts."""
Value = TypeVar("Value")


def checkpoint(count: int, bench: Bench) -> CheckpointResult:
    """Checkpoint tables of each policy by every engine in turns."""
    files = scaled(count, bench.setting.scale)
    tables = {policy: table_of(bench, files, policy) for policy in POLICIES}
    made: dict[str, dict[str, Checkpoints]] = {}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name)) for name in CHECKPOINTERS}
        for policy, table in tables.items():
            made[policy] = {
                name: warm_up(bench, worker, table, f"{policy}-warm-{name}")
                for name, worker in workers.items()
            }
        for turn in range(bench.setting.runs):
            for policy, table in tables.items():
                for name in rotated(CHECKPOINTERS, turn):
                    copy = f"{policy}-{turn}-{name}"
                    before = made[policy][name]
                    made[policy][name] = take_turn(bench, workers[name], table, copy, before)
    what = f"{files:,} files, then {LATER_COMMITS} commits of {LATER_FILES} files"
    return CheckpointResult(what, bench.setting, files, LATER_COMMITS * LATER_FILES, made)


def table_of(bench: Bench, files: int, policy: str) -> LogTable:
    """Make a table, or find it where an earlier run has left it."""
    table = LogTable(files, policy)
    if not table.path.exists():
        bench.say(f"writing the table {table.path.name}")
        TABLES.mkdir(parents=True, exist_ok=True)
        with Worker(DELTA) as writer:
            writer.call("write_log", path=str(table.path), files=files, policy=policy)
    return table


def warm_up(bench: Bench, worker: Worker, table: LogTable, name: str) -> Checkpoints:
    """Checkpoint until an engine has had its time; no runs, or the errors that it met."""
    made = Checkpoints()
    for _ in range(WARM_UP_ROUNDS):
        made = both(bench, worker, table, name, made)
        if failed(made) or sum((*made.first.seconds, *made.after.seconds)) >= WARM_UP_SECONDS:
            break
    return Checkpoints(
        CheckpointRuns(error=made.first.error), CheckpointRuns(error=made.after.error)
    )


def take_turn(
    bench: Bench, worker: Worker, table: LogTable, name: str, made: Checkpoints
) -> Checkpoints:
    """Add a run of both checkpoints, where none has failed."""
    if failed(made):
        return made
    added = both(bench, worker, table, name, made)
    if failed(added) or sum(last_seconds(added)) >= QUICK_SECONDS:
        return added
    # Of a process that slept while others ran, the system takes pages away.
    return both(bench, worker, table, f"{name}-again", made)


def both(
    bench: Bench, worker: Worker, table: LogTable, name: str, made: Checkpoints
) -> Checkpoints:
    """Add a first checkpoint of a fresh copy, and the one after its later commits."""
    copy = fresh_log(table, WORK / name)
    first = run(bench, worker, copy, table.files, made.first)
    after = made.after
    if not first.error:
        add_later(table, copy)
        after = run(bench, worker, copy, table.files + LATER_COMMITS * LATER_FILES, after)
    discard(copy)
    return Checkpoints(first, after)


def run(
    bench: Bench, worker: Worker, copy: Path, files: int, runs: CheckpointRuns
) -> CheckpointRuns:
    """Add one checkpoint to the runs of an engine, if it holds so many files."""
    before = state_of(copy)
    try:
        reply = worker.call("checkpoint", path=str(copy))
        written = written_since(copy, before)
        if written.files != files:
            raise ValueError(f"The checkpoint has {written.files} files and not {files}.")
    except (EngineError, ValueError) as e:
        bench.say(f"{copy.name} failed: {e}")
        return CheckpointRuns(error=str(e))
    bench.say(f"{copy.name} {reply['seconds']:.2f} s")
    return replace(
        runs,
        seconds=(*runs.seconds, reply["seconds"]),
        bytes_written=(*runs.bytes_written, written.bytes),
        bytes_read=appended(runs.bytes_read, reply["bytes_read"]),
        peak_heap_mb=appended(runs.peak_heap_mb, reply["peak_heap_mb"]),
        modes=distinct(runs.modes, reply.get("mode")),
        layouts=distinct(runs.layouts, written.layout),
    )


def failed(made: Checkpoints) -> bool:
    """Tell whether an engine cannot do both checkpoints."""
    return bool(made.first.error or made.after.error)


def last_seconds(made: Checkpoints) -> tuple[float, float]:
    """Take the seconds of the last run of each."""
    return made.first.seconds[-1], made.after.seconds[-1]


def distinct(values: tuple[Value, ...], value: Value | None) -> tuple[Value, ...]:
    """Add a value that is not there yet; None adds nothing."""
    return values if value is None or value in values else (*values, value)


BENCHMARKS: dict[str, Callable[[Bench], CheckpointResult]] = {
    name: partial(checkpoint, files) for name, files in SIZES.items()
}

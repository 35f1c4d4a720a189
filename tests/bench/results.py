"""What was measured, and how it is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.environment import Setting
from bench.layout import Layout


@dataclass(frozen=True)
class EngineRuns:
    """What one engine did with a case.

    Attributes:
        seconds: Of each timed OPTIMIZE.
        peak_heap_mb: Of each, garbage included, where the engine has a JVM.
        live_heap_mb: The most that a full collection left in each, where those were made.
        tiers: How ours carried out the bins.
        scan_seconds: Of each full scan of the result.
        select_seconds: Of each selective query of the result.
        output: The files of the result, None if there is none.
        error: Why there is none.
    """

    seconds: tuple[float, ...] = ()
    peak_heap_mb: tuple[float, ...] = ()
    live_heap_mb: tuple[float, ...] = ()
    tiers: tuple[str, ...] = ()
    scan_seconds: tuple[float, ...] = ()
    select_seconds: tuple[float, ...] = ()
    output: Layout | None = None
    error: str | None = None


@dataclass(frozen=True)
class OptimizeResult:
    """A table compacted by every engine, in warm sessions."""

    what: str
    setting: Setting
    before: Layout
    engines: Mapping[str, EngineRuns]
    kind: str = field(default="optimize", init=False)


@dataclass(frozen=True)
class FirstResult:
    """The first OPTIMIZE of fresh sessions."""

    what: str
    setting: Setting
    before: Layout
    engines: Mapping[str, EngineRuns]
    kind: str = field(default="first", init=False)


@dataclass(frozen=True)
class HeapRun:
    """One compaction in a small heap."""

    before: Layout
    runs: EngineRuns


@dataclass(frozen=True)
class HeapResult:
    """What compactions of a table and of one several times its size need of a small heap."""

    what: str
    setting: Setting
    memory: str
    small: HeapRun
    large: HeapRun
    kind: str = field(default="heap", init=False)


@dataclass(frozen=True)
class CheckpointRuns:
    """The checkpoints that one engine made at one and the same version of a table.

    Attributes:
        seconds: Of each timed checkpoint.
        bytes_written: Of all files in the log that each made or replaced.
        bytes_read: By the process of the engine during each, where the system tells it.
        peak_heap_mb: Of each, garbage included, where the engine has a JVM.
        modes: How ours built them.
        layouts: Of what files they are.
        error: Why there is none.
    """

    seconds: tuple[float, ...] = ()
    bytes_written: tuple[int, ...] = ()
    bytes_read: tuple[int, ...] = ()
    peak_heap_mb: tuple[float, ...] = ()
    modes: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Checkpoints:
    """The first checkpoints of copies of a table, and those after later commits."""

    first: CheckpointRuns = CheckpointRuns()
    after: CheckpointRuns = CheckpointRuns()


@dataclass(frozen=True)
class CheckpointResult:
    """A table checkpointed by every engine, in warm processes.

    Attributes:
        what: One line for the reader of the results.
        setting: Where and how it was measured.
        files: In the table at the first checkpoint.
        later_files: That the later commits add.
        policies: What each engine did, by policy of the table and then by engine.
    """

    what: str
    setting: Setting
    files: int
    later_files: int
    policies: Mapping[str, Mapping[str, Checkpoints]]
    kind: str = field(default="checkpoint", init=False)


@dataclass(frozen=True)
class CleanupRuns:
    """The cleanups of copies of one log by one engine.

    Attributes:
        seconds: Of each timed one.
        requests: That the last one made of the store, by kind.
        peak_heap_mb: Of each, garbage included.
        error: Why there is none.
    """

    seconds: tuple[float, ...] = ()
    requests: str = ""
    peak_heap_mb: tuple[float, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class CleanupResult:
    """A log cleaned by every engine, on a store that is far away.

    Attributes:
        what: One line for the reader of the results.
        setting: Where and how it was measured.
        files: To delete.
        engines: What each did, by its label.
    """

    what: str
    setting: Setting
    files: int
    engines: Mapping[str, CleanupRuns]
    kind: str = field(default="cleanup", init=False)


@dataclass(frozen=True)
class CleanupHeapResult:
    """How much of a small heap is live while logs of several sizes are cleaned, by files.

    Attributes:
        what: One line for the reader of the results.
        setting: Where and how it was measured.
        memory: Of the heap.
        opening_mb: What Delta holds while it opens the table, which lists the log too.
        live_heap_mb: What the whole statement holds.
    """

    what: str
    setting: Setting
    memory: str
    opening_mb: Mapping[int, float]
    live_heap_mb: Mapping[int, float]
    kind: str = field(default="cleanup_heap", init=False)


@dataclass(frozen=True)
class AppendRuns:
    """Appends by one engine.

    Attributes:
        seconds: Of each timed commit, of all runs one after the other.
        late_seconds: Of each run, from its last commit until all due checkpoints were there.
        error: Why there is none.
    """

    seconds: tuple[float, ...] = ()
    late_seconds: tuple[float, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class AppendsResult:
    """Many appends to a table of so many files, by each engine."""

    what: str
    setting: Setting
    files: int
    engines: Mapping[str, AppendRuns]
    kind: str = field(default="appends", init=False)


@dataclass(frozen=True)
class SpaceResult:
    """What several engines did with copies of one table.

    Attributes:
        what: One line for the reader of the results.
        setting: Where and how it was measured.
        engines: What each did, by its label; ours is the first.
    """

    what: str
    setting: Setting
    engines: Mapping[str, EngineRuns]
    kind: str = field(default="space", init=False)


@dataclass(frozen=True)
class Round:
    """A table after rows were appended and it was put in order.

    Attributes:
        seconds: Of the statement.
        added: Bytes of the files that were appended.
        written: Bytes of the files that the statement wrote.
        files: Of the table.
        opened: The share of its bytes that a query for one value opens on average.
    """

    seconds: float
    added: int
    written: int
    files: int
    opened: float


@dataclass(frozen=True)
class RoundsResult:
    """A table that grows and is put in order again and again.

    Attributes:
        what: One line for the reader of the results.
        setting: Where and how it was measured.
        engines: The rounds of each, by its label; ours is the first.
    """

    what: str
    setting: Setting
    engines: Mapping[str, Sequence[Round]]
    kind: str = field(default="rounds", init=False)


Compaction = OptimizeResult | FirstResult | HeapResult
Result = (
    Compaction
    | CheckpointResult
    | CleanupResult
    | CleanupHeapResult
    | AppendsResult
    | SpaceResult
    | RoundsResult
)


def save(results: Mapping[str, Result], file: Path) -> None:
    """Write results by name, so that a stop at any point leaves the old file or the new one."""
    unfinished = file.with_suffix(".tmp")
    texts = {name: asdict(result) for name, result in results.items()}
    unfinished.write_text(json.dumps(texts, indent=1) + "\n")
    unfinished.replace(file)


def load(file: Path) -> dict[str, Result]:
    """Read what `save` wrote; nothing if there is no file."""
    if not file.exists():
        return {}
    return {name: _result(value) for name, value in json.loads(file.read_text()).items()}


def _result(value: dict[str, Any]) -> Result:
    what, setting = value["what"], Setting(**value["setting"])
    if value["kind"] == "checkpoint":
        policies = {
            policy: {name: _checkpoints(made) for name, made in engines.items()}
            for policy, engines in value["policies"].items()
        }
        return CheckpointResult(what, setting, value["files"], value["later_files"], policies)
    if value["kind"] == "appends":
        appended = {
            name: AppendRuns(**_figures(r), error=r["error"])
            for name, r in value["engines"].items()
        }
        return AppendsResult(what, setting, value["files"], appended)
    if value["kind"] == "cleanup":
        cleaned = {
            name: CleanupRuns(**_figures(r), requests=r["requests"], error=r["error"])
            for name, r in value["engines"].items()
        }
        return CleanupResult(what, setting, value["files"], cleaned)
    if value["kind"] == "cleanup_heap":
        opening, live = (
            {int(files): mb for files, mb in value[name].items()}
            for name in ("opening_mb", "live_heap_mb")
        )
        return CleanupHeapResult(what, setting, value["memory"], opening, live)
    if value["kind"] == "space":
        return SpaceResult(what, setting, {k: _runs(v) for k, v in value["engines"].items()})
    if value["kind"] == "rounds":
        rounds = {k: tuple(Round(**one) for one in v) for k, v in value["engines"].items()}
        return RoundsResult(what, setting, rounds)
    if value["kind"] == "heap":
        small, large = _heap_run(value["small"]), _heap_run(value["large"])
        return HeapResult(what, setting, value["memory"], small, large)
    kind = FirstResult if value["kind"] == "first" else OptimizeResult
    engines = {name: _runs(runs) for name, runs in value["engines"].items()}
    return kind(what, setting, Layout(**value["before"]), engines)


def _heap_run(value: dict[str, Any]) -> HeapRun:
    return HeapRun(Layout(**value["before"]), _runs(value["runs"]))


def _runs(value: dict[str, Any]) -> EngineRuns:
    output = value["output"]
    return EngineRuns(**_figures(value), output=output and Layout(**output), error=value["error"])


def _checkpoints(value: dict[str, Any]) -> Checkpoints:
    first, after = (
        CheckpointRuns(**_figures(value[phase]), error=value[phase]["error"])
        for phase in ("first", "after")
    )
    return Checkpoints(first, after)


def _figures(value: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {k: tuple(v) for k, v in value.items() if isinstance(v, list)}

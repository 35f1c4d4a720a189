"""What was measured, and how it is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


Result = OptimizeResult | FirstResult | HeapResult


def save(results: Mapping[str, Result], file: Path) -> None:
    """Write results by name, so that a stop at any point leaves the old file or the new one."""
    unfinished = file.with_suffix(".tmp")
    texts = {name: asdict(result) for name, result in results.items()}
    unfinished.write_text(json.dumps(texts, indent=1) + "\n")
    unfinished.replace(file)


def load(file: Path) -> dict[str, Result]:
    """Read what `save` wrote; nothing where there is no file."""
    if not file.exists():
        return {}
    return {name: _result(value) for name, value in json.loads(file.read_text()).items()}


def _result(value: dict[str, Any]) -> Result:
    what, setting = value["what"], Setting(**value["setting"])
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
    lists = {k: tuple(v) for k, v in value.items() if isinstance(v, list)}
    return EngineRuns(**lists, output=output and Layout(**output), error=value["error"])

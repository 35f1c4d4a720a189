"""Writes figures, tables and settings as Markdown; the pages share it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bench.environment import Setting
from bench.results import Result

NONE = "-"


def settings(results: Mapping[str, Result]) -> str:
    """Say where each case was measured: one paragraph where all share it."""
    names: dict[Setting, list[str]] = {}
    for name, result in results.items():
        names.setdefault(result.setting, []).append(name)
    return "\n".join(
        f"{', '.join(cases)}: scale factor {s.scale:g}, {s.runs} runs, {s.date}. "
        f"{s.cpu}, {s.cpus} processors of which {s.cores} are used, {s.memory_gib:g} GiB, "
        f"{s.kernel}. Java {s.java}, Spark {s.spark} with {s.driver_memory} of driver memory, "
        f"Delta {s.delta}, delta-rs {s.delta_rs}, Delta Upkeep {s.upkeep}.\n"
        for s, cases in names.items()
    )


def failures(errors: Mapping[str, str | None]) -> list[str]:
    """Say why there are no figures, by whose they would be; nothing if there is no error."""
    lines = [f"- {who}: {error.splitlines()[0]}" for who, error in errors.items() if error]
    return ["## Failures\n", *lines] if lines else []


def median(figures: Sequence[float]) -> float | None:
    """Take the median, None of nothing."""
    return statistics.median(figures) if figures else None


def ratio(figure: float | None, base: float | None) -> float | None:
    """Divide what there is: 3.0 to 2.0 is 1.5."""
    return None if figure is None or not base else figure / base


def number(figure: float | None, digits: int = 2) -> str:
    """Write a figure."""
    return NONE if figure is None else f"{figure:.{digits}f}"


def times(figure: float | None) -> str:
    """Write a ratio."""
    return NONE if figure is None else f"{figure:.2f}x"


def spread(figures: Sequence[float]) -> str:
    """Write the least and the most."""
    return f"{min(figures):.2f} to {max(figures):.2f}" if figures else NONE


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

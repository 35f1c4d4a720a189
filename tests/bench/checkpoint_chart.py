"""Draws the seconds of a checkpoint against the size of the table, a line for each engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from bench.canvas import COLOURS, COUNT, FAINT, INK, SECONDS, canvas, tidy, under
from bench.checkpoint_report import AFTER, FIRST, Phase
from bench.checkpoint_table import CLASSIC, POLICIES, V2
from bench.engines import CHECKPOINTERS, LABELS, UPKEEP
from bench.figures import median
from bench.results import CheckpointResult, Result

STYLES: dict[str, dict[str, Any]] = {
    CLASSIC: {"linestyle": "-", "marker": "o"},
    V2: {"linestyle": (0, (4, 2)), "marker": "o", "markerfacecolor": "white"},
}


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw every case, in a panel for each phase; nothing if there is no case."""
    cases = [r for r in results.values() if isinstance(r, CheckpointResult)]
    if not cases:
        return
    with canvas(file, (11, 4.8), panels=2) as panels:
        for axes, phase in zip(panels, (AFTER, FIRST), strict=True):
            for policy in POLICIES:
                for engine in CHECKPOINTERS:
                    draw_line(axes, cases, phase, policy, engine)
            dress(axes, phase, sorted({phase.files_of(case) for case in cases}))
        panels[0].set_title(title(cases), loc="left", fontsize=11, pad=58)
        handles = [*map(engine_handle, CHECKPOINTERS), *map(policy_handle, POLICIES)]
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.07)}
        panels[0].legend(handles=handles, ncols=len(handles), frameon=False, **place)


def draw_line(
    axes: Any, cases: Sequence[CheckpointResult], phase: Phase, policy: str, engine: str
) -> None:
    """Draw what one engine took for tables of one policy."""
    points = []
    for case in cases:
        seconds = median(phase.runs_of(case, policy, engine).seconds)
        if seconds is not None:
            points.append((phase.files_of(case), seconds))
    points.sort()
    axes.plot(
        [files for files, _ in points],
        [seconds for _, seconds in points],
        color=COLOURS[engine],
        linewidth=2.4 if engine == UPKEEP else 1.5,
        zorder=3 if engine == UPKEEP else 2,
        **STYLES[policy],
    )


def dress(axes: Any, phase: Phase, sizes: Sequence[int]) -> None:
    """Set axes, grid and the title of a panel."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(COUNT)
    axes.yaxis.set_major_formatter(SECONDS)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(color=FAINT, zorder=0)
    axes.set_xlabel(f"files in the table, {phase.title}")
    tidy(axes)


def engine_handle(engine: str) -> Line2D:
    """Explain a colour."""
    return Line2D([], [], color=COLOURS[engine], linewidth=2.4, label=LABELS[engine])


def policy_handle(policy: str) -> Line2D:
    """Explain a style."""
    return Line2D([], [], color=INK, label=policy, **STYLES[policy])


def title(cases: Sequence[CheckpointResult]) -> str:
    """Say what is drawn, and under which settings."""
    settings = under(case.setting for case in cases)
    return f"Seconds to CHECKPOINT: log scales, lower is better\n{settings}"

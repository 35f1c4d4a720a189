"""Draws the seconds of each case of OPTIMIZE, a bar for each engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.patches import Patch

from bench.canvas import COLOURS, canvas, seconds_below, under
from bench.engines import LABELS, UPKEEP
from bench.figures import median, ratio, times
from bench.results import FirstResult, OptimizeResult, Result

BAR = 0.26


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw every case that compares engines; none is drawn if there is none."""
    cases = {n: r for n, r in results.items() if isinstance(r, OptimizeResult | FirstResult)}
    if not cases:
        return
    with canvas(file, (10, 1.6 + 0.95 * len(cases))) as [axes]:
        for row, result in enumerate(cases.values()):
            draw_case(axes, row, result)
        dress(axes, cases)


def draw_case(axes: Any, row: int, result: OptimizeResult | FirstResult) -> None:
    """Draw the bars of one case, each labelled with its seconds and what it is to ours."""
    ours = median(result.engines[UPKEEP].seconds)
    for place, (engine, runs) in enumerate(result.engines.items()):
        at = row + (place - (len(result.engines) - 1) / 2) * BAR
        seconds = median(runs.seconds)
        if seconds is None:
            axes.text(0.01, at, " failed", transform=axes.get_yaxis_transform(), va="center")
            continue
        axes.barh(at, seconds, height=BAR * 0.88, color=COLOURS[engine], zorder=2)
        share = ratio(seconds, ours)
        label = f"{seconds:.2f} s"
        if engine != UPKEEP and share is not None:
            label += f"   {times(share)} ours"
        weight = "bold" if engine == UPKEEP else "normal"
        axes.annotate(
            label,
            (seconds, at),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            fontweight=weight,
        )


def dress(axes: Any, cases: Mapping[str, OptimizeResult | FirstResult]) -> None:
    """Set axes, grid, title and legend."""
    names = [f"{name}\n{case.before.files:,} files" for name, case in cases.items()]
    seconds_below(axes, names, room=2.2)
    axes.set_title(title(cases), loc="left", fontsize=11, pad=30)
    shown = {engine for case in cases.values() for engine in case.engines}
    handles = [
        Patch(color=COLOURS[engine], label=LABELS[engine]) for engine in LABELS if engine in shown
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)


def title(cases: Mapping[str, OptimizeResult | FirstResult]) -> str:
    """Say what is drawn, and under which settings."""
    settings = under(case.setting for case in cases.values())
    return f"Seconds to OPTIMIZE: log scale, shorter is better\n{settings}"

"""Draws the seconds of each case, a bar for each engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.engines import UPKEEP
from bench.report import LABELS, median, ratio, times
from bench.results import FirstResult, OptimizeResult, Result

COLOURS = {"upkeep": "#0b7a75", "delta": "#9aa5b1", "delta-rs": "#d08c60"}
BAR = 0.26
INK, FAINT = "#1f2933", "#e4e7eb"


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw every case that compares engines; none is drawn where there is none."""
    cases = {n: r for n, r in results.items() if isinstance(r, OptimizeResult | FirstResult)}
    if not cases:
        return
    mpl.use("Agg")
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK}):
        figure, axes = pyplot.subplots(figsize=(10, 1.6 + 0.95 * len(cases)))
        for row, result in enumerate(cases.values()):
            draw_case(axes, row, result)
        dress(axes, cases)
        figure.savefig(file, dpi=160, bbox_inches="tight", facecolor="white")
        pyplot.close(figure)


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
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low * 0.8, high * 2.2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda s, _: f"{s:g} s"))
    axes.grid(axis="x", color=FAINT, zorder=0)
    axes.tick_params(which="both", length=0)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.set_title(title(cases), loc="left", fontsize=11, pad=30)
    shown = {engine for case in cases.values() for engine in case.engines}
    handles = [
        Patch(color=COLOURS[engine], label=LABELS[engine]) for engine in LABELS if engine in shown
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)


def title(cases: Mapping[str, OptimizeResult | FirstResult]) -> str:
    """Say what is drawn, and under which settings."""
    kinds = {(s.runs, s.scale, s.cores) for s in (case.setting for case in cases.values())}
    under = [f"median of {r}, scale factor {s:g}, {c} processors" for r, s, c in sorted(kinds)]
    text = under[0] if len(under) == 1 else "cases differ in settings: see the table"
    return f"Seconds to OPTIMIZE: log scale, shorter is better\n{text}"

"""Draws the seconds of each append, a panel for each table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.ticker import NullFormatter

from bench.appends_measure import APPENDS
from bench.canvas import COLOURS, FAINT, SECONDS, canvas, tidy, under
from bench.engines import LABELS
from bench.results import AppendsResult, Result


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw the commits of the last run of every case; nothing if there is no case."""
    cases = [r for r in results.values() if isinstance(r, AppendsResult)]
    if not cases:
        return
    with canvas(file, (5.5 * len(cases), 3.6), panels=len(cases)) as panels:
        for axes, case in zip(panels, cases, strict=True):
            for engine, runs in case.engines.items():
                seconds = runs.seconds[-APPENDS:]
                axes.plot(seconds, color=COLOURS[engine], label=LABELS[engine], linewidth=1.4)
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(SECONDS)
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.grid(axis="y", color=FAINT, zorder=0)
            axes.set_xlabel(f"append to {case.files:,} files")
            tidy(axes)
        title = "Seconds of each append, of which every tenth makes a checkpoint due: log scale\n"
        panels[0].set_title(title + under(c.setting for c in cases), loc="left", fontsize=11)
        panels[0].legend(frameon=False, loc="upper right")

"""Draws the seconds of clustering, planning, VACUUM, FSCK, ANALYZE and codecs, a bar for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.canvas import COLOURS, canvas, seconds_below, under
from bench.engines import DELTA, DELTA_RS, UPKEEP
from bench.figures import median
from bench.results import Result, SpaceResult


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw all cases, one below the other; nothing if there is no case."""
    cases = {name: r for name, r in results.items() if isinstance(r, SpaceResult)}
    bars = [
        (f"{name}: {who}", who, median(runs.seconds))
        for name, result in cases.items()
        for who, runs in result.engines.items()
    ]
    if not bars:
        return
    with canvas(file, (9, 1.2 + 0.4 * len(bars))) as [axes]:
        for row, (_, who, seconds) in enumerate(bars):
            if seconds is not None:
                axes.barh(row, seconds, height=0.6, color=colour(who), zorder=2)
                place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
                axes.annotate(f"{seconds:.2f} s", (seconds, row), **place)
        seconds_below(axes, [label for label, _, _ in bars])
        title = "Seconds: log scale, shorter is better\n"
        axes.set_title(title + under(c.setting for c in cases.values()), loc="left", fontsize=11)


def colour(who: str) -> str:
    """Choose the colour of an engine by the label of its row."""
    if who.startswith("Delta Upkeep"):
        return COLOURS[UPKEEP]
    return COLOURS[DELTA_RS if who.startswith("delta-rs") else DELTA]

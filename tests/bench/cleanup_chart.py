"""Draws the seconds of CLEANUP LOG, a bar for each engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.canvas import COLOURS, canvas, seconds_below, under
from bench.engines import DELTA, LABELS, UPKEEP
from bench.figures import median
from bench.results import CleanupResult, Result


def draw(results: Mapping[str, Result], file: Path) -> None:
    """Draw the case that compares engines; nothing if there is none."""
    for result in results.values():
        if isinstance(result, CleanupResult):
            draw_case(result, file)


def draw_case(result: CleanupResult, file: Path) -> None:
    """Draw a bar for each engine, labelled with its seconds."""
    names = list(result.engines)
    with canvas(file, (9, 1.2 + 0.5 * len(names))) as [axes]:
        for row, name in enumerate(names):
            seconds = median(result.engines[name].seconds)
            if seconds is None:
                continue
            colour = COLOURS[DELTA if name == LABELS[DELTA] else UPKEEP]
            axes.barh(row, seconds, height=0.6, color=colour, zorder=2)
            axes.annotate(
                f"{seconds:.1f} s",
                (seconds, row),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
            )
        seconds_below(axes, names)
        title = f"Seconds to CLEANUP LOG: log scale, shorter is better\n{result.what}, "
        axes.set_title(title + under([result.setting]), loc="left", fontsize=11)

"""How the charts look, and what they say of their settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.engines import DELTA, DELTA_RS, KERNEL, UPKEEP
from bench.environment import Setting

COLOURS = {UPKEEP: "#0b7a75", DELTA: "#9aa5b1", KERNEL: "#6c5b9e", DELTA_RS: "#d08c60"}
INK, FAINT = "#1f2933", "#e4e7eb"
SECONDS = FuncFormatter(lambda s, _: f"{s:g} s")
COUNT = FuncFormatter(lambda n, _: f"{n:,.0f}")


@contextmanager
def canvas(file: Path, size: tuple[float, float], panels: int = 1) -> Iterator[list[Any]]:
    """Give panels side by side to draw on, and write them to a file in the end."""
    mpl.use("Agg")
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK}):
        figure, axes = pyplot.subplots(1, panels, figsize=size, sharey=True, squeeze=False)
        yield list(axes[0])
        figure.savefig(file, dpi=160, bbox_inches="tight", facecolor="white")
        pyplot.close(figure)


def tidy(axes: Any) -> None:
    """Leave out what says nothing."""
    axes.tick_params(which="both", length=0)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)


def seconds_below(axes: Any, rows: Sequence[str], room: float = 2) -> None:
    """Name the rows, the first on top, above seconds on a log scale with room for labels."""
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low * 0.8, high * room)
    axes.xaxis.set_major_formatter(SECONDS)
    axes.grid(axis="x", color=FAINT, zorder=0)
    tidy(axes)


def under(settings: Iterable[Setting]) -> str:
    """Say under which settings all of it was measured."""
    kinds = {(s.runs, s.scale, s.cores) for s in settings}
    said = [f"median of {r}, scale factor {s:g}, {c} processors" for r, s, c in sorted(kinds)]
    return said[0] if len(said) == 1 else "cases differ in settings: see the table"

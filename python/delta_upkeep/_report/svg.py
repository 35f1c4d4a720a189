"""Charts as inline SVG. Widths are in percent, so that a chart stretches but its text does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from delta_upkeep._report.markup import Markup, joined, tag
from delta_upkeep._units import shortened

_LABEL_WIDTH, _BARS_START, _BARS_WIDTH = 31.0, 32.0, 46.0
_LABEL_LENGTH = 18
_CELLS_IN_A_ROW, _CELL_HEIGHT = 25, 18
_PLOT_TOP, _PLOT_BOTTOM, _PLOT_HEIGHT = 22.0, 122.0, 144
STEPS = 5


@dataclass(frozen=True)
class Mark:
    """One bar or cell: its number, the number as text, and its tooltip."""

    value: float
    text: str
    tooltip: str


def chart(name: str, height: float, *parts: Markup) -> Markup:
    """Make an image with a name. It fills the width of its parent."""
    # A style overrides a notebook's rules for images; attributes do not.
    size = f"width:100%;height:{height:g}px"
    return tag("svg", *parts, style=size, role="img", aria_label=name, class_="chart")


def bars(name: str, labels: Sequence[str], groups: Sequence[Sequence[Mark]]) -> Markup:
    """Draw horizontal bars: a row for each label, with one bar of each group."""
    top = max((mark.value for group in groups for mark in group), default=0) or 1
    thick = 16 if len(groups) == 1 else 14
    step = thick * len(groups) + 10
    parts = []
    for row, label in enumerate(labels):
        middle = row * step + step / 2
        parts.append(_label(label, row * step, step))
        for place, group in enumerate(groups):
            mark = group[row]
            width = max(0.5, _BARS_WIDTH * mark.value / top) if mark.value else 0.0
            y = middle + thick * (place - len(groups) / 2)
            box = {"x": f"{_BARS_START}%", "width": f"{width:.5g}%"}
            end = f"{_BARS_START + width:.5g}%"
            parts.append(
                tag(
                    "g",
                    tag("title", mark.tooltip),
                    tag("rect", y=y, height=thick - 1, rx=2, class_=f"bar{place}", **box),
                    tag(
                        "text", mark.text, x=end, y=y + thick / 2, dx=6, dy="0.35em", class_="value"
                    ),
                )
            )
    return chart(name, step * len(labels), *parts)


def timeline(
    name: str, days: Sequence[str], places: Sequence[int], marks: Sequence[Mark]
) -> Markup:
    """Draw a vertical bar at each place, and label the first and the last day."""
    gaps = [after - before for before, after in zip(places, places[1:])]
    unit = min(gaps, default=1)
    span = places[-1] - places[0] + unit
    slot = 100 * unit / span
    wide = max(0.3, min(0.8 * slot, 6.0))
    top = max(mark.value for mark in marks) or 1
    parts = [
        tag("line", x1="0", x2="100%", y1=y, y2=y, class_="rule")
        for y in (_PLOT_TOP, (_PLOT_TOP + _PLOT_BOTTOM) / 2, _PLOT_BOTTOM)
    ]
    for place, mark in zip(places, marks):
        tall = (_PLOT_BOTTOM - _PLOT_TOP) * mark.value / top
        # If there are many bars, they are wider than their slots.
        x = max(0.0, 100 * (place - places[0]) / span + (slot - wide) / 2)
        box = {"x": f"{x:.5g}%", "width": f"{wide:.5g}%"}
        y = _PLOT_BOTTOM - tall
        told = tag("title", mark.tooltip)
        parts.append(tag("rect", told, y=y, height=tall, class_="bar0", **box))
    peak = max(marks, key=lambda mark: mark.value)
    parts.append(tag("text", peak.text, x="0", y=_PLOT_TOP - 7, class_="tick"))
    parts += [
        tag("text", shortened(days[i], 12), x=x, y=_PLOT_BOTTOM + 16, text_anchor=a, class_="tick")
        for i, x, a in _ends(len(days))
    ]
    return chart(name, _PLOT_HEIGHT, *parts)


def heat(name: str, marks: Sequence[Mark]) -> Markup:
    """Draw a strip of cells in rows, shaded by their numbers."""
    columns = min(len(marks), _CELLS_IN_A_ROW)
    steps = heat_steps([mark.value for mark in marks])
    parts = []
    for i, (mark, step) in enumerate(zip(marks, steps)):
        row, column = divmod(i, columns)
        box = {"x": f"{100 * column / columns:.5g}%", "width": f"{100 / columns:.5g}%"}
        parts.append(
            tag(
                "rect",
                tag("title", mark.tooltip),
                y=row * _CELL_HEIGHT,
                height=_CELL_HEIGHT,
                class_=f"cell heat{step}",
                **box,
            )
        )
    return chart(name, _CELL_HEIGHT * math.ceil(len(marks) / columns), *parts)


def heat_steps(values: Sequence[float]) -> list[int]:
    """Sort numbers into steps of a logarithmic scale: 1, 10 and 100 into 0, 2 and 4."""
    logs = [math.log1p(value) for value in values]
    low, high = min(logs), max(logs)
    if high == low:
        return [STEPS // 2] * len(logs)
    return [min(STEPS - 1, int(STEPS * (value - low) / (high - low))) for value in logs]


def _label(label: str, y: float, height: float) -> Markup:
    # A nested image clips a label that is too wide in the reader's font.
    words = tag("text", shortened(label, _LABEL_LENGTH), x="100%", y=height / 2, dy="0.35em")
    inner = joined([tag("title", label), words])
    return tag("svg", inner, y=y, height=height, width=f"{_LABEL_WIDTH}%", class_="label")


def _ends(count: int) -> list[tuple[int, str, str]]:
    if count == 1:
        return [(0, "50%", "middle")]
    return [(0, "0", "start"), (count - 1, "100%", "end")]

"""Draws the figures of the page, each with its title, legend and image."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from delta_upkeep._report import svg
from delta_upkeep._report.checks import HealthDetail
from delta_upkeep._report.figures import (
    Bars,
    Figure,
    Heat,
    Measure,
    Timeline,
    detail_text,
    size,
    size_text,
)
from delta_upkeep._report.markup import Markup, tag
from delta_upkeep._units import bytes_text, files_text, shortened

_ROWS = 24
# Each severity has its own shape, for readers who cannot tell the colours apart.
_SHAPES = {
    "ok": ("M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1z", "M4.8 8.3l2.2 2.2 4.2-4.6"),
    "info": (
        "M3 1h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2z",
        "M8 7.4v4M8 4.4v0",
    ),
    "warning": ("M8 .8L15.6 14.6H.4z", "M8 5.6v4M8 12.2v0"),
    "critical": (
        "M4.9.5h6.2l4.4 4.4v6.2l-4.4 4.4H4.9L.5 11.1V4.9z",
        "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
    ),
}


def severity_mark(severity: str) -> Markup:
    """Draw the shape of a severity."""
    shape, sign = _SHAPES[severity]
    return tag(
        "svg",
        tag("path", d=shape, fill="currentColor"),
        tag("path", d=sign, class_="sign"),
        viewBox="0 0 16 16",
        class_="mark",
        role="img",
        aria_label=severity,
    )


def drawing(figure: Figure) -> Markup:
    """Draw a figure as a card."""
    if isinstance(figure, Bars):
        return _card(figure, _bars(figure), paired=len(figure.groups) > 1)
    if isinstance(figure, Timeline):
        return _card(figure, _timeline(figure))
    return _card(figure, _strips(figure), wide=True)


def _card(figure: Figure, body: Markup, paired: bool = False, wide: bool = False) -> Markup:
    classes = " ".join(["card", *["paired"] * paired, *["wide"] * wide])
    note = tag("p", figure.note, class_="soft small")
    return tag("figure", tag("h3", figure.title), note, body, class_=classes)


def _bars(figure: Bars) -> Markup:
    is_paired = len(figure.groups) > 1
    marks, told = [], []
    for group in figure.groups:
        when = f", {group.name}" if is_paired else ""
        marks.append([_mark(d, figure.measure, when) for d in group.details[:_ROWS]])
        told.append(f"{figure.title}{when}: {_told(group.details, figure.measure)}")
    every = figure.groups[0].details
    image = svg.bars("; ".join(told), [detail.label for detail in every[:_ROWS]], marks)
    legend = _legend([(f"bar{i}", g.name) for i, g in enumerate(figure.groups)])
    more = len(every) - _ROWS
    rest = tag("p", f"{more} more in the data below", class_="soft small")
    return tag("div", *[legend] * is_paired, image, *[rest] * (more > 0))


def _timeline(figure: Timeline) -> Markup:
    marks = [_mark(day, "bytes") for day in figure.days]
    name = f"{figure.title}: {_told(figure.days, 'bytes')}"
    return svg.timeline(name, [day.label for day in figure.days], figure.places, marks)


def _strips(figure: Heat) -> Markup:
    return tag(
        "div",
        _strip(figure, "count", "Files in each", lambda n: files_text(int(n))),
        _strip(figure, "bytes", "Bytes in each", bytes_text),
        class_="grid strips",
    )


def _strip(figure: Heat, measure: Measure, title: str, words: Callable[[float], str]) -> Markup:
    marks = [_mark(cell, measure) for cell in figure.cells]
    values = [mark.value for mark in marks]
    steps = svg.heat_steps(values)
    ranges = [
        (
            f"cell heat{step}",
            _range([v for v, s in zip(values, steps) if s == step], words),
        )
        for step in sorted(set(steps))
    ]
    ends = [tag("span", shortened(figure.cells[i].label, 40)) for i in (0, -1)]
    return tag(
        "div",
        tag("p", title, class_="small"),
        svg.heat(f"{title} partition: {_told(figure.cells, measure)}", marks),
        tag("div", *ends, class_="ends soft small"),
        _legend(ranges),
    )


def _range(values: Sequence[float], words: Callable[[float], str]) -> str:
    low, high = words(min(values)), words(max(values))
    if low == high:
        return low
    number, unit = low.split(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def _legend(entries: Sequence[tuple[str, str]]) -> Markup:
    swatches = [tag("span", _swatch(class_), text) for class_, text in entries]
    return tag("p", *swatches, class_="legend")


def _swatch(class_: str) -> Markup:
    box = tag("rect", width="100%", height="100%", rx=2, class_=class_)
    return tag("svg", box, aria_hidden="true")


def _mark(detail: HealthDetail, measure: Measure, which: str = "") -> svg.Mark:
    value = float(size(detail, measure))
    return svg.Mark(value, size_text(detail, measure), detail_text(detail) + which)


def _told(details: Sequence[HealthDetail], measure: Measure) -> str:
    """Describe an image by its first numbers. The tables of the page have all of them."""
    said = [f"{d.label} {size_text(d, measure)}" for d in details[:12]]
    more = len(details) - len(said)
    return ", ".join(said) + (f" and {more} more" if more > 0 else "")

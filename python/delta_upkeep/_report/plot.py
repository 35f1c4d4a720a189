"""Draws the figures with matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, MaxNLocator

from delta_upkeep._report.checks import HealthCheck, HealthDetail
from delta_upkeep._report.figures import (
    Bars,
    Figure,
    Heat,
    Measure,
    counts_files,
    figures_of,
    size,
    sizes_of,
)
from delta_upkeep._units import byte_unit, count_text, shortened

_PAST, _ACCENT = "#98a4b1", "#0b7a75"
_COLUMNS, _ROWS, _LABEL_LENGTH = 2, 24, 24
# With fewer rows the bars would be too thick.
_LEAST_ROWS = 4


def draw(path: str, checks: tuple[HealthCheck, ...]) -> tuple[Any, ...]:
    """Draw each figure in its own axes, two in a row."""
    figures = (*sizes_of(checks), *figures_of(checks))
    rows = max(1, -(-len(figures) // _COLUMNS))
    whole, grid = pyplot.subplots(
        rows, _COLUMNS, figsize=(11, 3.2 * rows), layout="constrained", squeeze=False
    )
    # A path may contain dollar signs, which matplotlib would read as a formula.
    whole.suptitle(f"Health of {path}", parse_math=False, fontsize=11)
    axes = tuple(grid.flat)
    for place in axes:
        place.tick_params(length=0, labelsize=8)
        place.spines[["top", "right", "left", "bottom"]].set_visible(False)
    for place, figure in zip(axes, figures):
        title = figure.title if _is_paired(figure) else f"{figure.title}\n{figure.note}"
        place.set_title(title, loc="left", fontsize=9, parse_math=False)
        _draw_one(place, figure)
    for place in axes[len(figures) :]:
        place.set_axis_off()
    return axes[: max(1, len(figures))]


def _draw_one(axes: Any, figure: Figure) -> None:
    if isinstance(figure, Bars):
        _lying(axes, figure)
    elif isinstance(figure, Heat):
        _upright(axes, list(range(len(figure.cells))), figure.cells, "count")
    else:
        _upright(axes, figure.places, figure.days, "bytes")


def _is_paired(figure: Figure) -> bool:
    """Whether the figure has a legend, which replaces its note."""
    return isinstance(figure, Bars) and len(figure.groups) > 1


def _lying(axes: Any, figure: Bars) -> None:
    groups = [group.details[:_ROWS] for group in figure.groups]
    thick = 0.8 / len(groups)
    colours = [_ACCENT] if len(groups) == 1 else [_PAST, _ACCENT]
    scale = _scale(axes.xaxis, [d for group in groups for d in group], figure.measure)
    for i, (group, details) in enumerate(zip(figure.groups, groups)):
        values = [size(detail, figure.measure) / scale for detail in details]
        at = [row + thick * (i + 0.5) - 0.4 for row in range(len(values))]
        axes.barh(at, values, height=thick, color=colours[i], label=group.name)
    labels = [shortened(detail.label, _LABEL_LENGTH) for detail in groups[0]]
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(max(_LEAST_ROWS, len(labels)) - 0.5, -0.5)
    if _is_paired(figure):
        axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)


def _upright(
    axes: Any, places: list[int], details: tuple[HealthDetail, ...], measure: Measure
) -> None:
    scale = _scale(axes.yaxis, list(details), measure)
    axes.bar(places, [size(d, measure) / scale for d in details], width=0.9, color=_ACCENT)
    ends = sorted({0, len(details) - 1})
    names = [shortened(details[i].label, _LABEL_LENGTH) for i in ends]
    texts = axes.set_xticks([places[i] for i in ends], names, parse_math=False)
    for tick, side in zip(texts, ("left", "right")):
        tick.label1.set_horizontalalignment(side)


def _scale(axis: Any, details: list[HealthDetail], measure: Measure) -> int:
    """Label the axis with its unit, and return the size of that unit."""
    scale, unit = 1, "files"
    if measure == "bytes":
        scale, unit = byte_unit(max(d.bytes for d in details))
    elif not counts_files(details[0]):
        unit = ""
    axis.set_label_text(unit, fontsize=8)
    axis.set_major_locator(MaxNLocator(nbins=6, integer=measure == "count"))
    axis.set_major_formatter(FuncFormatter(lambda value, _: count_text(value)))
    return scale

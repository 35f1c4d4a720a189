"""The report's figures with matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from delta_upkeep._figures import Bars, Figure, Heat, Measure, Timeline, size
from delta_upkeep._units import bytes_text, count_text, shortened

_NOW, _ACCENT = "#98a4b1", "#0b7a75"
_COLUMNS, _ROWS, _LABEL_LENGTH = 2, 24, 24


def draw(path: str, figures: tuple[Figure, ...]) -> tuple[Any, ...]:
    """Draw each figure in axes of its own, two in a row."""
    rows = max(1, -(-len(figures) // _COLUMNS))
    whole, grid = pyplot.subplots(
        rows, _COLUMNS, figsize=(11, 3.4 * rows), layout="constrained", squeeze=False
    )
    # Dollar signs of a path are no formula.
    whole.suptitle(f"Health of {path}", parse_math=False, fontsize=11)
    axes = tuple(grid.flat)
    for place, figure in zip(axes, figures, strict=False):
        place.set_title(f"{figure.title}: {figure.note}", loc="left", fontsize=9, parse_math=False)
        place.tick_params(length=0, labelsize=8)
        place.spines[["top", "right", "left", "bottom"]].set_visible(False)
        _draw_one(place, figure)
    for place in axes[len(figures) :]:
        place.set_axis_off()
    return axes[: max(1, len(figures))]


def _draw_one(axes: Any, figure: Figure) -> None:
    if isinstance(figure, Bars):
        _bars(axes, figure)
    elif isinstance(figure, Timeline):
        _timeline(axes, figure)
    else:
        _partitions(axes, figure)


def _bars(axes: Any, figure: Bars) -> None:
    thick = 0.8 / len(figure.groups)
    colours = [_ACCENT] if len(figure.groups) == 1 else [_NOW, _ACCENT]
    for place, group in enumerate(figure.groups):
        values = [size(detail, figure.measure) for detail in group.details[:_ROWS]]
        at = [row + thick * place for row in range(len(values))]
        axes.barh(at, values, height=thick, color=colours[place], label=group.name)
    labels = [detail.label for detail in figure.groups[0].details[:_ROWS]]
    ticks = [row + (0.8 - thick) / 2 for row in range(len(labels))]
    axes.set_yticks(ticks, [shortened(label, _LABEL_LENGTH) for label in labels], parse_math=False)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(_formatter(figure.measure))
    if len(figure.groups) > 1:
        axes.legend(frameon=False, fontsize=8)


def _timeline(axes: Any, figure: Timeline) -> None:
    labels = [day.label for day in figure.days]
    axes.bar(range(len(labels)), [day.bytes for day in figure.days], color=_ACCENT)
    _mark_ends(axes, labels)
    axes.yaxis.set_major_formatter(_formatter("bytes"))


def _partitions(axes: Any, figure: Heat) -> None:
    axes.bar(
        range(len(figure.cells)), [cell.count for cell in figure.cells], width=1, color=_ACCENT
    )
    _mark_ends(axes, [cell.label for cell in figure.cells])
    axes.yaxis.set_major_formatter(_formatter("count"))
    axes.set_ylabel("files", fontsize=8)


def _mark_ends(axes: Any, labels: list[str]) -> None:
    places = sorted({0, len(labels) - 1})
    names = [shortened(labels[place], _LABEL_LENGTH) for place in places]
    axes.set_xticks(places, names, parse_math=False)


def _formatter(measure: Measure) -> Any:
    words = count_text if measure == "count" else bytes_text
    return FuncFormatter(lambda value, _: words(value))

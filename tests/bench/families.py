"""All benchmarks, by the page and the chart that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import (
    appends_chart,
    appends_measure,
    appends_report,
    chart,
    checkpoint_chart,
    checkpoint_measure,
    checkpoint_report,
    cleanup_chart,
    cleanup_measure,
    cleanup_report,
    cluster_measure,
    cluster_report,
    measure,
    plan_measure,
    plan_report,
    report,
    rounds_measure,
    space_chart,
    space_measure,
    space_report,
)
from bench.measure import Bench
from bench.results import Result

Benchmark = Callable[[Bench], Result]


@dataclass(frozen=True)
class Family:
    """Benchmarks that share their files of results.

    Attributes:
        name: Of those files.
        benchmarks: By name, in the order of the page.
        markdown: Writes their page.
        draw: Draws their chart into a file.
    """

    name: str
    benchmarks: Mapping[str, Benchmark]
    markdown: Callable[[Mapping[str, Result]], str]
    draw: Callable[[Mapping[str, Result], Path], None]


FAMILIES = (
    Family("optimize", measure.BENCHMARKS, report.markdown, chart.draw),
    Family(
        "checkpoint",
        checkpoint_measure.BENCHMARKS,
        checkpoint_report.markdown,
        checkpoint_chart.draw,
    ),
    Family("appends", appends_measure.BENCHMARKS, appends_report.markdown, appends_chart.draw),
    Family("cleanup", cleanup_measure.BENCHMARKS, cleanup_report.markdown, cleanup_chart.draw),
    Family(
        "cluster",
        {**cluster_measure.BENCHMARKS, **rounds_measure.BENCHMARKS},
        cluster_report.markdown,
        space_chart.draw,
    ),
    Family("plan", plan_measure.BENCHMARKS, plan_report.markdown, space_chart.draw),
    Family("space", space_measure.BENCHMARKS, space_report.markdown, space_chart.draw),
)
BENCHMARKS = {name: run for family in FAMILIES for name, run in family.benchmarks.items()}


def family_of(name: str) -> Family:
    """Find the family of a benchmark."""
    return next(family for family in FAMILIES if name in family.benchmarks)


def chosen(names: Sequence[str]) -> dict[str, Benchmark]:
    """Choose benchmarks by name, in their own order; all if there is no name.

    Raises:
        ValueError: A name is unknown.
    """
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        raise ValueError(
            f"There is no case {', '.join(unknown)}. The cases are: {', '.join(BENCHMARKS)}."
        )
    return {name: run for name, run in BENCHMARKS.items() if not names or name in names}

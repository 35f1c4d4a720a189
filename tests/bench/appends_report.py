"""Writes results of appends as Markdown. Pure: results in, text out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bench.engines import LABELS
from bench.figures import failures, median, number, ratio, settings, table, times
from bench.results import AppendsResult, Result

RULES = """\
Each engine appends one row a commit, in a fresh process for each run, after some commits that do
not count; all timed commits count together. Ours is the default: a thread of the application writes
checkpoints. Late is how long after the last commit had returned the last due checkpoint was there,
the longest of all runs; every due checkpoint was.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    cases = {n: r for n, r in results.items() if isinstance(r, AppendsResult)}
    parts = ["# Appends, measured\n", settings(cases), RULES]
    parts += [section(result) for result in cases.values()]
    errors = {
        f"{name}, {LABELS[engine]}": runs.error
        for name, result in cases.items()
        for engine, runs in result.engines.items()
    }
    return "\n".join(parts + failures(errors))


def section(result: AppendsResult) -> str:
    """Compare the engines, a row for each."""
    head = [
        "engine",
        "commits",
        "median s",
        "p90 s",
        "p99 s",
        "worst s",
        "worst to median",
        "late s",
    ]
    rows = [
        [
            LABELS[engine],
            str(len(runs.seconds)),
            number(median(runs.seconds), 3),
            *(number(quantile(runs.seconds, share), 3) for share in (0.9, 0.99, 1)),
            times(ratio(quantile(runs.seconds, 1), median(runs.seconds))),
            number(max(runs.late_seconds, default=None)),
        ]
        for engine, runs in result.engines.items()
    ]
    return "\n".join([f"## {result.what}\n", table(head, rows)])


def quantile(figures: Sequence[float], share: float) -> float | None:
    """Take the figure that such a share of all do not exceed: of 1 to 100, 0.9 is 90."""
    if not figures:
        return None
    return sorted(figures)[max(0, math.ceil(share * len(figures)) - 1)]

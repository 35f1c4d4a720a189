"""Writes results of ZORDER BY and clustering as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench import space_report
from bench.results import Result

RULES = """\
All engines worked in turns in one session, each on a copy of its own, with files of 16 MiB. The
time is that of the whole statement in a warm process. DuckDB reads the same files, sorts their rows
by the same columns, and writes them as one file without a log. A ratio above 1 means that the first
row is better.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    return space_report.page("Clustering, measured", RULES, results)

"""Writes results of planning as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench import space_report
from bench.results import Result

RULES = """\
All engines worked in turns in one session, each on a copy of its own. The time is that of the whole
statement in a warm process, loading the newest version of the table included. Delta's OPTIMIZE
begins with collecting the actions of all files. A ratio above 1 means that the first row is better.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    return space_report.page("Planning, measured", RULES, results)

"""Writes results of VACUUM, FSCK, ANALYZE and codecs as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench.figures import failures, median, number, ratio, settings, spread, table, times
from bench.results import Result, SpaceResult

RULES = """\
All engines worked in turns in one session, each on a copy of its own. The time is that of the whole
statement in a warm process, loading the newest version of the table included. Delta's VACUUM was
timed once: it lists with up to 10,000 tasks unless
spark.sql.sources.parallelPartitionDiscovery.parallelism says fewer. A ratio above 1 means that the
first row is better.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    return page("Space and truth, measured", RULES, results)


def page(title: str, rules: str, results: Mapping[str, Result]) -> str:
    """Compare the engines in each case, after the rules of the comparison."""
    cases = {name: r for name, r in results.items() if isinstance(r, SpaceResult)}
    parts = [f"# {title}\n", settings(results), rules]
    parts += [section(result) for result in cases.values()]
    errors = {
        f"{name}, {who}": runs.error
        for name, result in cases.items()
        for who, runs in result.engines.items()
    }
    return "\n".join(parts + failures(errors))


def section(result: SpaceResult) -> str:
    """Compare the engines, a row for each."""
    first = median(next(iter(result.engines.values())).seconds)
    rows = [
        [
            who,
            number(median(runs.seconds)),
            spread(runs.seconds),
            times(ratio(median(runs.seconds), first)),
            number(median(runs.peak_heap_mb), 0),
        ]
        for who, runs in result.engines.items()
    ]
    head = ["engine", "s", "s, least to most", "s to the first", "peak heap MB"]
    return "\n".join([f"## {result.what}\n", table(head, rows)])

"""Writes results of ZORDER BY and clustering as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench import space_report
from bench.figures import median, number, ratio, table, times
from bench.results import Result, RoundsResult

RULES = """\
All engines worked in turns in one session, each on a copy of its own, with files of 16 MiB. The
time is that of the whole statement in a warm process. DuckDB reads the same files, sorts their rows
by the same columns, and writes them as one file without a log. A ratio above 1 means that the first
row is better.

Queries look for all columns of the rows with one value, in warm processes; the times are those of
single queries. Spark asks the log which files they may be in, DuckDB reads the footers of all.

In rounds, each engine worked on a copy that grew. Bytes are those of new files of all rounds, for
each byte appended. The share that a query opens is told by the statistics of files, for one value
of one of the columns, after the last round and as the mean after all rounds.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    page = space_report.page("Clustering, measured", RULES, results)
    rounds = [section(r) for r in results.values() if isinstance(r, RoundsResult)]
    return "\n".join([page, *rounds])


def section(result: RoundsResult) -> str:
    """Compare the engines, a row for each."""
    rows = [
        [
            who,
            number(median([one.seconds for one in rounds])),
            times(ratio(sum(r.written for r in rounds), sum(r.added for r in rounds))),
            f"{rounds[-1].files}",
            f"{rounds[-1].opened:.0%}",
            f"{sum(r.opened for r in rounds) / len(rounds):.0%}",
        ]
        for who, rounds in result.engines.items()
    ]
    head = ["engine", "s", "bytes written for each", "files", "opened", "opened, mean"]
    return "\n".join([f"## {result.what}\n", table(head, rows)])

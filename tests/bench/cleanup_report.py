"""Writes results of CLEANUP LOG as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench.engines import LABELS, UPKEEP
from bench.figures import NONE, failures, median, number, ratio, settings, spread, table, times
from bench.results import CleanupHeapResult, CleanupResult, Result

RULES = """\
Each engine cleans a copy of one log, on a file system that makes every call wait and counts it. The
time is that of the whole statement, loading the newest version of the table included. Ours deletes
32 files at the same time, or 4 bulk calls of many files each where the store supports them;
Delta deletes one file after the other, and was timed once. A ratio above 1 means that Delta Upkeep
is better.
"""
HEAP_RULES = """\
Live is the most that a full collection of garbage left. Opening the table is Delta's part of the
statement: it lists the whole log into objects.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    parts = ["# CLEANUP LOG, measured\n", settings(results)]
    parts += [section(result) for result in results.values() if isinstance(result, CleanupResult)]
    parts += [heap(result) for result in results.values() if isinstance(result, CleanupHeapResult)]
    errors = {
        who: runs.error
        for result in results.values()
        if isinstance(result, CleanupResult)
        for who, runs in result.engines.items()
    }
    return "\n".join(parts + failures(errors))


def section(result: CleanupResult) -> str:
    """Compare the engines, a row for each."""
    ours = median(result.engines[LABELS[UPKEEP]].seconds)
    rows = [
        [
            who,
            number(median(runs.seconds)),
            spread(runs.seconds),
            times(ratio(median(runs.seconds), ours)),
            runs.requests or NONE,
            number(median(runs.peak_heap_mb), 0),
        ]
        for who, runs in result.engines.items()
    ]
    head = ["engine", "s", "s, least to most", "s to ours", "requests", "peak heap MB"]
    title = f"## {result.what}: {result.files:,} files to delete\n"
    return "\n".join([title, RULES, table(head, rows)])


def heap(result: CleanupHeapResult) -> str:
    """Show what is live by the number of files."""
    rows = [
        [f"{files:,}", number(result.opening_mb[files], 0), number(mb, 0)]
        for files, mb in result.live_heap_mb.items()
    ]
    title = f"## Memory, of a heap of {result.memory}\n"
    return "\n".join(
        [
            title,
            HEAP_RULES,
            table(
                ["files to delete", "opening the table, live MB", "the statement, live MB"], rows
            ),
        ]
    )

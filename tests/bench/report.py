"""Writes results of OPTIMIZE as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Mapping

from bench.engines import DELTA, DELTA_RS, ENGINES, LABELS, UPKEEP
from bench.figures import NONE, failures, median, number, ratio, settings, spread, table, times
from bench.layout import Layout
from bench.results import (
    Compaction,
    EngineRuns,
    FirstResult,
    HeapResult,
    HeapRun,
    OptimizeResult,
    Result,
)

RULES = """\
Seconds are medians of the timed runs. All engines ran in one go and in turns, each in its own
process held to the same processors, each run on a fresh copy of the same files in the page cache.
But for fresh sessions, each process compacted for twenty seconds before, and once more before each
of its turns, which do not count. All aim at Delta's target size of 1 GiB; delta-rs is told to
write the codec that the table has. One warm session of Delta reads all results in turns, nine times
each. A speed-up above 1 and a cost below 1 mean that Delta Upkeep is better.
"""


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    optimized = {n: r for n, r in results.items() if isinstance(r, OptimizeResult)}
    firsts = {n: r for n, r in results.items() if isinstance(r, FirstResult)}
    heaps = {n: r for n, r in results.items() if isinstance(r, HeapResult)}
    parts = ["# OPTIMIZE, measured\n", settings(results), RULES]
    if optimized:
        parts += ["## Compaction in warm sessions\n", summary(optimized)]
        parts += ["## What reading the result costs\n", reading(optimized)]
    if firsts:
        parts += ["## First OPTIMIZE of a fresh session\n", summary_of_firsts(firsts)]
    if heaps:
        parts += ["## Memory\n", summary_of_heaps(heaps)]
    if optimized or firsts:
        parts += ["## Every engine\n", details({**optimized, **firsts})]
    parts += failures(errors_of({**optimized, **firsts, **heaps}))
    return "\n".join(parts)


def summary(results: Mapping[str, OptimizeResult]) -> str:
    """Compare the seconds, a row for each case."""
    head = ["case", "", "files", "row groups", "MB"]
    head += [f"{LABELS[e]} s" for e in ENGINES]
    head += [f"speed-up over {LABELS[e]}" for e in (DELTA, DELTA_RS)]
    rows = []
    for name, result in results.items():
        ours = result.engines[UPKEEP]
        seconds = [median(result.engines[e].seconds) for e in ENGINES]
        rows.append(
            [
                name,
                result.what,
                change(result.before, ours.output, "files"),
                change(result.before, ours.output, "row_groups"),
                f"{result.before.bytes / 1e6:.0f}",
                *(number(s) for s in seconds),
                *(times(ratio(other, seconds[0])) for other in seconds[1:]),
            ]
        )
    return table(head, rows)


def reading(results: Mapping[str, OptimizeResult]) -> str:
    """Compare what each result weighs and costs its readers."""
    head = ["case"]
    for other in (DELTA, DELTA_RS):
        head += [f"{what} to {LABELS[other]}" for what in ("bytes", "full scan", "selective")]
    rows = []
    for name, result in results.items():
        ours = result.engines[UPKEEP]
        row = [name]
        for theirs in (result.engines[DELTA], result.engines[DELTA_RS]):
            row += [
                times(ratio(size(ours), size(theirs))),
                times(ratio(median(ours.scan_seconds), median(theirs.scan_seconds))),
                times(ratio(median(ours.select_seconds), median(theirs.select_seconds))),
            ]
        rows.append(row)
    return table(head, rows)


def summary_of_firsts(results: Mapping[str, FirstResult]) -> str:
    """Compare the seconds of fresh sessions."""
    rows = []
    for name, result in results.items():
        ours, delta = (median(result.engines[e].seconds) for e in (UPKEEP, DELTA))
        speed_up = times(ratio(delta, ours))
        files = change(result.before, result.engines[UPKEEP].output, "files")
        rows.append([name, result.what, files, number(ours), number(delta), speed_up])
    head = ["case", "", "files", f"{LABELS[UPKEEP]} s", f"{LABELS[DELTA]} s"]
    return table([*head, f"speed-up over {LABELS[DELTA]}"], rows)


def summary_of_heaps(results: Mapping[str, HeapResult]) -> str:
    """Show what is live with a small and of a large table."""
    head = ["case", "heap", "MB compacted", "files", "live MB", "growth of live"]
    rows = []
    for name, result in results.items():
        what = f"{name}: {result.what}"
        small, large = (
            max(run.runs.live_heap_mb, default=None) for run in (result.small, result.large)
        )
        rows += [
            [what, result.memory, *heap_cells(result.small), NONE],
            [what, result.memory, *heap_cells(result.large), times(ratio(large, small))],
        ]
    note = (
        "Live is the most that any full collection of garbage left; they were made one after\n"
        "another in all runs.\n"
    )
    return f"{note}\n{table(head, rows)}"


def heap_cells(run: HeapRun) -> list[str]:
    """Show one compaction in a small heap."""
    return [
        f"{run.before.bytes / 1e6:.0f}",
        change(run.before, run.runs.output, "files"),
        number(max(run.runs.live_heap_mb, default=None), digits=0),
    ]


def details(results: Mapping[str, OptimizeResult | FirstResult]) -> str:
    """Show what the comparisons come from, a row for each engine of each case."""
    head = ["case", "engine", "tiers", "s", "s, least to most", "files", "row groups", "MB"]
    head += ["peak heap MB", "full scan s", "selective s"]
    rows = []
    for name, result in results.items():
        for engine, runs in result.engines.items():
            out = runs.output
            rows.append(
                [
                    name,
                    LABELS[engine],
                    ", ".join(runs.tiers) or NONE,
                    number(median(runs.seconds)),
                    spread(runs.seconds),
                    *((str(out.files), str(out.row_groups)) if out else (NONE, NONE)),
                    f"{out.bytes / 1e6:.1f}" if out else NONE,
                    number(median(runs.peak_heap_mb), digits=0),
                    number(median(runs.scan_seconds)),
                    number(median(runs.select_seconds)),
                ]
            )
    return table(head, rows)


def errors_of(results: Mapping[str, Compaction]) -> dict[str, str | None]:
    """Name the errors of all runs."""
    return {
        f"{name}, {label}": runs.error
        for name, result in results.items()
        for label, runs in runs_of(result).items()
    }


def runs_of(result: Compaction) -> dict[str, EngineRuns]:
    """Name all runs of a result."""
    if isinstance(result, HeapResult):
        return {"the small table": result.small.runs, "the large table": result.large.runs}
    return {LABELS[engine]: runs for engine, runs in result.engines.items()}


def size(runs: EngineRuns) -> float | None:
    """Take the bytes of the result."""
    return runs.output.bytes if runs.output else None


def change(before: Layout, after: Layout | None, what: str) -> str:
    """Write a count before and after."""
    return f"{getattr(before, what):,} -> {f'{getattr(after, what):,}' if after else NONE}"

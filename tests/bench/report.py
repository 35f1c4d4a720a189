"""Writes results as Markdown. Pure: results in, text out."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bench.engines import DELTA, DELTA_RS, UPKEEP
from bench.environment import Setting
from bench.layout import Layout
from bench.results import EngineRuns, FirstResult, HeapResult, HeapRun, OptimizeResult, Result

LABELS = {UPKEEP: "Delta Upkeep", DELTA: "Delta", DELTA_RS: "delta-rs"}
NONE = "-"

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
    parts += failures(results)
    return "\n".join(parts)


def settings(results: Mapping[str, Result]) -> str:
    """Say where each case was measured: one paragraph where all share it."""
    names: dict[Setting, list[str]] = {}
    for name, result in results.items():
        names.setdefault(result.setting, []).append(name)
    return "\n".join(
        f"{', '.join(cases)}: scale factor {s.scale:g}, {s.runs} runs, {s.date}. "
        f"{s.cpu}, {s.cpus} processors of which {s.cores} are used, {s.memory_gib:g} GiB, "
        f"{s.kernel}. Java {s.java}, Spark {s.spark} with {s.driver_memory} of driver memory, "
        f"Delta {s.delta}, delta-rs {s.delta_rs}, Delta Upkeep {s.upkeep}.\n"
        for s, cases in names.items()
    )


def summary(results: Mapping[str, OptimizeResult]) -> str:
    """Compare the seconds, a row for each case."""
    head = ["case", "", "files", "row groups", "MB"]
    head += [f"{LABELS[e]} s" for e in LABELS]
    head += [f"speed-up over {LABELS[e]}" for e in (DELTA, DELTA_RS)]
    rows = []
    for name, result in results.items():
        ours = result.engines[UPKEEP]
        seconds = [median(result.engines[e].seconds) for e in LABELS]
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


def failures(results: Mapping[str, Result]) -> list[str]:
    """Say why an engine has no figures."""
    errors = {
        f"{name}, {label}": runs.error.splitlines()[0]
        for name, result in results.items()
        for label, runs in runs_of(result).items()
        if runs.error
    }
    return ["## Failures\n", *(f"- {who}: {why}" for who, why in errors.items())] if errors else []


def runs_of(result: Result) -> dict[str, EngineRuns]:
    """Name all runs of a result."""
    if isinstance(result, HeapResult):
        return {"the small table": result.small.runs, "the large table": result.large.runs}
    return {LABELS[engine]: runs for engine, runs in result.engines.items()}


def median(figures: Sequence[float]) -> float | None:
    """Take the median, None of nothing."""
    return statistics.median(figures) if figures else None


def ratio(figure: float | None, base: float | None) -> float | None:
    """Divide what there is: 3.0 to 2.0 is 1.5."""
    return None if figure is None or not base else figure / base


def size(runs: EngineRuns) -> float | None:
    """Take the bytes of the result."""
    return runs.output.bytes if runs.output else None


def change(before: Layout, after: Layout | None, what: str) -> str:
    """Write a count before and after."""
    return f"{getattr(before, what):,} -> {f'{getattr(after, what):,}' if after else NONE}"


def number(figure: float | None, digits: int = 2) -> str:
    """Write a figure."""
    return NONE if figure is None else f"{figure:.{digits}f}"


def times(figure: float | None) -> str:
    """Write a ratio."""
    return NONE if figure is None else f"{figure:.2f}x"


def spread(figures: Sequence[float]) -> str:
    """Write the least and the most."""
    return f"{min(figures):.2f} to {max(figures):.2f}" if figures else NONE


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

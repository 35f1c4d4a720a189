"""Writes results of CHECKPOINT as Markdown. Pure: results in, text out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from bench.checkpoint_table import LATER_COMMITS, LATER_FILES
from bench.engines import CHECKPOINTERS, LABELS, UPKEEP
from bench.figures import NONE, failures, median, number, ratio, settings, spread, table, times
from bench.results import CheckpointResult, CheckpointRuns, Checkpoints, Result

RULES = f"""\
Seconds are medians of the timed runs, of {len(CHECKPOINTERS)} engines in one go and in turns, each
in its own process held to the same processors, each run on a log of its own made of the same files
in the page cache. All load the newest version of the table within the time: for the first
checkpoint nothing is cached of it; for the one after {LATER_COMMITS} commits of {LATER_FILES} files
each process is the one that made the first, and keeps of it what its engine keeps. Delta Kernel has
the version of that Delta. Each process made untimed checkpoints before, and quick turns are taken
twice, of which the second counts. The policy is the table's; an engine that writes one file for v2
has made no sidecars. Bytes written are those of all files that came into the log, checksums
included; bytes read are those of the process, from files in the page cache and its own temporary
ones. Every checkpoint was read by another program, and named as many files as the table has. Log
clean-up is off. A ratio to ours above 1 means that Delta Upkeep is better.
"""


@dataclass(frozen=True)
class Phase:
    """One of the two checkpoints of each run.

    Attributes:
        title: What it is.
        of: Takes its runs from those of both.
        later: Whether the later commits have happened.
    """

    title: str
    of: Callable[[Checkpoints], CheckpointRuns]
    later: bool

    def runs_of(self, result: CheckpointResult, policy: str, engine: str) -> CheckpointRuns:
        """Take the runs of one engine."""
        return self.of(result.policies[policy][engine])

    def files_of(self, result: CheckpointResult) -> int:
        """Say how many files the table has."""
        return result.files + (result.later_files if self.later else 0)


FIRST = Phase("first checkpoint", lambda made: made.first, later=False)
AFTER = Phase(
    f"after {LATER_COMMITS} commits of {LATER_FILES} files", lambda made: made.after, later=True
)
PHASES = (AFTER, FIRST)


@dataclass(frozen=True)
class Figure:
    """A figure of which less is better.

    Attributes:
        title: What it is, and its unit.
        of: Takes it from runs.
        digits: After the point.
    """

    title: str
    of: Callable[[CheckpointRuns], float | None]
    digits: int = 2

    def shown(self, runs: CheckpointRuns) -> str:
        """Write it."""
        return number(self.of(runs), self.digits)


def megabytes(figure: float | None) -> float | None:
    """Turn bytes into MB: 2,500,000 is 2.5."""
    return None if figure is None else figure / 1e6


SECONDS = Figure("s", lambda runs: median(runs.seconds))
COSTS = (
    Figure("MB written", lambda runs: megabytes(median(runs.bytes_written)), 3),
    Figure("MB read", lambda runs: megabytes(median(runs.bytes_read)), 1),
    Figure("peak heap MB", lambda runs: median(runs.peak_heap_mb), 0),
)


def markdown(results: Mapping[str, Result]) -> str:
    """Write all results as one page."""
    cases = {n: r for n, r in results.items() if isinstance(r, CheckpointResult)}
    parts = ["# CHECKPOINT, measured\n", settings(cases), RULES]
    for phase in PHASES:
        parts += [f"## {phase.title.capitalize()}\n", summary(cases, phase), details(cases, phase)]
    parts += losses(cases)
    parts += failures(errors_of(cases))
    return "\n".join(parts)


def summary(cases: Mapping[str, CheckpointResult], phase: Phase) -> str:
    """Compare the seconds, a row for each table."""
    head = ["case", "policy", "files", "our mode", *(f"{LABELS[e]} s" for e in CHECKPOINTERS)]
    head += [f"{LABELS[e]} to ours" for e in CHECKPOINTERS[1:]]
    rows = []
    for name, result in cases.items():
        for policy, engines in result.policies.items():
            ours, *others = (SECONDS.of(phase.of(engines[e])) for e in CHECKPOINTERS)
            rows.append(
                [
                    name,
                    policy,
                    f"{phase.files_of(result):,}",
                    ", ".join(phase.of(engines[UPKEEP]).modes) or NONE,
                    *(number(seconds) for seconds in (ours, *others)),
                    *(times(ratio(other, ours)) for other in others),
                ]
            )
    return table(head, rows)


def details(cases: Mapping[str, CheckpointResult], phase: Phase) -> str:
    """Show all figures, a row for each engine and table."""
    head = ["case", "policy", "engine", "made of", "s", "s, least to most", "s to ours"]
    head += [figure.title for figure in COSTS]
    rows = []
    for name, policy, engine, runs, ours in compared(cases, phase):
        rows.append(
            [
                name,
                policy,
                LABELS[engine],
                ", ".join(runs.layouts) or NONE,
                SECONDS.shown(runs),
                spread(runs.seconds),
                times(ratio(SECONDS.of(runs), SECONDS.of(ours))),
                *(figure.shown(runs) for figure in COSTS),
            ]
        )
    return table(head, rows)


def losses(cases: Mapping[str, CheckpointResult]) -> list[str]:
    """List each figure in which another engine is better."""
    lines = []
    for phase in PHASES:
        for figure in (SECONDS, *COSTS):
            better = [
                f"{LABELS[engine]} {times(share)} in {name}, {policy}"
                for name, policy, engine, runs, ours in compared(cases, phase)
                if (share := ratio(figure.of(runs), figure.of(ours))) is not None and share < 1
            ]
            if better:
                lines.append(f"- {phase.title}, {figure.title}: {'; '.join(better)}")
    return ["## Where another engine is better\n", *lines, ""] if lines else []


def compared(
    cases: Mapping[str, CheckpointResult], phase: Phase
) -> Iterator[tuple[str, str, str, CheckpointRuns, CheckpointRuns]]:
    """Give the case, the policy, the engine and its runs, and ours of the same table."""
    for name, result in cases.items():
        for policy, engines in result.policies.items():
            ours = phase.of(engines[UPKEEP])
            for engine, made in engines.items():
                yield name, policy, engine, phase.of(made), ours


def errors_of(cases: Mapping[str, CheckpointResult]) -> dict[str, str | None]:
    """Name the errors of all runs."""
    return {
        f"{name}, {policy}, {LABELS[engine]}, {phase.title}": runs.error
        for phase in PHASES
        for name, policy, engine, runs, _ in compared(cases, phase)
    }

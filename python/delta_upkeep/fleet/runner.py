"""One pass over the tables of a fleet: plan all, then maintain them, highest gain first."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from threading import Event
from types import MappingProxyType

from delta_upkeep.fleet.budget import ByteBudget
from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.errors import error_of
from delta_upkeep.fleet.history_rows import Failures
from delta_upkeep.fleet.maintenance import Maintainer
from delta_upkeep.fleet.plan import Facts, Planned, Size, Work, most_gain_first
from delta_upkeep.fleet.policy import of_properties
from delta_upkeep.fleet.selection import Chosen
from delta_upkeep.fleet.summary import (
    BYTE_BUDGET,
    INTERRUPTED,
    TIME_BUDGET,
    FleetResult,
    State,
    Status,
    TableResult,
)
from delta_upkeep.fleet.workers import Finish, Start, Wait, Workers


@dataclass(frozen=True)
class _Maintained:
    """The result of a table, and the bytes of its grant that it did not rewrite."""

    result: TableResult
    unused: int = 0


class FleetRunner:
    """Runs one pass.

    Args:
        maintainer: Does the work.
        config: Concurrency and budgets.
        dry_run: Whether to plan only.
        stop: Ends the pass when it is set: running jobs are cancelled, and no table is started.
        save: Called with the summary as it grows.
        hold: Tells why no further table may be started, or None.
        failures: Failures in a row, by the label of the table.
        tell: Called with each result.
        clock: A monotonic clock, in seconds.
        wall: The time, with a time zone.
    """

    def __init__(
        self,
        maintainer: Maintainer,
        config: FleetConfig,
        *,
        dry_run: bool = False,
        stop: Event | None = None,
        save: Callable[[FleetResult], None] = lambda _: None,
        tell: Callable[[TableResult], None] = lambda _: None,
        hold: Callable[[], str | None] = lambda: None,
        failures: Mapping[str, Failures] = MappingProxyType({}),
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._maintainer = maintainer
        self._config = config
        self._dry_run = dry_run
        self._stop = stop or Event()
        self._save = save
        self._tell = tell
        self._hold = hold
        self._failures = failures
        self._wall = wall
        self._clock = clock
        self._started = clock()
        self._budget = ByteBudget(config.byte_budget)

    def run(self, tables: Sequence[Chosen], before: FleetResult) -> FleetResult:
        """Plan and maintain the tables.

        Args:
            tables: The tables to plan.
            before: The summary to add to. It holds the failures of discovery, and the results of
                the run that this one resumes.

        Returns:
            The summary of the whole pass.
        """
        summary = before
        # If the run is killed while it plans, the summary of an earlier run must not remain.
        self._save(summary)
        with ThreadPoolExecutor(self._config.concurrency) as executor:
            summary, due = self._plan_all(executor, tables, summary)
            self._save(summary)
            summary = self._maintain_all(executor, due, summary)
        state: State = "interrupted" if self._stop.is_set() else "finished"
        summary = replace(summary, state=state, ended=now())
        self._save(summary)
        return summary

    def _plan_all(
        self, executor: Executor, tables: Sequence[Chosen], summary: FleetResult
    ) -> tuple[FleetResult, list[Planned]]:
        """Plan the tables; add those that need no maintenance to the summary."""
        limit = self._config.concurrency
        workers = Workers(executor, limit, self._decide_planning, self._cancel_if_stopped)
        due: list[Planned] = []
        for planned in workers.results(tables):
            if isinstance(planned, TableResult):
                summary = self._with(summary, planned)
            elif planned.is_due:
                due.append(planned)
            else:
                summary = self._with(summary, _untouched(planned))
        return summary, due

    def _maintain_all(
        self, executor: Executor, due: list[Planned], summary: FleetResult
    ) -> FleetResult:
        """Maintain the tables and add their results to the summary."""
        limit = self._config.concurrency
        workers = Workers(executor, limit, self._decide_maintenance, self._cancel_if_stopped)
        for maintained in workers.results(most_gain_first(due)):
            self._budget.give_back(maintained.unused)
            summary = self._with(summary, maintained.result)
            self._save(summary)
        return summary

    def _with(self, summary: FleetResult, result: TableResult) -> FleetResult:
        self._tell(result)
        return replace(summary, tables=(*summary.tables, result))

    def _cancel_if_stopped(self) -> None:
        # Once is not enough: a statement may start its next job after the cancellation.
        if self._stop.is_set():
            self._maintainer.cancel()

    def _decide_planning(
        self, chosen: Chosen, others_run: bool
    ) -> Start[Planned | TableResult] | Finish[Planned | TableResult] | Wait:
        reason = self._reason_to_stop()
        if reason is not None:
            return Finish(TableResult(chosen.table.label, "skipped", reason))
        return Start(partial(self._plan, chosen))

    def _plan(self, chosen: Chosen) -> Planned | TableResult:
        facts: Facts | None = None
        try:
            facts = self._maintainer.facts_of(chosen)
            own = of_properties(facts.properties)
            chosen = chosen.with_own(own)
            warnings = own.warnings
            if own.policy.pause_after and self._config.history is None:
                warnings += ("deltaUpkeep.pauseAfter needs run.history, which counts failures",)
            refusal = self._refusal(chosen)
            if refusal is not None:
                skipped = TableResult(chosen.table.label, "skipped", refusal)
                return replace(skipped, warnings=warnings)
            work = self._maintainer.maintain(chosen, None, True)
            return Planned(chosen, facts.size, work, warnings)
        # Any error becomes the result of this table, and the other tables still run.
        except Exception as e:
            # If its properties are unknown, what the configuration says still holds.
            refusal = self._refusal(chosen) if facts is None else None
            if refusal is not None:
                return TableResult(chosen.table.label, "skipped", refusal)
            return self._failed(TableResult(chosen.table.label, "failed", ""), e)

    def _decide_maintenance(
        self, planned: Planned, others_run: bool
    ) -> Start[_Maintained] | Finish[_Maintained] | Wait:
        reason = self._reason_to_stop() or self._refusal(planned.chosen)
        if reason is None and self._budget.is_spent:
            if others_run:
                # They may give back a part of their grants.
                return Wait()
            reason = BYTE_BUDGET
        if reason is not None:
            skipped = replace(_untouched(planned), status="skipped", reason=reason)
            return Finish(_Maintained(skipped))
        wanted = planned.work.bytes_rewritten
        granted = self._budget.grant(wanted)
        if self._dry_run and granted == wanted:
            # The plan is the result.
            return Finish(_Maintained(_with_work(_untouched(planned), planned.work, "planned")))
        return Start(partial(self._maintain, planned, granted))

    def _maintain(self, planned: Planned, granted: int) -> _Maintained:
        begun = self._clock()
        before = replace(_untouched(planned), started=now())
        max_bytes = granted if self._budget.is_bounded else None
        size: Size | None = None
        try:
            work = self._maintainer.maintain(planned.chosen, max_bytes, self._dry_run)
            if not self._dry_run:
                size = self._maintainer.facts_of(planned.chosen).size
        # Nobody knows how much a failed table has rewritten, so its whole grant counts as spent.
        except Exception as e:
            return _Maintained(self._timed(self._failed(before, e), begun))
        result = _with_work(before, work, "planned" if self._dry_run else "done")
        if granted < planned.work.bytes_rewritten:
            result = _cut_short(result)
        if size is not None:
            result = replace(result, files_after=size.files, bytes_after=size.bytes)
        unused = max(0, granted - work.bytes_rewritten)
        return _Maintained(self._timed(result, begun), unused)

    def _refusal(self, chosen: Chosen) -> str | None:
        return chosen.policy.refusal(self._wall(), self._failures.get(chosen.table.label))

    def _timed(self, result: TableResult, begun: float) -> TableResult:
        return replace(result, duration_ms=round((self._clock() - begun) * 1000))

    def _failed(self, result: TableResult, e: Exception) -> TableResult:
        error = error_of(e)
        reason = INTERRUPTED if self._stop.is_set() else error.condition
        unknown = replace(result, files_after=None, bytes_after=None)
        return replace(unknown, status="failed", reason=reason, error=error)

    def _reason_to_stop(self) -> str | None:
        if self._stop.is_set():
            return INTERRUPTED
        limit = self._config.time_budget
        is_late = limit is not None and self._clock() - self._started >= limit
        return TIME_BUDGET if is_late else self._hold()


def now() -> str:
    """Return the time in UTC as a summary writes it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _untouched(planned: Planned) -> TableResult:
    """Make the result of a table that was left alone."""
    refusal = planned.work.refusal
    return TableResult(
        planned.chosen.table.label,
        "not due" if refusal is None else "skipped",
        refusal or "nothing is due",
        files_before=planned.size.files,
        files_after=planned.size.files,
        bytes_before=planned.size.bytes,
        bytes_after=planned.size.bytes,
        steps=planned.work.steps,
        warnings=planned.warnings,
    )


def _cut_short(result: TableResult) -> TableResult:
    """Say that the byte budget cut a table short, or left it out."""
    happened = result.status in ("done", "planned")
    return replace(result, status=result.status if happened else "skipped", reason=BYTE_BUDGET)


def _with_work(result: TableResult, work: Work, status: Status) -> TableResult:
    """Add the work to a result, if there was any; the number of files follows from it."""
    reason = work.in_status(status)
    if not reason:
        return replace(result, steps=work.steps)
    assert result.files_before is not None
    return replace(
        result,
        status=status,
        reason=reason,
        files_after=result.files_before - work.files_removed + work.files_added,
        bytes_after=None,
        bytes_rewritten=work.bytes_rewritten,
        steps=work.steps,
    )

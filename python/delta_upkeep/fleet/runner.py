"""One pass over the tables of a fleet: plan all, then maintain those that gain most first."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from threading import Event
from typing import TypeVar

from delta_upkeep.fleet.budget import ByteBudget
from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.errors import error_of
from delta_upkeep.fleet.maintenance import Maintainer
from delta_upkeep.fleet.plan import Planned, Work, most_gain_first
from delta_upkeep.fleet.selection import Chosen
from delta_upkeep.fleet.summary import (
    BYTE_BUDGET,
    INTERRUPTED,
    TIME_BUDGET,
    State,
    Status,
    Summary,
    TableResult,
)

T = TypeVar("T")
R = TypeVar("R")

_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class _Ended:
    """A table that was worked on, and the bytes of its grant that it left."""

    result: TableResult
    unused: int = 0


class FleetRunner:
    """Runs one pass.

    Args:
        maintainer: Does the work.
        config: Concurrency and budgets.
        dry_run: Whether to plan only.
        stop: Set from outside, it ends the pass: what runs is cancelled, nothing else starts.
        save: Called with the summary as it grows.
        tell: Called with each result.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        maintainer: Maintainer,
        config: FleetConfig,
        *,
        dry_run: bool = False,
        stop: Event | None = None,
        save: Callable[[Summary], None] = lambda _: None,
        tell: Callable[[TableResult], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._maintainer = maintainer
        self._config = config
        self._dry_run = dry_run
        self._stop = stop or Event()
        self._save = save
        self._tell = tell
        self._clock = clock
        self._started = clock()
        self._budget = ByteBudget(config.byte_budget)

    def run(self, tables: Sequence[Chosen], before: Summary) -> Summary:
        """Plan and maintain the tables.

        Args:
            tables: Those of the fleet that are still to be looked at.
            before: The summary to go on from: of discovery, and of a run that is resumed.

        Returns:
            The summary of the whole pass.
        """
        summary = before
        # A run that is killed while it plans is not to leave the summary of the one before.
        self._save(summary)
        with ThreadPoolExecutor(self._config.concurrency) as pool:
            due: list[Planned] = []
            for planned in self._each(pool, tables, self._planning):
                if isinstance(planned, Planned) and planned.is_due:
                    due.append(planned)
                else:
                    summary = self._with(summary, _undue(planned))
            self._save(summary)
            for ended in self._each(pool, most_gain_first(due), self._maintenance):
                self._budget.give_back(ended.unused)
                summary = self._with(summary, ended.result)
                self._save(summary)
        state: State = "interrupted" if self._stop.is_set() else "finished"
        summary = replace(summary, state=state, ended=now())
        self._save(summary)
        return summary

    def _with(self, summary: Summary, result: TableResult) -> Summary:
        self._tell(result)
        return replace(summary, tables=(*summary.tables, result))

    def _each(
        self,
        pool: ThreadPoolExecutor,
        items: Iterable[T],
        begin: Callable[[T, bool], Callable[[], R] | None],
    ) -> Iterator[R]:
        """Work on items in their order, some at a time.

        ``begin`` gets an item, and whether others are being worked on; it returns the work, or
        None to be asked again when one of the others has ended.
        """
        pending = deque(items)
        running: set[Future[R]] = set()
        while pending or running:
            while pending and len(running) < self._config.concurrency:
                work = begin(pending[0], bool(running))
                if work is None:
                    break
                pending.popleft()
                running.add(pool.submit(work))
            ended, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
            yield from (future.result() for future in ended)
            if running and self._stop.is_set():
                # Again and again: a statement that goes on to its next job is not to begin it.
                self._maintainer.cancel()

    def _planning(self, chosen: Chosen, others: bool) -> Callable[[], Planned | TableResult]:
        reason = self._reason_to_stop()
        if reason is not None:
            return partial(TableResult, chosen.table.label, "skipped", reason)
        return partial(self._plan, chosen)

    def _plan(self, chosen: Chosen) -> Planned | TableResult:
        try:
            return self._maintainer.plan(chosen)
        # Whatever it is, it is of this table, and the summary has it.
        except Exception as e:
            return self._failed(TableResult(chosen.table.label, "failed", ""), e)

    def _maintenance(self, planned: Planned, others: bool) -> Callable[[], _Ended] | None:
        reason = self._reason_to_stop()
        wanted = planned.work.bytes_rewritten
        if reason is None and self._budget.is_spent:
            if others:
                # They may leave some of what they were granted.
                return None
            reason = BYTE_BUDGET
        if reason is not None:
            skipped = replace(_looked_at(planned), status="skipped", reason=reason)
            return partial(_Ended, skipped)
        granted = self._budget.grant(wanted)
        if self._dry_run and granted == wanted:
            return partial(_Ended, _with_work(_looked_at(planned), planned.work, "planned"))
        return partial(self._maintain, planned, granted)

    def _maintain(self, planned: Planned, granted: int) -> _Ended:
        result = replace(_looked_at(planned), started=now())
        begun = self._clock()
        max_bytes = granted if self._budget.is_bounded else None
        try:
            work = self._maintainer.maintain(planned.chosen, max_bytes, self._dry_run)
            size = None if self._dry_run else self._maintainer.size_of(planned.chosen)
        # What a table that failed has rewritten is not known: its grant counts as spent.
        except Exception as e:
            return _Ended(self._timed(self._failed(result, e), begun))
        result = _with_work(result, work, "planned" if self._dry_run else "done")
        if granted < planned.work.bytes_rewritten:
            happened = result.status in ("done", "planned")
            status: Status = result.status if happened else "skipped"
            result = replace(result, status=status, reason=BYTE_BUDGET)
        if size is not None:
            result = replace(result, files_after=size.files, bytes_after=size.bytes)
        return _Ended(self._timed(result, begun), max(0, granted - work.bytes_rewritten))

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
        return TIME_BUDGET if is_late else None


def now() -> str:
    """Return the time in UTC, as a summary has it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _undue(planned: Planned | TableResult) -> TableResult:
    return planned if isinstance(planned, TableResult) else _looked_at(planned)


def _looked_at(planned: Planned) -> TableResult:
    """The result of a table in which nothing has been done."""
    return TableResult(
        planned.chosen.table.label,
        "not due",
        "nothing is due",
        files_before=planned.size.files,
        files_after=planned.size.files,
        bytes_before=planned.size.bytes,
        bytes_after=planned.size.bytes,
        steps=planned.work.steps,
    )


def _with_work(result: TableResult, work: Work, status: Status) -> TableResult:
    """Say what has been done, if anything has; sizes after it are those that the work tells."""
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

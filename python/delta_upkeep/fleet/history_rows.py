"""The rows of a fleet's history: one for each step of each table. All functions are pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from delta_upkeep.fleet.summary import INTERRUPTED, FleetResult, Step, TableResult


@dataclass(frozen=True)
class HistoryRow:
    """A row of the history. The table's figures are the same in all rows of a table.

    Attributes:
        run_id: The pass; later passes have greater ids.
        table: The name or the path of the table.
        step: ``optimize``, ``checkpoint``, ``vacuum`` or ``cleanup``; None if the table was not
            planned.
        started: When the maintenance of the table began, or else the pass, in UTC.
        seconds: How long the maintenance of the table took, with all steps.
        due: Whether the step was due; None if the table was not planned.
        status: ``done``, ``not due``, ``skipped`` or ``failed``.
        reason: Why it has this status, or what the step did.
        files_before: Data files of the table before the pass.
        files_after: Data files after it.
        bytes_before: Bytes of the data files before the pass.
        bytes_after: Bytes of the data files after it.
        error: The condition of the table's error.
        complete: Whether a pass that resumes this one can skip the table.
        resumes: The pass that this one resumes.
    """

    run_id: str
    table: str
    step: str | None
    started: str
    seconds: float
    due: bool | None
    status: str
    reason: str
    files_before: int | None
    files_after: int | None
    bytes_before: int | None
    bytes_after: int | None
    error: str | None
    complete: bool
    resumes: str | None


@dataclass(frozen=True)
class Failures:
    """How often a table has failed in a row, and when it last did, in seconds since the epoch."""

    count: int
    last: float

    @property
    def text(self) -> str:
        """The count in words."""
        return "a failure" if self.count == 1 else f"{self.count} failures in a row"


# Of Spark's SQL, in the order of the fields.
COLUMNS = {
    "run_id": "STRING",
    "table": "STRING",
    "step": "STRING",
    "started": "TIMESTAMP",
    "seconds": "DOUBLE",
    "due": "BOOLEAN",
    "status": "STRING",
    "reason": "STRING",
    "files_before": "BIGINT",
    "files_after": "BIGINT",
    "bytes_before": "BIGINT",
    "bytes_after": "BIGINT",
    "error": "STRING",
    "complete": "BOOLEAN",
    "resumes": "STRING",
}


def rows_of(summary: FleetResult) -> list[HistoryRow]:
    """Make the rows of a pass. Results of the pass that it resumes have rows of their own."""
    own = (result for result in summary.tables if not result.earlier)
    return [row for result in own for row in _rows(summary, result)]


def json_of(rows: list[HistoryRow]) -> str:
    """Write rows as a JSON array of objects."""
    return json.dumps([asdict(row) for row in rows])


def _rows(summary: FleetResult, result: TableResult) -> Iterator[HistoryRow]:
    for step in result.steps or (None,):
        status, reason = _outcome(result, step)
        yield HistoryRow(
            run_id=summary.run_id,
            table=result.table,
            step=step.step if step else None,
            started=result.started or summary.started,
            seconds=result.duration_ms / 1000,
            due=step.is_due if step else None,
            status=status,
            reason=reason,
            files_before=result.files_before,
            files_after=result.files_after,
            bytes_before=result.bytes_before,
            bytes_after=result.bytes_after,
            error=result.error.condition if result.error else None,
            complete=result.is_complete,
            resumes=summary.resumes,
        )


def _outcome(result: TableResult, step: Step | None) -> tuple[str, str]:
    """Tell what became of a step. If its table failed, only the plan of the step is known."""
    as_planned = result.status in ("failed", "skipped")
    if step is not None and not (as_planned and step.is_due):
        return step.status, step.reason
    is_own_error = result.error is not None and result.reason != INTERRUPTED
    return result.status, result.error.message if is_own_error and result.error else result.reason

"""The rows that a pass leaves in the history."""

from __future__ import annotations

import json
from dataclasses import replace

from delta_upkeep.fleet import FleetResult, TableResult
from delta_upkeep.fleet.history_rows import COLUMNS, HistoryRow, json_of, rows_of
from delta_upkeep.fleet.summary import Step, TableError

PLANNED = (Step("optimize", "planned", "3 files to rewrite"), Step("checkpoint", "not due", "few"))
DONE = TableResult(
    "lake.x",
    "done",
    "optimize: rewrote 3 files into 1",
    started="2026-11-26T02:00:05Z",
    duration_ms=1500,
    files_before=3,
    files_after=1,
    bytes_before=30,
    bytes_after=10,
    steps=(replace(PLANNED[0], status="done", reason="rewrote 3 files into 1"), PLANNED[1]),
)
FAILED = replace(DONE, status="failed", reason="X", steps=PLANNED, error=TableError("X", "a cause"))


def rows(*results: TableResult) -> list[HistoryRow]:
    started = "2026-11-26T02:00:00Z"
    return rows_of(
        FleetResult("finished", False, started, tables=results, run_id="r2", resumes="r1")
    )


def outcomes(*results: TableResult) -> list[tuple[object, ...]]:
    return [(r.step, r.due, r.status, r.reason, r.error, r.complete) for r in rows(*results)]


def test_a_row_for_each_step():
    first, second = rows(DONE)
    assert first == HistoryRow(
        "r2",
        "lake.x",
        "optimize",
        "2026-11-26T02:00:05Z",
        1.5,
        True,
        "done",
        "rewrote 3 files into 1",
        3,
        1,
        30,
        10,
        None,
        True,
        "r1",
    )
    assert (second.step, second.due, second.status) == ("checkpoint", False, "not due")


def test_of_a_table_that_failed_only_what_was_due_failed():
    assert outcomes(FAILED) == [
        ("optimize", True, "failed", "a cause", "X", False),
        ("checkpoint", False, "not due", "few", "X", False),
    ]
    cancelled = TableError("SPARK_JOB_CANCELLED", "cancelled by a tag")
    assert outcomes(replace(FAILED, reason="interrupted", error=cancelled))[0] == (
        "optimize",
        True,
        "failed",
        "interrupted",
        "SPARK_JOB_CANCELLED",
        False,
    )


def test_a_table_that_was_not_planned_has_one_row():
    skipped = TableResult("lake.y", "skipped", "time budget")
    assert outcomes(skipped) == [(None, None, "skipped", "time budget", None, False)]
    assert rows(skipped)[0].started == "2026-11-26T02:00:00Z"


def test_a_table_that_the_byte_budget_cut_short_is_not_complete():
    assert outcomes(replace(DONE, reason="byte budget"))[0][2:] == (
        "done",
        "rewrote 3 files into 1",
        None,
        False,
    )


def test_results_of_the_pass_that_is_resumed_are_there_already():
    assert rows(replace(DONE, earlier=True)) == []


def test_rows_have_all_columns():
    (row, _) = json.loads(json_of(rows(FAILED)))
    assert list(row) == list(COLUMNS)

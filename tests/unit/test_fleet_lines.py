"""Each line of a pass says when it was printed, and by which pass."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from delta_upkeep.fleet.lines import Lines
from delta_upkeep.fleet.summary import FleetResult, TableError, TableResult


def test_lines(capsys: pytest.CaptureFixture[str]):
    lines = Lines("20261126T020000Z-5f0c1d2e")
    failure = TableResult("x.*", "failed", "LOST", error=TableError("LOST", "The schema is gone."))
    summary = FleetResult(
        state="finished",
        dry_run=False,
        started="",
        tables=(failure, TableResult("t", "done", "optimize: rewrote 6 files into 2")),
        unmatched=("x.*", "y.*"),
    )
    lines.begin(summary, (failure,))
    lines.tell(summary.tables[1])
    lines.end(summary)
    found = [line.split(" ", 2) for line in capsys.readouterr().err.splitlines()]
    assert [text for _, _, text in found] == [
        "failed   x.*: The schema is gone.",
        "no table matches y.*",
        "done     t: optimize: rewrote 6 files into 2",
        "2 tables, 1 done, 1 failed",
    ]
    assert {run_id for _, run_id, _ in found} == {"20261126T020000Z-5f0c1d2e"}
    for printed, _, _ in found:
        since = datetime.now(timezone.utc) - datetime.fromisoformat(printed)
        assert timedelta(0) <= since < timedelta(minutes=1)

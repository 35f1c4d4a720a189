"""The order, the budgets and the failures of a pass, with tables that are only numbers."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_upkeep.fleet import ConfigError, FleetConfig, FleetResult, TableResult
from delta_upkeep.fleet.history_rows import Failures
from delta_upkeep.fleet.maintenance import bounded
from delta_upkeep.fleet.plan import Facts, Planned, Size, Work, most_gain_first
from delta_upkeep.fleet.runner import FleetRunner, now
from delta_upkeep.fleet.selection import Chosen, Found
from delta_upkeep.fleet.summary import Step, TableError, complete_in


@dataclass(frozen=True)
class Pile:
    """A table: so many small files of so many bytes, which one file replaces."""

    files: int = 0
    file_bytes: int = 10
    checkpoint: bool = False
    damaged: bool = False
    fails: bool = False
    properties: dict[str, str] = field(default_factory=dict)


@dataclass
class Yard:
    """A maintainer of piles, that writes down what it is asked."""

    piles: dict[str, Pile]
    maintained: list[str] = field(default_factory=list)
    rewritten: int = 0
    at_once: int = 0
    most_at_once: int = 0
    cancelled: int = 0
    on_maintain: Any = None
    lock: Any = field(default_factory=threading.Lock)

    def maintain(self, chosen: Chosen, max_bytes: int | None, dry_run: bool) -> Work:
        name = chosen.table.label
        pile = self.piles[name]
        fitting = pile.files if max_bytes is None else min(pile.files, max_bytes // pile.file_bytes)
        files = fitting if fitting > 1 else 0
        status = "planned" if dry_run else "done"
        reason = f"{files} files to rewrite" if dry_run else f"rewrote {files} files into 1"
        steps = (
            Step("optimize", status if files else "not due", reason),
            Step("checkpoint", status if pile.checkpoint else "not due", "10 commits"),
        )
        if not dry_run:
            self._do(name, files)
        return Work(steps, files, int(files > 0), files * pile.file_bytes)

    def _do(self, name: str, files: int) -> None:
        with self.lock:
            self.maintained.append(name)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.on_maintain:
                self.on_maintain(name)
            if self.piles[name].fails:
                raise RuntimeError("no room on the device")
        finally:
            with self.lock:
                self.at_once -= 1
                self.rewritten += files * self.piles[name].file_bytes
        left = self.piles[name].files - files + int(files > 0)
        self.piles[name] = replace(self.piles[name], files=left, checkpoint=False)

    def facts_of(self, chosen: Chosen) -> Facts:
        pile = self.piles[chosen.table.label]
        if pile.damaged:
            raise RuntimeError("a damaged log")
        return Facts(Size(pile.files, pile.files * pile.file_bytes), pile.properties)

    def cancel(self) -> None:
        self.cancelled += 1


def fleet(yard: Yard) -> list[Chosen]:
    return [Chosen(Found(name), {}) for name in yard.piles]


def run(yard: Yard, *, only: list[Chosen] | None = None, **settings: Any) -> FleetResult:
    options = {
        key: settings.pop(key)
        for key in ("dry_run", "stop", "save", "tell", "clock", "wall", "failures")
        if key in settings
    }
    runner = FleetRunner(yard, FleetConfig(include=(), **settings), **options)
    before = FleetResult("running", options.get("dry_run", False), now())
    return runner.run(fleet(yard) if only is None else only, before)


def by_name(summary: FleetResult) -> dict[str, TableResult]:
    return {result.table: result for result in summary.tables}


def test_the_end_of_a_deletion_vector_is_a_gain():
    work = Work((), files_removed=3, files_added=3, bytes_rewritten=100, vectors_removed=2)
    assert Planned(None, Size(3, 100), work).gain == 0.02


def test_most_gain_comes_first():
    yard = Yard({"few": Pile(2), "many": Pile(100), "large": Pile(200, 1000)})
    yard.piles |= {"cheap": Pile(checkpoint=True), "none": Pile()}
    summary = run(yard)
    assert yard.maintained == ["cheap", "many", "few", "large"]
    results = by_name(summary)
    assert [r.table for r in summary.tables] == ["none", "cheap", "many", "few", "large"]
    assert results["none"].status == "not due"
    assert results["many"].reason == "optimize: rewrote 100 files into 1"
    assert (results["many"].files_before, results["many"].files_after) == (100, 1)
    assert (results["many"].bytes_before, results["many"].bytes_after) == (1000, 10)
    assert results["many"].started is not None
    assert summary.to_dict()["totals"] == {
        "tables": 5,
        "done": 4,
        "planned": 0,
        "notDue": 1,
        "skipped": 0,
        "failed": 0,
        "filesTakenAway": 99 + 1 + 199,
        "bytesRewritten": 20 + 1000 + 200_000,
    }
    assert (summary.state, summary.exit_code) == ("finished", 0)


def test_a_failure_is_recorded_and_keeps_no_other_table():
    yard = Yard({"a": Pile(9, damaged=True), "b": Pile(9, fails=True), "c": Pile(2)})
    summary = run(yard)
    results = by_name(summary)
    assert results["a"].error == TableError("RuntimeError", "a damaged log")
    assert results["b"].error == TableError("RuntimeError", "no room on the device")
    assert (results["b"].files_before, results["b"].files_after) == (9, None)
    assert results["b"].reason == "RuntimeError"
    assert results["c"].status == "done"
    assert summary.exit_code == 1


def test_a_dry_run_says_what_a_run_then_does():
    piles = {"a": Pile(5), "b": Pile(50), "c": Pile(5, 100), "d": Pile(checkpoint=True)}
    dry, real = Yard(dict(piles)), Yard(dict(piles))
    planned, done = run(dry, dry_run=True, byte_budget=560), run(real, byte_budget=560)
    assert dry.maintained == [] and dry.piles == piles
    assert by_name(planned)["a"].status == "planned"

    def outcome(summary: FleetResult) -> list[tuple[Any, ...]]:
        return [
            (r.table, r.files_after, r.bytes_rewritten, r.reason == "byte budget")
            for r in summary.tables
        ]

    assert outcome(planned) == outcome(done)


def test_tables_beyond_the_byte_budget_are_left():
    yard = Yard({"a": Pile(10), "b": Pile(10, 20), "c": Pile(10, 30), "d": Pile(checkpoint=True)})
    results = by_name(run(yard, byte_budget=100 + 60))
    assert [(r.status, r.reason) for r in (results["b"], results["c"])] == [
        ("done", "byte budget"),
        ("skipped", "byte budget"),
    ]
    assert (results["b"].bytes_rewritten, results["b"].files_after) == (60, 8)
    assert results["a"].reason == "optimize: rewrote 10 files into 1"
    assert results["d"].status == "done"
    assert [results[name].is_complete for name in "abcd"] == [True, False, False, True]


def test_what_a_table_cannot_use_is_there_for_the_next():
    # Of b, no two files fit into the 30 bytes that a leaves; of c, they do.
    yard = Yard({"a": Pile(10, 1), "b": Pile(200, 16), "c": Pile(2, 15)})
    results = by_name(run(yard, byte_budget=40))
    assert [(results[name].status, results[name].reason) for name in "bc"] == [
        ("skipped", "byte budget"),
        ("done", "optimize: rewrote 2 files into 1"),
    ]


def test_a_table_waits_for_what_another_may_leave():
    yard = Yard({"b": Pile(200, 16), "c": Pile(2, 15)})
    results = by_name(run(yard, byte_budget=31, concurrency=2))
    assert (results["b"].status, results["c"].status) == ("skipped", "done")
    assert yard.most_at_once == 1


def test_no_table_is_started_after_the_time_budget():
    yard = Yard({"a": Pile(3), "b": Pile(3, 20), "c": Pile(3, 30)})
    seconds = 0.0

    def work(name: str) -> None:
        nonlocal seconds
        seconds += 60

    yard.on_maintain = work
    results = by_name(run(yard, time_budget=100, clock=lambda: seconds))
    assert [(results[name].status, results[name].duration_ms) for name in "abc"] == [
        ("done", 60_000),
        ("done", 60_000),
        ("skipped", 0),
    ]
    assert results["c"].reason == "time budget"


def test_a_higher_priority_comes_before_a_higher_gain():
    yard = Yard({"many": Pile(100), "few": Pile(2, properties={"deltaUpkeep.priority": "1"})})
    yard.piles["last"] = Pile(checkpoint=True, properties={"deltaUpkeep.priority": "-1"})
    run(yard)
    assert yard.maintained == ["few", "many", "last"]


def test_a_table_is_started_only_in_its_window():
    moment = datetime(2026, 11, 26, 21, 59, tzinfo=timezone.utc)
    nightly = {"deltaUpkeep.window": "22:00-06:00"}
    yard = Yard({"a": Pile(3, properties=nightly), "b": Pile(3, 20)})
    results = by_name(run(yard, wall=lambda: moment))
    assert (results["a"].status, results["b"].status) == ("skipped", "done")
    assert results["a"].reason == "outside its window: 22:00-06:00 UTC"
    assert not results["a"].is_complete

    def work(name: str) -> None:
        nonlocal moment
        moment += timedelta(hours=5)

    # Its window ends while another table is maintained.
    until_six = {"deltaUpkeep.window": "01:00-06:00"}
    yard = Yard({"a": Pile(30), "b": Pile(3, properties=until_six)}, on_maintain=work)
    moment = datetime(2026, 11, 26, 2, tzinfo=timezone.utc)
    results = by_name(run(yard, wall=lambda: moment))
    assert (results["a"].status, results["b"].status) == ("done", "skipped")


def test_a_table_that_has_failed_too_often_is_paused():
    now = datetime(2026, 11, 26, 12, tzinfo=timezone.utc)
    failures = {name: Failures(3, now.timestamp() - 3600) for name in "abc"}
    often = {"deltaUpkeep.pauseAfter": "3"}
    yard = Yard({"a": Pile(3, properties=often), "b": Pile(3, 20)})
    yard.piles["c"] = Pile(3, 30, properties={**often, "deltaUpkeep.pauseFor": "1h"})
    results = by_name(run(yard, failures=failures, history="h", wall=lambda: now))
    assert [results[name].status for name in "abc"] == ["skipped", "done", "done"]
    assert results["a"].reason == (
        "paused after 3 failures in a row, until 2026-11-27T11:00:00+00:00"
    )
    assert results["b"].warnings == ()
    (warning,) = by_name(run(yard))["a"].warnings
    assert warning.startswith("deltaUpkeep.pauseAfter needs run.history")


def test_one_failure_is_told_as_one():
    now = datetime(2026, 11, 26, 12, tzinfo=timezone.utc)
    yard = Yard({"a": Pile(3, properties={"deltaUpkeep.pauseAfter": "1"})})
    failures = {"a": Failures(1, now.timestamp())}
    results = by_name(run(yard, failures=failures, history="h", wall=lambda: now))
    assert results["a"].reason.startswith("paused after a failure, until ")


def test_a_table_whose_steps_may_not_run_is_skipped_with_the_reason():
    yard = Yard({"a": Pile(3)})
    off = "the table property deltaUpkeep.enabled is false"
    steps = tuple(
        Step(name, "skipped", off) for name in ("optimize", "checkpoint", "vacuum", "cleanup")
    )
    yard.maintain = lambda *_: Work(steps)  # type: ignore[method-assign]
    result = by_name(run(yard))["a"]
    assert (result.status, result.reason, result.files_after) == ("skipped", off, 3)


def test_properties_without_a_meaning_are_told():
    yard = Yard({"a": Pile(3, properties={"deltaUpkeep.widow": "22:00-06:00"})})
    yard.piles["b"] = Pile(3, properties={"deltaUpkeep.window": "at night"})
    results = by_name(run(yard))
    assert results["a"].status == "done"
    (warning,) = results["a"].warnings
    assert warning.startswith(
        "the property deltaUpkeep.widow is unknown. Use one of: checkpoint.commitBytes, "
    )
    yard.piles["c"] = Pile(3, properties={"DeltaUpkeep.window": "01:00-02:00"})
    (warning,) = by_name(run(yard))["c"].warnings
    assert warning == (
        "the property DeltaUpkeep.window has no effect, because case matters: write deltaUpkeep."
    )
    error = results["b"].error
    assert (error.condition, results["b"].status) == ("INVALID_PROPERTY", "failed")
    assert error.message.startswith("The property deltaUpkeep.window cannot be 'at night'. Use a")


def test_planning_counts_for_the_time_budget():
    yard = Yard({"a": Pile(3), "b": Pile(3)})
    assert {r.reason for r in run(yard, time_budget=1, clock=clock(2)).tables} == {"time budget"}


def clock(step: float) -> Any:
    ticks = iter(range(10**6))
    return lambda: next(ticks) * step


def test_as_many_tables_at_a_time_as_allowed():
    yard = Yard({name: Pile(3) for name in "abcdefgh"})
    gate = threading.Barrier(3)
    # Passes only where three tables are there at once; two are left at the end.
    yard.on_maintain = lambda name: gate.wait(timeout=20) if name in "abcdef" else None
    summary = run(yard, concurrency=3)
    assert (yard.most_at_once, summary.exit_code) == (3, 0)


def test_a_stop_cancels_what_runs_and_starts_nothing():
    yard = Yard({"a": Pile(9), "b": Pile(9, 20)})
    stop = threading.Event()

    def work(name: str) -> None:
        stop.set()
        end = time.monotonic() + 20
        while yard.cancelled < 2 and time.monotonic() < end:
            time.sleep(0.01)
        raise RuntimeError("cancelled")

    yard.on_maintain = work
    summary = run(yard, stop=stop)
    results = by_name(summary)
    assert yard.maintained == ["a"] and yard.cancelled >= 2
    assert (results["a"].status, results["a"].reason) == ("failed", "interrupted")
    assert (results["b"].status, results["b"].reason) == ("skipped", "interrupted")
    assert summary.state == "interrupted"


PILES = st.builds(Pile, st.integers(0, 30), st.integers(1, 50), *[st.booleans()] * 3)
YARDS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), PILES, max_size=8)


@given(YARDS, st.none() | st.integers(1, 2000), st.integers(1, 3), st.booleans())
def test_every_table_has_one_result_within_the_budget(
    piles: dict[str, Pile], limit: int | None, concurrency: int, dry_run: bool
):
    yard = Yard(dict(piles))
    summary = run(yard, byte_budget=limit, concurrency=concurrency, dry_run=dry_run)
    assert sorted(r.table for r in summary.tables) == sorted(piles)
    assert yard.most_at_once <= concurrency
    assert limit is None or yard.rewritten <= limit
    assert limit is None or sum(r.bytes_rewritten for r in summary.tables) <= limit
    damaged = {name for name, p in piles.items() if p.damaged}
    failed = {r.table for r in summary.tables if r.status == "failed"}
    assert damaged <= failed
    assert all(piles[name].fails for name in failed - damaged)
    if limit is None and not dry_run:
        due = {name for name, p in piles.items() if (p.files > 1 or p.checkpoint)}
        assert set(yard.maintained) == due - damaged
        assert not [r for r in summary.tables if r.status == "skipped"]
    if dry_run:
        assert yard.piles == piles


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(0, 999)), max_size=9))
def test_no_table_before_one_that_gains_more(works: list[tuple[int, int]]):
    planned = [
        Planned(Chosen(Found(str(i)), {}), Size(9, 9), Work((), files, 1, size))
        for i, (files, size) in enumerate(works)
    ]
    gains = [each.gain for each in most_gain_first(planned)]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, {"MAXbytes": "9g", "order": "gain"}),
        (7, {"order": "gain", "maxBytes": "7"}),
        (0, {"order": "gain", "maxBytes": "1"}),
    ],
)
def test_the_budget_takes_the_place_of_a_tables_own_bound(limit: int | None, expected: Any):
    assert bounded({"MAXbytes": "9g", "order": "gain"}, limit) == expected


def test_the_summary_grows_with_each_table(tmp_path: Path):
    file = tmp_path / "summary.json"
    yard = Yard({"a": Pile(9), "b": Pile(9, 20), "c": Pile()})
    seen: list[Any] = []
    saved: list[FleetResult] = []
    yard.on_maintain = lambda name: seen.append(json.loads(file.read_text()))

    def save(summary: FleetResult) -> None:
        saved.append(summary)
        summary.write(file)

    summary = run(yard, save=save)
    assert (saved[0].state, saved[0].tables) == ("running", ())
    assert [(each["state"], [t["table"] for t in each["tables"]]) for each in seen] == [
        ("running", ["c"]),
        ("running", ["c", "a"]),
    ]
    assert json.loads(file.read_text()) == summary.to_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_a_killed_run_is_resumed_where_it_was(tmp_path: Path):
    file = tmp_path / "summary.json"
    yard = Yard({"a": Pile(9), "b": Pile(9, 20, fails=True), "c": Pile(9, 30), "d": Pile()})
    first = run(yard, byte_budget=90 + 180 + 100, save=lambda each: each.write(file))
    assert {r.table: r.status for r in first.tables} == {
        "a": "done",
        "b": "failed",
        "c": "done",
        "d": "not due",
    }
    earlier = complete_in(file)
    expected = [replace(r, earlier=True) for r in first.tables if r.table in "ad"]
    assert list(earlier) == expected


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tables": 3}', '{"tables": [{"table": "a"}]}'])
def test_what_is_no_summary_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "summary.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match="is not a summary of delta-upkeep run"):
        complete_in(file)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        complete_in(tmp_path / "none.json")


def test_a_summary_that_cannot_be_written_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "summary.json"
    FleetResult("running", False, "then").write(file)
    before = file.read_text()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        FleetResult("finished", False, "now").write(file)
    assert file.read_text() == before

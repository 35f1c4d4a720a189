"""The history of a fleet, and passes that overlap or are killed, on real Spark and Delta."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, Row, SparkSession

from delta_upkeep import UpkeepTable
from delta_upkeep.cli import main
from delta_upkeep.fleet import ConfigError, FleetResult, TableResult, run_fleet
from delta_upkeep.fleet.history import DeltaHistory
from delta_upkeep.fleet.history_rows import rows_of
from delta_upkeep.fleet.policy import DAYS
from delta_upkeep.fleet.summary import Step, TableError
from support.processes import CLEAN, ROOT

pytestmark = pytest.mark.takes_turns

WAIT_SECONDS = 60


@dataclass
class Lake:
    """A directory with the tables x and y, and the place of a history."""

    spark: SparkSession
    directory: Path
    history: str

    def config(self, **run: Any) -> dict[str, Any]:
        return {
            "tables": {"include": [f"{self.directory}/lake/*"]},
            "run": {"history": self.history, **run},
        }

    def add(self, table: str, appends: int) -> None:
        for i in range(appends):
            path = self.directory / "lake" / table
            write_deltalake(path, pyarrow.table({"id": [i]}), mode="append")

    def path(self, table: str) -> str:
        return f"file:{self.directory}/lake/{table}"

    def rows(self) -> list[Row]:
        found = self.spark.table(f"delta.`{self.history}`") if "/" in self.history else None
        found = found or self.spark.table(self.history)
        return found.sort("run_id", "table").collect()

    def optimized(self, table: str) -> int:
        """How many commits of OPTIMIZE a table has."""
        commits = UpkeepTable.forPath(self.spark, self.path(table)).history()
        return commits.where("operation = 'OPTIMIZE'").count()

    @property
    def passes(self) -> list[Path]:
        return [p for p in Path(self.history).glob("_passes/*") if not p.name.startswith(".")]


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    made = Lake(spark, tmp_path, str(tmp_path / "history"))
    made.add("x", 4)
    made.add("y", 2)
    return made


@pytest.fixture
def named(lake: Lake) -> Iterator[Lake]:
    lake.history = f"history_{uuid.uuid4().hex[:8]}"
    yield lake
    lake.spark.sql(f"DROP TABLE {lake.history}")


def statuses(result: FleetResult) -> dict[str, str]:
    return {table.table: table.status for table in result.tables}


def test_each_pass_leaves_its_rows(named: Lake):
    (named.directory / "lake/bad/_delta_log").mkdir(parents=True)
    (named.directory / f"lake/bad/_delta_log/{0:020}.json").write_text("{")
    own = f"spark_catalog.default.{named.history}"
    first = run_fleet(named.spark, named.config())
    assert statuses(first)[own] == "not due"
    rows = named.rows()
    assert {row.run_id for row in rows} == {first.run_id}
    x = {row.step: row for row in rows if row.table == named.path("x")}
    assert list(x) == ["optimize", "checkpoint", "vacuum", "cleanup"]
    optimize = x["optimize"]
    assert (optimize.due, optimize.status, optimize.reason[:7]) == (True, "done", "rewrote")
    assert (optimize.files_before, optimize.files_after, optimize.complete) == (4, 1, True)
    assert optimize.bytes_before > optimize.bytes_after > 0
    assert optimize.seconds > 0
    assert first.started <= optimize.started.isoformat() + "+00:00" <= first.ended
    (bad,) = (row for row in rows if row.table == named.path("bad"))
    assert (bad.step, bad.due, bad.status, bad.complete) == (None, None, "failed", False)
    assert bad.error.startswith("DELTA_UPKEEP.")
    second = run_fleet(named.spark, named.config(), dry_run=True)
    assert statuses(second)[named.path("x")] == "not due"
    assert named.rows() == rows
    # Delta commits the rows of a pass once, whoever appends them.
    options = {"minInputFiles": "2"}
    third = run_fleet(named.spark, {**named.config(), "options": options})
    # The history has become a table of two files, and the next pass compacts it.
    fourth = run_fleet(named.spark, {**named.config(), "options": options})
    assert statuses(fourth)[own] == "done"
    runs = [first.run_id, third.run_id, fourth.run_id]
    assert sorted({row.run_id for row in named.rows()}) == sorted(runs)


def test_an_interrupted_pass_is_resumed_from_the_history(lake: Lake):
    # One that is not local for us.
    lake.history = f"fault:{lake.history}"
    with pytest.raises(ConfigError, match="no history names it"):
        run_fleet(lake.spark, {"tables": {"include": ["a"]}}, resume=True)
    # There is nothing to resume, but that is no error.
    size = sum(
        table.bytes_before or 0
        for table in run_fleet(lake.spark, lake.config(), dry_run=True, resume=True).tables
    )
    first = run_fleet(lake.spark, lake.config(byte_budget=size * 2 // 3), resume=True)
    assert statuses(first)[lake.path("y")] == "skipped"
    lake.add("x", 1)
    second = run_fleet(lake.spark, lake.config(), resume=True)
    assert second.resumes == first.run_id
    found = {table.table: (table.status, table.earlier) for table in second.tables}
    assert found[lake.path("x")] == ("done", True)
    assert found[lake.path("y")] == ("done", False)
    assert lake.optimized("x") == 1
    assert {row.resumes for row in lake.rows()} == {None, first.run_id}
    third = run_fleet(lake.spark, lake.config(), resume=True)
    assert (third.resumes, statuses(third)[lake.path("x")]) == (None, "done")


def test_the_second_of_two_passes_leaves_the_tables_of_the_first(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    maintain = UpkeepTable.maintain
    begun, may_end = threading.Event(), threading.Event()

    def slow(self: UpkeepTable, *, dryRun: bool, options: dict[str, str]) -> DataFrame:
        if not dryRun and not begun.is_set():
            begun.set()
            assert may_end.wait(WAIT_SECONDS)
        return maintain(self, dryRun=dryRun, options=options)

    monkeypatch.setattr(UpkeepTable, "maintain", slow)
    lake.add("z", 3)
    narrow = lake.config()
    narrow["tables"] = {"include": [lake.path(name) for name in "xy"]}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_fleet, lake.spark, narrow)
        assert begun.wait(WAIT_SECONDS)
        second = run_fleet(lake.spark, lake.config())
        may_end.set()
        first = running.result()
    skipped = {table.table: table for table in second.tables if table.status == "skipped"}
    own = f"file:{lake.history}"
    assert set(skipped) == {lake.path("x"), lake.path("y"), own}
    said = skipped[lake.path("x")].reason
    assert re.fullmatch(
        rf"pass {first.run_id} on \S+ has been running since {re.escape(first.started)}", said
    )
    assert f"{said}; 3 tables are left to it" in capsys.readouterr().err
    assert statuses(second)[lake.path("z")] == "done"
    assert {lake.path("x"): "done", lake.path("y"): "done"}.items() <= statuses(first).items()
    assert [lake.optimized(name) for name in "xyz"] == [1, 1, 1]
    assert {row.run_id for row in lake.rows()} == {first.run_id, second.run_id}
    assert lake.passes == []


def test_what_a_killed_driver_has_done_is_in_the_history(
    lake: Lake, capsys: pytest.CaptureFixture[str]
):
    config = lake.directory / "upkeep.toml"
    config.write_text(
        f'tables.include = "{lake.directory}/lake/*"\nrun.history = "{lake.history}"\n'
    )
    killed = subprocess.run(
        [sys.executable, ROOT / "tests/support/killed_pass.py", str(config)],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert killed.returncode == -9, killed.stderr[-3000:]
    assert lake.rows() == []
    assert len(lake.passes) == 2
    # It may still be alive.
    second = run_fleet(lake.spark, lake.config())
    assert set(statuses(second).values()) == {"skipped"}
    hours_ago = time.time() - 3600
    for path in lake.passes:
        os.utime(path, (hours_ago, hours_ago))
    capsys.readouterr()
    assert main(["run", "--config", str(config), "--json", "--resume"]) == 0
    printed = capsys.readouterr()
    third = json.loads(printed.out)
    (lost,) = re.findall(r"pass (\S+) on \S+: its driver was lost", printed.err)
    assert third["resumes"] == lost
    found = {table["table"]: (table["status"], table["earlier"]) for table in third["tables"]}
    assert found[lake.path("x")] == ("done", True)
    assert found[lake.path("y")] == ("done", False)
    by_run = {
        (row.run_id, row.table): row.status for row in lake.rows() if row.step in (None, "optimize")
    }
    assert by_run[lost, lake.path("x")] == by_run[third["runId"], lake.path("y")] == "done"
    assert by_run[lost, lake.path("y")] == "skipped"
    assert [lake.optimized(name) for name in "xy"] == [1, 1]
    assert lake.passes == []


def test_properties_of_a_table_win_over_the_configuration(lake: Lake):
    not_today = DAYS[(datetime.now(timezone.utc).weekday() + 3) % 7]
    lake.spark.sql(
        f"ALTER TABLE delta.`{lake.path('x')}` SET TBLPROPERTIES ('deltaUpkeep.steps' = 'cleanup', "
        f"'deltaUpkeep.days' = '{', '.join(DAYS)}', 'deltaUpkeep.widow' = '22:00-06:00')"
    )
    values = lake.config() | {"options": {"steps": "optimize"}, "policy": {"days": not_today}}
    found = {table.table: table for table in run_fleet(lake.spark, values).tables}
    x, y = found[lake.path("x")], found[lake.path("y")]
    assert [step.status for step in x.steps] == ["skipped", "skipped", "skipped", "not due"]
    assert "deltaUpkeep.widow is unknown" in x.warnings[0]
    assert (y.status, y.reason) == ("skipped", f"outside its window: all day UTC, on {not_today}")


def test_what_is_resumed_and_what_counts_as_a_failure(lake: Lake):
    history = DeltaHistory(lake.spark, lake.history)
    history.create()
    now = datetime.now(timezone.utc)
    due = (Step("optimize", "planned", ""), Step("checkpoint", "not due", ""))
    error = TableError("X", "the disk is full")
    failed = TableResult("y", "failed", "X", steps=due, error=error)
    cancelled = TableResult("y", "failed", "interrupted", steps=due, error=error)

    def append(run_id: str, *results: TableResult, hours_ago: int = 0) -> None:
        started = (now - timedelta(hours=hours_ago)).isoformat()
        history.append(
            run_id, rows_of(FleetResult("finished", False, started, tables=results, run_id=run_id))
        )

    def complete() -> list[str] | None:
        last = history.last_pass()
        return None if last is None else [result.table for result in last.complete]

    done = TableResult("x", "done", "")
    # A table that fails each night must not keep the others from being maintained.
    append("1", done, failed)
    assert (complete(), history.failures()["y"].count) == (None, 1)
    append("2", done, TableResult("y", "skipped", "time budget", steps=due))
    assert (complete(), history.failures()["y"].count) == (["x"], 1)
    append("3", TableResult("x", "skipped", "outside its window: 01:00-02:00 UTC"))
    assert complete() == ["x"]
    append("4", done, cancelled)
    assert (complete(), history.failures()["y"].count) == (["x"], 1)
    append("5", done, failed)
    assert (complete(), history.failures()["y"].count) == (None, 2)
    append("6", done, TableResult("y", "done", "byte budget"), hours_ago=13)
    assert (complete(), "y" in history.failures()) == ([], False)


def test_the_rows_of_a_pass_that_breaks_off_are_there(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    maintain = UpkeepTable.maintain

    def interrupted(self: UpkeepTable, *, dryRun: bool, options: dict[str, str]) -> DataFrame:
        if not dryRun and lake.optimized("x") == 1:
            raise KeyboardInterrupt
        return maintain(self, dryRun=dryRun, options=options)

    monkeypatch.setattr(UpkeepTable, "maintain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_fleet(lake.spark, lake.config(concurrency=1))
    monkeypatch.undo()
    by_table = {row.table: (row.status, row.reason) for row in lake.rows() if row.step is None}
    assert by_table[lake.path("y")] == ("skipped", "interrupted")
    assert lake.passes == []
    resumed = run_fleet(lake.spark, lake.config(), resume=True)
    assert statuses(resumed)[lake.path("y")] == "done"
    assert lake.path("x") in {table.table for table in resumed.tables if table.earlier}


def test_a_table_that_fails_again_and_again_is_paused(lake: Lake):
    values = lake.config() | {
        "overrides": [{"match": lake.path("x"), "options": {"targetSize": 1}, "pause_after": 2}]
    }
    for _ in range(2):
        assert statuses(run_fleet(lake.spark, values))[lake.path("x")] == "failed"
    paused = {table.table: table for table in run_fleet(lake.spark, values).tables}
    assert paused[lake.path("x")].status == "skipped"
    assert paused[lake.path("x")].reason.startswith("paused after 2 failures in a row, until ")
    assert paused[lake.path("y")].status == "not due"


def test_a_table_that_is_no_history_is_refused(lake: Lake):
    with pytest.raises(ConfigError, match="it lacks the columns run_id"):
        run_fleet(lake.spark, lake.config(history=lake.path("x")))
    with pytest.raises(ConfigError, match=r"in run\.history"):
        run_fleet(lake.spark, lake.config(history="no_such_schema.history"))
    with pytest.raises(ConfigError, match=r"in run\.summary"):
        run_fleet(lake.spark, lake.config(summary=str(lake.directory)))
    with pytest.raises(ConfigError, match="as `earlier`"):
        run_fleet(lake.spark, lake.config(), resume="summary.json")

"""A pass over tables of a catalog and of paths, by the command line, on real Spark."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep import UpkeepTable
from delta_upkeep.cli import main
from delta_upkeep.fleet import ConfigError, run_fleet
from delta_upkeep.fleet.files import Files, Uri

Summary = dict[str, Any]
WAIT_SECONDS = 60


@dataclass
class Fleet:
    """A schema with orders, events_1, events_2, tmp_1, and what is no Delta table; a lake with x
    and y.
    """

    spark: SparkSession
    schema: str
    directory: Path
    capsys: pytest.CaptureFixture[str]

    def make(self, path: Path, appends: int) -> Path:
        for i in range(appends):
            write_deltalake(path, pyarrow.table({"id": [i]}), mode="append")
        return path

    @property
    def lake(self) -> Path:
        return self.directory / "lake"

    def name(self, table: str) -> str:
        return f"spark_catalog.{self.schema}.{table}"

    def path(self, table: str) -> str:
        return f"file:{self.lake / table}"

    def run(self, config: str, *arguments: str, code: int = 0) -> Summary:
        file = self.directory / "upkeep.toml"
        file.write_text(config.format(schema=self.schema, lake=self.lake))
        assert main(["run", "--config", str(file), "--json", *arguments]) == code
        summary: Summary = json.loads(self.capsys.readouterr().out)
        return summary

    def files(self, table: str) -> int:
        if table in "xy":
            found = UpkeepTable.forPath(self.spark, str(self.lake / table))
        else:
            found = UpkeepTable.forName(self.spark, f"{self.schema}.{table}")
        return int(found.detail().first().numFiles)


@pytest.fixture
def fleet(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Fleet]:
    schema = f"fleet_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {schema}")
    made = Fleet(spark, schema, tmp_path, capsys)
    for table, appends in {"orders": 5, "events_1": 3, "events_2": 2, "tmp_1": 2}.items():
        path = made.make(tmp_path / "catalog" / table, appends)
        spark.sql(f"CREATE TABLE {schema}.{table} USING delta LOCATION '{path}'")
    for table, appends in {"x": 4, "y": 2}.items():
        made.make(made.lake / table, appends)
    (made.lake / "raw").mkdir()
    spark.sql(f"CREATE TABLE {schema}.plain (id BIGINT) USING parquet")
    spark.sql(f"CREATE VIEW {schema}.seen AS SELECT * FROM {schema}.orders")
    yield made
    spark.sql(f"DROP SCHEMA {schema} CASCADE")


ALL = """
tables = {{ include = ["{schema}.*", "{lake}/*"], exclude = ["{schema}.tmp_*"] }}
run = {{ concurrency = 2 }}
"""


def statuses(summary: Summary) -> dict[str, str]:
    return {table["table"]: table["status"] for table in summary["tables"]}


def test_a_pass_maintains_what_is_chosen_and_then_nothing(fleet: Fleet):
    override = '[[overrides]]\nmatch = "*.events_2"\noptions = {{ minInputFiles = 3 }}\n'
    summary = fleet.run(ALL + override)
    assert statuses(summary) == {
        fleet.name("orders"): "done",
        fleet.name("events_1"): "done",
        fleet.name("events_2"): "not due",
        fleet.path("x"): "done",
        fleet.path("y"): "done",
    }
    tables = {table["table"]: table for table in summary["tables"]}
    x = tables[fleet.path("x")]
    assert (x["filesBefore"], x["filesAfter"]) == (4, 1)
    assert x["bytesRewritten"] == x["bytesBefore"] > x["bytesAfter"] > 0
    assert [step["status"] for step in x["steps"]] == ["done", "not due", "skipped", "not due"]
    assert summary["totals"]["filesTakenAway"] == 4 + 2 + 3 + 1
    assert summary["notDelta"] == {"views": 1, "otherFormats": 2}
    found = {name: fleet.files(name) for name in ("orders", "events_1", "events_2", "tmp_1", "x")}
    assert found == {"orders": 1, "events_1": 1, "events_2": 2, "tmp_1": 2, "x": 1}
    assert [row.id for row in fleet.spark.table(fleet.name("orders")).sort("id").collect()] == [
        *range(5)
    ]
    again = fleet.run(ALL + override)
    assert set(statuses(again).values()) == {"not due"}


@pytest.mark.one_platform
def test_a_dry_run_leaves_the_summary_of_a_run_that_was_killed(fleet: Fleet):
    summary = fleet.directory / "summary.json"
    summary.write_text("of a run that was killed")
    config = ALL.replace("concurrency = 2", f'concurrency = 2, summary = "{summary}"')
    fleet.run(config, "--dry-run")
    assert summary.read_text() == "of a run that was killed"
    fleet.run(config, "--dry-run", "--summary", str(summary))
    assert json.loads(summary.read_text())["dryRun"] is True


@pytest.mark.one_platform
def test_a_dry_run_says_so_and_changes_nothing(fleet: Fleet):
    dry = fleet.run(ALL, "--dry-run")
    assert (dry["dryRun"], set(statuses(dry).values())) == (True, {"planned"})
    assert {name: fleet.files(name) for name in ("orders", "x")} == {"orders": 5, "x": 4}
    real = fleet.run(ALL)
    for key in ("filesTakenAway", "bytesRewritten"):
        assert dry["totals"][key] == real["totals"][key] > 0


def test_a_damaged_table_keeps_no_other(fleet: Fleet):
    (fleet.lake / "y/_delta_log" / f"{1:020}.json").write_text("{")
    gone = '[[overrides]]\nmatch = "{schema}.events_1"\noptions = {{ targetSize = 1 }}\n'
    summary = fleet.run(ALL.replace('"{lake}/*"', '"{lake}/*", "no.such"') + gone, code=1)
    failed = [fleet.path("y"), "no.such", fleet.name("events_1")]
    for name, status in statuses(summary).items():
        assert status == ("failed" if name in failed else "done"), name
    assert summary["totals"]["failed"] == 3
    errors = {table["table"]: table["error"] for table in summary["tables"]}
    assert errors[fleet.name("events_1")]["condition"] == "DELTA_UPKEEP.UNKNOWN_OPTION"
    assert "Use one of: targetFileSize" in errors[fleet.name("events_1")]["message"]
    assert f"{1:020}.json" in errors[fleet.path("y")]["message"]


def test_a_pattern_that_matches_nothing_fails_the_run_unless_it_may(fleet: Fleet):
    nothing = 'tables.include = "{lake}/none*"\n'
    summary = fleet.run(nothing, code=1)
    assert [table["reason"] for table in summary["tables"]] == ["NO_TABLE_MATCHES"]
    summary = fleet.run(nothing + "tables.allow_empty = true\n")
    assert (summary["tables"], summary["unmatched"]) == ([], [f"{fleet.lake}/none*"])


def test_a_session_without_a_metastore_says_so_when_asked_for_names(fleet: Fleet):
    summary = fleet.run('tables = {{ include = ["no_such.*", "{schema}.none"] }}', code=1)
    for table in summary["tables"]:
        assert table["reason"] == "NO_METASTORE"
        assert "spark.sql.catalogImplementation = in-memory" in table["error"]["message"]
    for name in ("no_such.t", f"{fleet.schema}.none"):
        assert main(["health", name]) == 1
        assert "the session has no metastore" in fleet.capsys.readouterr().err
    assert main(["health", f"delta.`{fleet.lake}/none`"]) == 1
    assert "is not a Delta table" in fleet.capsys.readouterr().err


def test_a_thread_that_no_signal_reaches_can_run_a_pass(fleet: Fleet):
    codes = []
    file = fleet.directory / "thread.toml"
    file.write_text(f'tables.include = "{fleet.lake}/*"')
    arguments = ["run", "--config", str(file)]
    thread = threading.Thread(target=lambda: codes.append(main(arguments)), daemon=True)
    thread.start()
    thread.join(WAIT_SECONDS)
    assert (codes, fleet.files("x")) == ([0], 1)


@pytest.mark.one_platform
def test_the_byte_budget_leaves_tables_and_a_resumed_run_does_them(fleet: Fleet):
    # Of 16 files, which are of one size, the budget is 8.
    total = fleet.run(ALL, "--dry-run")["totals"]["bytesRewritten"]
    file = fleet.directory / "summary.json"
    run = f'byte_budget = {total // 2}, summary = "{file}"'
    first = fleet.run(ALL.replace("concurrency = 2", run))
    assert first["totals"]["bytesRewritten"] == total // 2
    left = {t["table"]: t["status"] for t in first["tables"] if t["reason"] == "byte budget"}
    assert left == {
        fleet.path("x"): "done",
        fleet.name("events_1"): "skipped",
        fleet.name("events_2"): "skipped",
        fleet.path("y"): "skipped",
    }
    assert json.loads(file.read_text()) == first
    kept = fleet.directory / "first.json"
    file.rename(kept)
    second = fleet.run(ALL, "--resume", str(kept))
    earlier = {t["table"] for t in second["tables"] if t["earlier"]}
    assert earlier == {fleet.name("orders")}
    assert statuses(second) == dict.fromkeys(statuses(first), "done")
    assert [fleet.files(name) for name in ("orders", "events_1", "events_2", "x", "y")] == [1] * 5


def test_a_signal_cancels_what_runs_and_the_summary_says_so(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    maintain, context = UpkeepTable.maintain, fleet.spark.sparkContext
    timer = threading.Timer(1, os.kill, [os.getpid(), signal.SIGTERM])
    # If the pass does not cancel its job, the test fails and does not wait for ever.
    watchdog = threading.Timer(WAIT_SECONDS, context.cancelAllJobs)

    def work_beside_it() -> None:
        context.setJobGroup("neighbour", "a job that is not of the pass")
        with pytest.raises(Exception, match="cancelled job group neighbour"):
            fleet.spark.range(10**15).selectExpr("max(id)").collect()

    neighbour = threading.Thread(target=work_beside_it, daemon=True)

    def endless(self: UpkeepTable, *, dryRun: bool, options: dict[str, str]) -> DataFrame:
        if dryRun:
            return maintain(self, dryRun=True, options=options)
        if not timer.is_alive():
            timer.start()
            neighbour.start()
        return fleet.spark.range(10**15).selectExpr("max(id)")

    monkeypatch.setattr(UpkeepTable, "maintain", endless)
    before = signal.getsignal(signal.SIGTERM)
    watchdog.start()
    try:
        summary = fleet.run(ALL.replace("concurrency = 2", ""), code=143)
    finally:
        watchdog.cancel()
        # Its tasks would keep those of all other tests from running.
        end_group("neighbour", neighbour, fleet.spark)
    assert not neighbour.is_alive()
    assert signal.getsignal(signal.SIGTERM) == before
    assert summary["state"] == "interrupted"
    assert [(table["status"], table["reason"]) for table in summary["tables"]] == [
        ("failed", "interrupted"),
        *[("skipped", "interrupted")] * 4,
    ]
    error = summary["tables"][0]["error"]
    assert re.search("cancelled job tags? .*delta-upkeep-", error["message"])
    # Spark 3.5 has no condition for it.
    assert error["condition"] in ("SPARK_JOB_CANCELLED", "org.apache.spark.SparkException")


def end_group(group: str, thread: threading.Thread, spark: SparkSession) -> None:
    """Cancel a job group until its thread ends: a thread may start its job late."""
    deadline = time.monotonic() + WAIT_SECONDS
    while thread.is_alive() and time.monotonic() < deadline:
        spark.sparkContext.cancelJobGroup(group)
        thread.join(0.2)


def test_files_may_be_in_hadoops_file_systems(fleet: Fleet):
    summary = f"fault:{fleet.directory}/out/summary.json"
    config = f'tables.include = "{fleet.lake}/*"\nrun = {{ summary = "{summary}" }}\n'
    file = fleet.directory / "upkeep.toml"
    file.write_text(config)
    started = ["run", "--config", f"fault:{file}", "--json"]
    assert main(started) == 0
    printed = json.loads(fleet.capsys.readouterr().out)
    out = fleet.directory / "out"
    assert json.loads((out / "summary.json").read_text()) == printed
    assert {path.name for path in out.iterdir()} <= {"summary.json", ".summary.json.crc"}
    assert main([*started, "--resume", summary]) == 0
    resumed = json.loads(fleet.capsys.readouterr().out)
    assert {table["earlier"] for table in resumed["tables"]} == {True}
    for missing in (["--config", f"fault:{file}.none"], [*started[1:], "--resume", "fault:/no"]):
        assert main(["run", *missing]) == 2
        assert "cannot be read: No such file" in fleet.capsys.readouterr().err


def test_a_file_replaces_another_where_hadoop_can_rename(fleet: Fleet):
    # Its scheme is not local for us; Hadoop takes it for its own local one.
    files, place = Files(fleet.spark), Uri(f"file:{fleet.directory}/out/x.json")
    for text in ("first", "second, in UTF-8: ü"):
        files.write(place, text)
        assert files.read(place) == text
    assert [entry.name for entry in files.entries(place.parent)] == ["x.json"]
    files.delete(place)
    files.delete(place)
    assert files.entries(place.parent) == files.entries(place) == []


def test_a_remote_configuration_comes_too_late_for_settings(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    file = fleet.directory / "upkeep.toml"
    file.write_text(f'tables.include = "{fleet.lake}/*"\n[spark]\n"spark.driver.memory" = "4g"\n')
    monkeypatch.setattr("delta_upkeep.cli.run.is_set_up", lambda: False)
    assert main(["run", "--config", f"fault:{file}"]) == 2
    assert "Give them with --conf" in fleet.capsys.readouterr().err


def test_commands_for_one_table(fleet: Fleet):
    name, capsys = fleet.name("orders"), fleet.capsys
    page = fleet.directory / "health.html"
    assert main(["health", name, "--json", "--html", str(page)]) == 0
    checks = {check["check"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["smallFiles"]["value"] == 5
    assert "Small files" in page.read_text()

    def printed(*arguments: str) -> Any:
        assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert printed("optimize", name, "--dry-run")[0]["metrics"]["numFilesRemoved"] == 5
    assert fleet.files("orders") == 5
    some = printed("optimize", name, "--option", "maxFiles=2", "--option", "order=oldest")
    assert some[0]["metrics"]["numFilesRemoved"] == 2
    assert fleet.files("orders") == 4
    assert printed("checkpoint", str(fleet.lake / "x"), "--option", "partSize=2")[0]["parts"] == 3
    assert printed("cleanup", f"delta.`{fleet.lake / 'x'}`", "--dry-run")[-1]["filesDeleted"] == 0
    assert printed("maintain", name, "--dry-run")[0]["status"] == "planned"
    assert main(["maintain", name]) == 0
    assert re.search("^step +optimize$", capsys.readouterr().out, re.MULTILINE)
    assert fleet.files("orders") == 1


def test_what_fails_says_so_and_has_its_code(fleet: Fleet):
    name, capsys = fleet.name("orders"), fleet.capsys
    assert main(["optimize", name, "--option", "x=1"]) == 1
    assert "OPTIMIZE has no option 'x'" in capsys.readouterr().err
    assert main(["cleanup", name, "--retain", "1"]) == 1
    assert "DELTA_UPKEEP.RETENTION_TOO_SHORT" in capsys.readouterr().err
    assert main(["run", "--config", str(fleet.directory / "none.toml")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    nowhere = fleet.directory / "nowhere/summary.json"
    file = fleet.directory / "upkeep.toml"
    file.write_text('tables.include = ["a.*"]')
    assert main(["run", "--config", str(file), "--summary", str(nowhere)]) == 2
    assert "Create it, or name another file" in capsys.readouterr().err
    for wrong in (["optimize", name, "--option", "x"], ["polish", name], []):
        with pytest.raises(SystemExit) as exit_code:
            main(wrong)
        assert exit_code.value.code == 2


def test_a_program_runs_it_in_a_thread_of_its_own(fleet: Fleet):
    values = {"tables": {"include": [f"{fleet.lake}/*"]}}
    with ThreadPoolExecutor(1) as pool:
        planned = pool.submit(run_fleet, fleet.spark, values, dry_run=True).result()
        assert {table.status for table in planned.tables} == {"planned"}
        assert fleet.files("x") == 4
        file = fleet.directory / "upkeep.toml"
        file.write_text(f'tables.include = ["{fleet.lake}/*"]')
        result = pool.submit(run_fleet, fleet.spark, file).result()
    assert [(table.table, table.status) for table in result.tables] == [
        (fleet.path("x"), "done"),
        (fleet.path("y"), "done"),
    ]
    assert (fleet.files("x"), result.exit_code, result.state) == (1, 0, "finished")
    with pytest.raises(ConfigError, match="unknown key table"):
        run_fleet(fleet.spark, {"table": {}})

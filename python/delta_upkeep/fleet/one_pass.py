"""One pass over a fleet in a session: from the configuration to the summary."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.discovery import Discovery, discover
from delta_upkeep.fleet.errors import error_of
from delta_upkeep.fleet.files import Files, Place, place_of
from delta_upkeep.fleet.history import DeltaHistory
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.lines import Lines
from delta_upkeep.fleet.listings import SparkListings
from delta_upkeep.fleet.maintenance import SparkMaintainer
from delta_upkeep.fleet.recorder import Recorder, new_run_id
from delta_upkeep.fleet.runner import FleetRunner, now
from delta_upkeep.fleet.selection import choose, unmatched
from delta_upkeep.fleet.summary import FleetResult, TableResult


def run_fleet(
    spark: SparkSession,
    config: FleetConfig | Mapping[str, Any] | str | Path,
    *,
    dry_run: bool = False,
    earlier: tuple[TableResult, ...] = (),
    resume: bool = False,
    stop: Event | None = None,
) -> FleetResult:
    """Find the tables of a configuration and maintain them, from any thread.

    A table that fails is a result, and not an exception.

    Args:
        spark: The session.
        config: The tables, the budgets and the options: as an object, as the values of a TOML
            file, or as the path or the URI of one. Settings of ``[spark]`` are for the command
            line, which starts the session.
        dry_run: Whether to plan only. No other pass sees it, and it has no rows in the history.
        earlier: Results of the run that this one resumes. Their tables are left alone.
        resume: Whether to take the earlier results from the history: those of the last pass, if
            it did not complete.
        stop: Ends the pass when it is set.

    Returns:
        The result of each table. It is also written to ``run.summary``, if that names a file, and
        appended to the history, if ``run.history`` names a table.

    Raises:
        ConfigError: The configuration cannot be read, or has an invalid key or value.
    """
    if not isinstance(resume, bool):
        raise ConfigError("resume is true or false. Give results of a summary as `earlier`.")
    files = Files(spark)
    config = _read(config, files)
    if resume:
        check_history(config)
    history = _history(spark, config, dry_run)
    found = discover(config.include, SparkListings(spark), allow_empty=config.allow_empty)
    chosen = choose(found.tables, config, history.found() if history is not None else None)
    before = _beginning(found, config, dry_run)
    lines = Lines(before.run_id)
    with ExitStack() as ends:
        recorder: Recorder | None = None
        claimed: Mapping[str, TableResult] = {}
        if history is not None and not dry_run:
            tables = [each.table for each in chosen]
            recorder = Recorder(files, history, before, tables, config.lease, lines.say, stop)
            ends.enter_context(recorder)
            claimed = recorder.claim()
            recorder.record_lost()
        if resume:
            before, complete = _resumed(before, history, lines)
            labels = {result.table for result in earlier}
            earlier = (*earlier, *(each for each in complete if each.table not in labels))
        known = {result.table for result in earlier}
        left = [result for result in claimed.values() if result.table not in known]
        before = replace(before, tables=(*earlier, *found.failures, *left))
        if recorder is not None:
            recorder.begin(before)
        lines.begin(before, found.failures)
        file = _SummaryFile(config.summary, files, lines) if config.summary else None

        def save(summary: FleetResult) -> None:
            if recorder is not None:
                recorder.save(summary)
            if file is not None:
                file.write(summary)

        runner = FleetRunner(
            SparkMaintainer(spark),
            config,
            dry_run=dry_run,
            stop=stop,
            save=save,
            tell=lines.tell,
            hold=recorder.hold if recorder else lambda: None,
            failures=history.failures() if history else {},
        )
        todo = [
            each
            for each in chosen
            if each.table.label not in known and each.table.key not in claimed
        ]
        summary = runner.run(todo, before)
    lines.end(summary)
    return summary


class _SummaryFile:
    """The file of ``run.summary``, which each result writes again."""

    def __init__(self, place: Place, files: Files, lines: Lines) -> None:
        self._place = place
        self._files = files
        self._lines = lines
        self._written = False

    def write(self, summary: FleetResult) -> None:
        """Write it. Only the first and the last time must succeed."""
        try:
            summary.write(self._place, self._files)
            self._written = True
        except OSError as e:
            # At first, that of an earlier run must not remain.
            if not self._written:
                raise ConfigError(
                    f"The summary cannot be written to {self._place}: {e}. Name another file in "
                    "run.summary."
                ) from e
            if summary.state != "running":
                raise
            self._lines.say(f"the summary cannot be written: {e}")


def check_history(config: FleetConfig) -> None:
    """Check that the last pass can be found.

    Raises:
        ConfigError: There is no history.
    """
    if config.history is None:
        raise ConfigError(
            "The last pass cannot be resumed, because no history names it. Set run.history, or "
            "name the summary of a pass: --resume FILE."
        )


def _read(config: FleetConfig | Mapping[str, Any] | str | Path, files: Files) -> FleetConfig:
    if isinstance(config, FleetConfig):
        return config
    if isinstance(config, Mapping):
        return FleetConfig.of(config)
    return FleetConfig.load(place_of(str(config)), files)


def _history(spark: SparkSession, config: FleetConfig, dry_run: bool) -> DeltaHistory | None:
    """Open the history. A dry run does not make it."""
    if config.history is None:
        return None
    history = DeltaHistory(spark, config.history)
    try:
        if not dry_run:
            history.create()
        return history if not dry_run or history.exists() else None
    except (PySparkException, Py4JError) as e:
        raise ConfigError(
            f"The history '{config.history}' cannot be opened or made: {error_of(e).message} Name "
            "another table, or another path, in run.history."
        ) from e


def _beginning(found: Discovery, config: FleetConfig, dry_run: bool) -> FleetResult:
    return FleetResult(
        state="running",
        dry_run=dry_run,
        started=now(),
        tables=found.failures,
        not_delta=found.not_delta,
        unmatched=(*found.unmatched, *unmatched(found.tables, config)),
        run_id=new_run_id(),
    )


def _resumed(
    before: FleetResult, history: DeltaHistory | None, lines: Lines
) -> tuple[FleetResult, tuple[TableResult, ...]]:
    last = history.last_pass() if history is not None else None
    if last is None:
        lines.say("there is nothing to resume: no pass in the history was cut short")
        return before, ()
    lines.say(f"resumes pass {last.run_id}")
    return replace(before, resumes=last.run_id), last.complete

"""One pass over a fleet in a session: from the configuration to the summary."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from pyspark.sql import SparkSession

from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.discovery import discover
from delta_upkeep.fleet.files import Files, place_of
from delta_upkeep.fleet.listings import SparkListings
from delta_upkeep.fleet.maintenance import SparkMaintainer
from delta_upkeep.fleet.runner import FleetRunner, now
from delta_upkeep.fleet.selection import choose, unmatched
from delta_upkeep.fleet.summary import FleetResult, TableResult


def run_fleet(
    spark: SparkSession,
    config: FleetConfig | Mapping[str, Any] | str | Path,
    *,
    dry_run: bool = False,
    earlier: tuple[TableResult, ...] = (),
    stop: Event | None = None,
) -> FleetResult:
    """Find the tables of a configuration and maintain them, from any thread.

    A table that fails is a result, and not an exception.

    Args:
        spark: The session.
        config: The tables, the budgets and the options: as an object, as the values of a TOML
            file, or as the path or the URI of one. Settings of ``[spark]`` are for the command
            line, which starts the session.
        dry_run: Whether to plan only.
        earlier: Results of the run that this one resumes. Their tables are left alone.
        stop: Ends the pass when it is set.

    Returns:
        The result of each table. It is also written to ``run.summary``, if that names a file.

    Raises:
        ConfigError: The configuration cannot be read, or has an invalid key or value.
    """
    files = Files(spark)
    config = _read(config, files)

    def save(summary: FleetResult) -> None:
        if config.summary is not None:
            summary.write(config.summary, files)

    runner = FleetRunner(
        SparkMaintainer(spark), config, dry_run=dry_run, stop=stop, save=save, tell=_tell
    )
    found = discover(config.include, SparkListings(spark), allow_empty=config.allow_empty)
    chosen = choose(found.tables, config)
    known = {result.table for result in earlier}
    before = FleetResult(
        state="running",
        dry_run=dry_run,
        started=now(),
        tables=(*earlier, *found.failures),
        not_delta=found.not_delta,
        unmatched=(*found.unmatched, *unmatched(found.tables, config)),
    )
    for failure in found.failures:
        _tell(failure)
    failed = {failure.table for failure in found.failures}
    for pattern in (each for each in before.unmatched if each not in failed):
        _say(f"no table matches {pattern}")
    summary = runner.run([each for each in chosen if each.table.label not in known], before)
    _say(_totals(summary))
    return summary


def _read(config: FleetConfig | Mapping[str, Any] | str | Path, files: Files) -> FleetConfig:
    if isinstance(config, FleetConfig):
        return config
    if isinstance(config, Mapping):
        return FleetConfig.of(config)
    return FleetConfig.load(place_of(str(config)), files)


def _tell(result: TableResult) -> None:
    detail = result.error.message if result.error else result.reason
    _say(f"{result.status:<8} {result.table}: {detail}")


def _totals(summary: FleetResult) -> str:
    counts = summary.to_dict()["totals"]
    return ", ".join(f"{value} {name}" for name, value in counts.items() if value) or "no tables"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

"""``delta-upkeep run``: from the configuration to the summary."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import FrameType

from pyspark.sql import SparkSession

from delta_upkeep.cli.session import is_set_up, session
from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.discovery import discover
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.listings import SparkListings
from delta_upkeep.fleet.maintenance import SparkMaintainer
from delta_upkeep.fleet.runner import FleetRunner, now
from delta_upkeep.fleet.selection import choose, unmatched
from delta_upkeep.fleet.summary import Summary, TableResult, complete_in

_FIRST_EXIT_CODE_OF_SIGNALS = 128


def run(arguments: Namespace) -> int:
    """Run one pass, and return its exit code."""
    config = FleetConfig.load(arguments.config)
    config = replace(config, summary=arguments.summary or config.summary)
    earlier = complete_in(arguments.resume) if arguments.resume else ()
    _check_place(config.summary)
    if config.spark and is_set_up():
        _say("[spark] is left aside: the session is used as it was set up.")
    with session(config.spark) as spark, _signals() as interrupt:
        summary = run_fleet(
            spark, config, dry_run=arguments.dry_run, earlier=earlier, stop=interrupt.stop
        )
    if arguments.json:
        print(summary.to_json(), end="")
    return interrupt.exit_code or summary.exit_code


def run_fleet(
    spark: SparkSession,
    config: FleetConfig,
    *,
    dry_run: bool = False,
    earlier: tuple[TableResult, ...] = (),
    stop: Event | None = None,
) -> Summary:
    """Find the tables of a configuration and maintain them, in a session that is there.

    Args:
        spark: The session.
        config: What to do.
        dry_run: Whether to plan only.
        earlier: Results of tables that are left alone, from a run that this one resumes.
        stop: Ends the pass when it is set.

    Returns:
        The summary, which is also in ``config.summary`` if that is a file.
    """

    def save(summary: Summary) -> None:
        if config.summary is not None:
            summary.write(config.summary)

    runner = FleetRunner(
        SparkMaintainer(spark), config, dry_run=dry_run, stop=stop, save=save, tell=_tell
    )
    found = discover(config.include, SparkListings(spark))
    chosen = choose(found.tables, config)
    known = {result.table for result in earlier}
    before = Summary(
        state="running",
        dry_run=dry_run,
        started=now(),
        tables=(*earlier, *found.failures),
        not_delta=found.not_delta,
        unmatched=(*found.unmatched, *unmatched(found.tables, config)),
    )
    for failure in found.failures:
        _tell(failure)
    for pattern in before.unmatched:
        _say(f"no table matches {pattern}")
    summary = runner.run([each for each in chosen if each.table.label not in known], before)
    _say(_totals(summary))
    return summary


class _Interrupt:
    """What a signal leaves behind."""

    def __init__(self) -> None:
        self.stop = Event()
        self.exit_code = 0

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Ask the pass to end; the same signal once more is left to its usual effect."""
        signal.signal(number, signal.SIG_DFL)
        self.exit_code = _FIRST_EXIT_CODE_OF_SIGNALS + number
        self.stop.set()


@contextmanager
def _signals() -> Iterator[_Interrupt]:
    interrupt = _Interrupt()
    numbers = (signal.SIGINT, signal.SIGTERM)
    # Here, because Spark puts its own in place when it starts.
    before = {number: signal.signal(number, interrupt.receive) for number in numbers}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _check_place(summary: Path | None) -> None:
    if summary is not None and not summary.parent.is_dir():
        raise ConfigError(
            f"The summary cannot be written to {summary}: there is no directory "
            f"{summary.parent}. Make it, or name another place in run.summary."
        )


def _tell(result: TableResult) -> None:
    detail = result.error.message if result.error else result.reason
    _say(f"{result.status:<8} {result.table}: {detail}")


def _totals(summary: Summary) -> str:
    counts = summary.to_dict()["totals"]
    return ", ".join(f"{value} {name}" for name, value in counts.items() if value) or "no tables"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

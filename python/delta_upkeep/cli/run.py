"""``delta-upkeep run``: from the configuration to the exit code."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, current_thread, main_thread
from types import FrameType

from delta_upkeep.cli.properties import settings_of
from delta_upkeep.cli.session import is_set_up, session
from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.files import Files, Place, Uri
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.one_pass import check_history, run_fleet
from delta_upkeep.fleet.summary import complete_in

# What --resume means without a file.
LAST_PASS = object()
_FIRST_EXIT_CODE_OF_SIGNALS = 128


def run(arguments: Namespace) -> int:
    """Run one pass and return its exit code."""
    # What is wrong with local files is told before Spark starts.
    local = None if isinstance(arguments.config, Uri) else _load(arguments, Files())
    settings = {**(local.spark if local else {}), **settings_of(arguments)}
    starts = not is_set_up()
    with session(settings) as spark, _signals() as interrupt:
        files = Files(spark)
        config = local or _load(arguments, files)
        if local is None and config.spark and starts:
            raise _settings_too_late(arguments.config)
        of_history = arguments.resume is LAST_PASS
        by_file = arguments.resume is not None and not of_history
        summary = run_fleet(
            spark,
            config,
            dry_run=arguments.dry_run,
            earlier=complete_in(arguments.resume, files) if by_file else (),
            resume=of_history,
            stop=interrupt.stop,
        )
    if arguments.json:
        print(summary.to_json(), end="")
    return interrupt.exit_code or summary.exit_code


def _load(arguments: Namespace, files: Files) -> FleetConfig:
    config = FleetConfig.load(arguments.config, files)
    # A dry run keeps the summary of a killed run, so that the next run can resume it.
    configured = None if arguments.dry_run else config.summary
    config = replace(config, summary=arguments.summary or configured)
    _check_place(config.summary)
    if arguments.resume is LAST_PASS:
        check_history(config)
    elif isinstance(arguments.resume, Path):
        complete_in(arguments.resume)
    return config


def _settings_too_late(config: Place) -> ConfigError:
    return ConfigError(
        f"The configuration {config} has settings of Spark in [spark], but it can only be read in "
        "a session that has started. Give them with --conf or --properties-file, or use a local "
        "configuration."
    )


class _Interrupt:
    """The signal that was received, if any."""

    def __init__(self) -> None:
        self.stop = Event()
        self.exit_code = 0

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Ask the pass to end; a second signal of this kind has its default effect."""
        signal.signal(number, signal.SIG_DFL)
        self.exit_code = _FIRST_EXIT_CODE_OF_SIGNALS + number
        self.stop.set()


@contextmanager
def _signals() -> Iterator[_Interrupt]:
    interrupt = _Interrupt()
    # In Python, only the main thread receives signals.
    if current_thread() is not main_thread():
        yield interrupt
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    # Spark installs its own handlers when it starts, so ours come after it.
    before = {number: signal.signal(number, interrupt.receive) for number in numbers}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _check_place(summary: Place | None) -> None:
    if isinstance(summary, Path) and not summary.parent.is_dir():
        raise ConfigError(
            f"The summary cannot be written to {summary}, because the directory {summary.parent} "
            "does not exist. Create it, or name another file in run.summary."
        )

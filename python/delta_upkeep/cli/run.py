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
from delta_upkeep.cli.session import session
from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.one_pass import run_fleet
from delta_upkeep.fleet.summary import complete_in

_FIRST_EXIT_CODE_OF_SIGNALS = 128


def run(arguments: Namespace) -> int:
    """Run one pass and return its exit code."""
    config = FleetConfig.load(arguments.config)
    # A dry run keeps the summary of a killed run, so that the next run can resume it.
    configured = None if arguments.dry_run else config.summary
    config = replace(config, summary=arguments.summary or configured)
    earlier = complete_in(arguments.resume) if arguments.resume else ()
    _check_place(config.summary)
    with session({**config.spark, **settings_of(arguments)}) as spark, _signals() as interrupt:
        summary = run_fleet(
            spark, config, dry_run=arguments.dry_run, earlier=earlier, stop=interrupt.stop
        )
    if arguments.json:
        print(summary.to_json(), end="")
    return interrupt.exit_code or summary.exit_code


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


def _check_place(summary: Path | None) -> None:
    if summary is not None and not summary.parent.is_dir():
        raise ConfigError(
            f"The summary cannot be written to {summary}, because the directory {summary.parent} "
            "does not exist. Create it, or name another file in run.summary."
        )

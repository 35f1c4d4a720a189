"""Runs a pass in a process that is killed as soon as it has maintained a table."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from delta_upkeep.cli import main
from delta_upkeep.fleet.maintenance import SparkMaintainer

maintain = SparkMaintainer.maintain


def maintain_one(self: SparkMaintainer, chosen: Any, max_bytes: int | None, dry_run: bool) -> Any:
    work = maintain(self, chosen, max_bytes, dry_run)
    if not dry_run:
        # Its result is in the summary before the next table begins.
        SparkMaintainer.maintain = killed
    return work


def killed(self: SparkMaintainer, chosen: Any, max_bytes: int | None, dry_run: bool) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    SparkMaintainer.maintain = maintain_one
    sys.exit(main(["run", "--config", sys.argv[1]]))

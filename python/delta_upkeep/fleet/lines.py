"""The lines that a pass prints."""

from __future__ import annotations

import sys

from delta_upkeep.fleet.runner import now
from delta_upkeep.fleet.summary import FleetResult, TableResult


class Lines:
    """Prints what happens on standard error, each line with the time and the id of the pass."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def say(self, text: str) -> None:
        """Print a line."""
        print(f"{now()} {self._run_id} {text}", file=sys.stderr, flush=True)

    def begin(self, before: FleetResult, failures: tuple[TableResult, ...]) -> None:
        """Tell what was not found, or cannot be maintained."""
        for failure in failures:
            self.tell(failure)
        failed = {failure.table for failure in failures}
        for pattern in (each for each in before.unmatched if each not in failed):
            self.say(f"no table matches {pattern}")

    def tell(self, result: TableResult) -> None:
        """Tell what became of a table."""
        detail = result.error.message if result.error else result.reason
        self.say(f"{result.status:<8} {result.table}: {detail}")
        for warning in result.warnings:
            self.say(f"warning  {result.table}: {warning}")

    def end(self, summary: FleetResult) -> None:
        """Tell the totals."""
        totals = summary.to_dict()["totals"]
        counts = ", ".join(f"{value} {name}" for name, value in totals.items() if value)
        self.say(counts or "no tables")

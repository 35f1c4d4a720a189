"""What a table of the fleet needs, and which one comes first: values in, values out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from delta_upkeep.fleet.selection import Chosen
from delta_upkeep.fleet.summary import Step


@dataclass(frozen=True)
class Size:
    """A table's data files and their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True)
class Work:
    """What MAINTAIN did, or in a dry run would do.

    Attributes:
        steps: Each step with its status.
        files_removed: Data files that OPTIMIZE replaced.
        files_added: Those that it wrote in their place.
        bytes_rewritten: Of the files that it replaced.
    """

    steps: tuple[Step, ...]
    files_removed: int = 0
    files_added: int = 0
    bytes_rewritten: int = 0

    def in_status(self, status: str) -> str:
        """Say which steps are in a status, and why; empty where none is."""
        found = (step for step in self.steps if step.status == status)
        return "; ".join(f"{step.step}: {step.reason}" for step in found)


@dataclass(frozen=True)
class Planned:
    """A table with what is due in it."""

    chosen: Chosen
    size: Size
    work: Work

    @property
    def is_due(self) -> bool:
        """Whether some step is."""
        return bool(self.work.in_status("planned"))

    @property
    def gain(self) -> float:
        """Files taken away for each byte rewritten: the order of OPTIMIZE itself.

        Endless where a checkpoint or a cleanup is due and no byte is rewritten for it. Of a plan
        that makes 1 file of 5 with 1000 bytes, 0.004.
        """
        if self.work.bytes_rewritten == 0:
            return math.inf
        return (self.work.files_removed - self.work.files_added) / self.work.bytes_rewritten


def most_gain_first(tables: list[Planned]) -> list[Planned]:
    """Order tables by their gain, and by name where it is equal."""
    return sorted(tables, key=lambda each: (-each.gain, each.chosen.table.label))

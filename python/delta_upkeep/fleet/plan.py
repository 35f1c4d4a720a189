"""What is due in the tables of a fleet, and which table comes first. All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from delta_upkeep.fleet.selection import Chosen
from delta_upkeep.fleet.summary import Step


@dataclass(frozen=True)
class Size:
    """The number of a table's data files, and their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True)
class Facts:
    """What is known of a table before it is planned: its size, and its properties."""

    size: Size
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Work:
    """What MAINTAIN did, or would do in a dry run.

    Attributes:
        steps: Each step with its status.
        files_removed: The number of data files that OPTIMIZE replaced.
        files_added: The number of files that it wrote instead.
        bytes_rewritten: The size of the replaced files.
        vectors_removed: The number of their deletion vectors.
    """

    steps: tuple[Step, ...]
    files_removed: int = 0
    files_added: int = 0
    bytes_rewritten: int = 0
    vectors_removed: int = 0

    @property
    def refusal(self) -> str | None:
        """Why no step may run, such as a switch or a catalog that manages the table; or None."""
        if not self.steps or any(step.status != "skipped" for step in self.steps):
            return None
        return "; ".join(dict.fromkeys(step.reason for step in self.steps))

    def in_status(self, status: str) -> str:
        """Name the steps that have a status, and why; empty if there are none."""
        found = (step for step in self.steps if step.status == status)
        return "; ".join(f"{step.step}: {step.reason}" for step in found)


@dataclass(frozen=True)
class Planned:
    """A table and what is due in it, and what is wrong with its properties."""

    chosen: Chosen
    size: Size
    work: Work
    warnings: tuple[str, ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether at least one step is due."""
        return bool(self.work.in_status("planned"))

    @property
    def gain(self) -> float:
        """The files and deletion vectors that readers no longer open, per rewritten byte.

        OPTIMIZE sorts bins by the same rule. If 5 files of 1000 bytes in total become 1, the gain
        is 0.004. If only a checkpoint or a cleanup is due, no byte is rewritten and the gain is
        infinite.
        """
        if self.work.bytes_rewritten == 0:
            return math.inf
        work = self.work
        gone = work.files_removed - work.files_added + work.vectors_removed
        return gone / work.bytes_rewritten


def most_gain_first(tables: list[Planned]) -> list[Planned]:
    """Sort tables by priority, then by gain, and by name if both are equal."""
    return sorted(
        tables,
        key=lambda each: (-(each.chosen.policy.priority or 0), -each.gain, each.chosen.table.label),
    )

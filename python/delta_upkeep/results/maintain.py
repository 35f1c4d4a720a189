"""The result of MAINTAIN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame

from delta_upkeep.results.checkpoint import CheckpointResult
from delta_upkeep.results.cleanup import CleanupResult
from delta_upkeep.results.optimize import OptimizeResult
from delta_upkeep.results.rows import Values, known, values_of
from delta_upkeep.results.vacuum import VacuumResult

R = TypeVar("R")


@dataclass(frozen=True)
class MaintainStep:
    """A step of ``maintain()``.

    Attributes:
        path: The root directory of the table.
        step: ``optimize``, ``checkpoint``, ``vacuum`` or ``cleanup``.
        due: Whether there was anything to do.
        dryRun: Whether it is only a plan.
        status: ``done``; ``planned`` in a dry run; ``not due``; ``skipped`` if it may not be done.
        reason: Why it has this status, or what was done.
        optimize: The result of this step; None if it is another step, or if nothing was done.
        checkpoint: The result of this step; None if it is another step, or if nothing was done.
        cleanup: The result of this step; None if it is another step, or if nothing was done.
        vacuum: The result of this step; None if it is another step, or if nothing was done.
    """

    path: str
    step: str
    due: bool
    dryRun: bool
    status: str
    reason: str
    optimize: OptimizeResult | None
    checkpoint: CheckpointResult | None
    cleanup: CleanupResult | None
    vacuum: VacuumResult | None

    @classmethod
    def of_values(cls, values: Values) -> MaintainStep:
        """Read a row that is a dictionary.

        Returns:
            The step.
        """
        return cls(
            **known(
                cls,
                values,
                optimize=_optional(OptimizeResult.of_values, values["optimize"]),
                checkpoint=_optional(CheckpointResult.of_values, values["checkpoint"]),
                cleanup=_optional(CleanupResult.of_values, values["cleanup"]),
                vacuum=_optional(VacuumResult.of_values, values["vacuum"]),
            )
        )


@dataclass(frozen=True)
class MaintainResult:
    """The result of ``maintain()``.

    Attributes:
        steps: All steps, in the order in which they run.
    """

    steps: tuple[MaintainStep, ...]

    @classmethod
    def of(cls, rows: DataFrame) -> MaintainResult:
        """Read the rows of MAINTAIN.

        Returns:
            The result.
        """
        return cls(tuple(map(MaintainStep.of_values, values_of(rows))))

    def __getitem__(self, step: str) -> MaintainStep:
        """Return a step by its name, such as ``result["checkpoint"]``.

        Raises:
            KeyError: There is no such step.
        """
        return {each.step: each for each in self.steps}[step]


def _optional(read: Callable[[Values], R], values: Values | None) -> R | None:
    return None if values is None else read(values)

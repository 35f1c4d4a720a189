"""The result of ANALYZE."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from delta_upkeep.results.cleanup import FilesByReason
from delta_upkeep.results.rows import known, values_of


@dataclass(frozen=True)
class AnalyzeResult:
    """The result of ``analyze()``.

    Attributes:
        path: The root directory of the table.
        dryRun: Whether it is only a plan.
        version: The last version that was committed; None if no statistics changed.
        filesRead: Files that were read, or would be.
        bytesRead: Their size.
        filesUpdated: Files with new statistics; None in a dry run, which reads nothing.
        reasons: The files that were selected by verdict, ``read`` or ``keep``, and reason.
        message: What was read, or why nothing was.
    """

    path: str
    dryRun: bool
    version: int | None
    filesRead: int
    bytesRead: int
    filesUpdated: int | None
    reasons: tuple[FilesByReason, ...]
    message: str

    @classmethod
    def of(cls, rows: DataFrame) -> AnalyzeResult:
        """Read the row of ANALYZE.

        Returns:
            The result.
        """
        (values,) = values_of(rows)
        reasons = tuple(FilesByReason(**reason) for reason in values["reasons"])
        return cls(**known(cls, values, reasons=reasons))

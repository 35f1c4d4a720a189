"""The result of VACUUM."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame

from delta_upkeep.results.cleanup import FilesByReason
from delta_upkeep.results.rows import Values, known, values_of


@dataclass(frozen=True)
class UnneededFile:
    """A file or a directory that no version inside the retention names, in a dry run.

    Attributes:
        path: Its path.
        kind: ``file`` or ``directory``.
        verdict: ``delete`` or ``keep``.
        reason: Why.
        sizeInBytes: Its size.
        ageHours: Hours since it was last modified or, if ``mode`` is ``log``, since it was removed.
    """

    path: str
    kind: str
    verdict: str
    reason: str
    sizeInBytes: int
    ageHours: float


@dataclass(frozen=True)
class VacuumResult:
    """The result of ``vacuum()``.

    Attributes:
        path: The root directory of the table.
        dryRun: Whether it is only a plan.
        filesDeleted: Files and directories that were deleted, or would be, without those that
            somebody else deleted meanwhile.
        bytesDeleted: Their size.
        filesKept: Files that were found and are kept.
        reasons: All files by verdict and reason.
        mode: ``log`` or ``full``: where the files were found.
        cutoff: Older files may be deleted. It is in the time zone of this process, as
            ``DataFrame.collect`` returns it.
        oldestTimeTravelVersion: The oldest version in the log of which all files are kept; None if
            the log does not reach back to the cutoff.
        message: How the files were found, and what is deleted.
        files: Each file that no version inside the retention names, in a dry run; otherwise empty.
    """

    path: str
    dryRun: bool
    filesDeleted: int
    bytesDeleted: int
    filesKept: int
    reasons: tuple[FilesByReason, ...]
    mode: str
    cutoff: datetime
    oldestTimeTravelVersion: int | None
    message: str
    files: tuple[UnneededFile, ...] = ()

    @classmethod
    def of(cls, rows: DataFrame) -> VacuumResult:
        """Read the rows of VACUUM with options.

        Returns:
            The totals, with the files of a dry run.
        """
        *files, totals = values_of(rows)
        return cls.of_values(
            totals, tuple(UnneededFile(**known(UnneededFile, file)) for file in files)
        )

    @classmethod
    def of_values(cls, totals: Values, files: tuple[UnneededFile, ...] = ()) -> VacuumResult:
        """Read a row of totals that is a dictionary.

        Args:
            totals: The row.
            files: The files of a dry run.

        Returns:
            The totals, with the files.
        """
        reasons = tuple(FilesByReason(**reason) for reason in totals["reasons"])
        return cls(**known(cls, totals, reasons=reasons, files=files))

"""The result of CLEANUP LOG."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame

from delta_upkeep.results.rows import Values, known, values_of


@dataclass(frozen=True)
class LogFile:
    """A file of the log, in a dry run.

    Attributes:
        file: Its path below ``_delta_log``.
        kind: What it is, in the words of Delta's protocol.
        version: The version of the table that it belongs to; None if its name does not say.
        verdict: ``delete`` or ``keep``.
        reason: Why.
        sizeInBytes: Its size.
        ageHours: Hours since it was last modified.
    """

    file: str
    kind: str
    version: int | None
    verdict: str
    reason: str
    sizeInBytes: int
    ageHours: float


@dataclass(frozen=True)
class FilesByReason:
    """Files with one verdict for one reason.

    Attributes:
        verdict: ``delete`` or ``keep``.
        reason: Why.
        files: The number of files.
        bytes: Their size.
    """

    verdict: str
    reason: str
    files: int
    bytes: int


@dataclass(frozen=True)
class CleanupResult:
    """The result of ``cleanupLog()``, and of the step ``cleanup`` of ``maintain()``.

    Attributes:
        path: The root directory of the table.
        dryRun: Whether it is only a plan.
        filesDeleted: Files that were deleted, or would be, without those that somebody else
            deleted meanwhile.
        bytesDeleted: Their size.
        filesKept: Files that stay in the log.
        bytesKept: Their size.
        reasons: All files by verdict and reason.
        cutoff: Older files may be deleted, if every newer version stays readable. It is in the time
            zone of this process, as ``DataFrame.collect`` returns it.
        cutoffVersion: The newest version that is not newer than the cutoff; None if all are newer.
        oldestReadableVersion: The oldest version that the log can read afterwards; None if there is
            none.
        oldestTimeTravelVersion: The oldest version that is also inside
            ``delta.deletedFileRetentionDuration``; None if there is none.
        message: What is deleted and why, or why nothing is deleted.
        files: Each file of the log, in a dry run of ``cleanupLog()``; otherwise empty.
    """

    path: str
    dryRun: bool
    filesDeleted: int
    bytesDeleted: int
    filesKept: int
    bytesKept: int
    reasons: tuple[FilesByReason, ...]
    cutoff: datetime
    cutoffVersion: int | None
    oldestReadableVersion: int | None
    oldestTimeTravelVersion: int | None
    message: str
    files: tuple[LogFile, ...] = ()

    @classmethod
    def of(cls, rows: DataFrame) -> CleanupResult:
        """Read the rows of CLEANUP LOG.

        Returns:
            The totals, with the files of a dry run.
        """
        *files, totals = values_of(rows)
        return cls.of_values(totals, tuple(LogFile(**known(LogFile, file)) for file in files))

    @classmethod
    def of_values(cls, totals: Values, files: tuple[LogFile, ...] = ()) -> CleanupResult:
        """Read a row of totals that is a dictionary.

        Args:
            totals: The row.
            files: The files of a dry run.

        Returns:
            The totals, with the files.
        """
        reasons = tuple(FilesByReason(**reason) for reason in totals["reasons"])
        return cls(**known(cls, totals, reasons=reasons, files=files))

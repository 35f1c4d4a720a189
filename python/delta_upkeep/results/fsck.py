"""The result of FSCK."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from delta_upkeep.results.rows import known, values_of


@dataclass(frozen=True)
class FsckFinding:
    """A file with a problem.

    Attributes:
        kind: What has the problem: ``data file``, ``deletion vector``, ``checkpoint``, ``last
            checkpoint`` or ``checksum``.
        dataFilePath: The path of the data file; None, as all columns up to
            ``deletionVectorFileMissing``, for a file of the log.
        dataFileMissing: Whether the data file does not exist.
        deletionVectorPath: The file of its deletion vector; None if it has none, or if the vector
            is in the log.
        deletionVectorFileMissing: Whether that file does not exist.
        logFilePath: The path of the file of the log; of a checkpoint in parts, the first one. None
            for a data file.
        problem: ``missing``, ``unknown``, ``wrong size``, ``wrong row count`` or ``damaged``.
        action: ``remove``, ``restore``, ``rewrite`` or ``none``; in a dry run, what would be done.
        reason: What was found, why the action, and what to do next.
        sizeInBytes: The size of the data file, as the log says; None for a file of the log.
        rows: Its rows, without deleted ones; None if the log does not say.
    """

    kind: str
    dataFilePath: str | None
    dataFileMissing: bool | None
    deletionVectorPath: str | None
    deletionVectorFileMissing: bool | None
    logFilePath: str | None
    problem: str
    action: str
    reason: str
    sizeInBytes: int | None
    rows: int | None


@dataclass(frozen=True)
class FsckResult:
    """The result of ``fsck()``.

    Attributes:
        path: The root directory of the table.
        dryRun: Whether it is only a plan.
        filesChecked: The data files of the newest version.
        bytesChecked: Their size, as the log says.
        findings: Each file with a problem, those of the log last.
        rowsGone: The rows of missing files that are not restored; None if the log does not say.
        version: The version that was committed; None if none was.
        message: What was found.
    """

    path: str
    dryRun: bool
    filesChecked: int
    bytesChecked: int
    findings: tuple[FsckFinding, ...]
    rowsGone: int | None
    version: int | None
    message: str

    @classmethod
    def of(cls, rows: DataFrame) -> FsckResult:
        """Read the rows of FSCK.

        Returns:
            The totals, with the findings.
        """
        *found, totals = values_of(rows)
        findings = tuple(FsckFinding(**known(FsckFinding, finding)) for finding in found)
        return cls(**known(cls, totals, findings=findings))

"""The result of CHECKPOINT."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from delta_upkeep.results.rows import Values, known, values_of


@dataclass(frozen=True)
class CheckpointResult:
    """The result of ``checkpoint()``, and of the step ``checkpoint`` of ``maintain()``.

    Attributes:
        path: The root directory of the table.
        version: The version of the table in the checkpoint.
        policy: ``classic`` or ``v2``.
        format: The format of the top-level file: ``parquet`` or ``json``.
        parts: Parts of a classic checkpoint, sidecars of a v2 checkpoint.
        numActions: Actions in the checkpoint; None if none was written.
        numAddFiles: Data files in the checkpoint; None if none was written.
        sizeInBytes: The size of its files, without the sidecars that existed before; None if none
            was written.
        mode: ``full`` was built from the whole state, ``incremental`` on the last checkpoint;
            ``none`` if none was built.
        status: ``written``; ``exists`` if there was a complete one; ``planned`` in a dry run.
        reason: Why it was written in this way, or not at all.
        durationMs: Milliseconds that writing took.
        dryRun: Whether it is only a plan.
    """

    path: str
    version: int
    policy: str
    format: str
    parts: int
    numActions: int | None
    numAddFiles: int | None
    sizeInBytes: int | None
    mode: str
    status: str
    reason: str
    durationMs: int
    dryRun: bool

    @classmethod
    def of(cls, rows: DataFrame) -> CheckpointResult:
        """Read the row of CHECKPOINT.

        Returns:
            The result.
        """
        return cls.of_values(values_of(rows)[0])

    @classmethod
    def of_values(cls, values: Values) -> CheckpointResult:
        """Read a row that is a dictionary.

        Returns:
            The result.
        """
        return cls(**known(cls, values))

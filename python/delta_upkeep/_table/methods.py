"""The methods that Delta Upkeep adds to a `DeltaTable`, classic or Spark Connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from pyspark.sql import DataFrame

from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.options import OptionValue, option_texts
from delta_upkeep._table.statements import Statement
from delta_upkeep.health import HealthReport

Builder = TypeVar("Builder", bound="OptimizeMethods")


class TableMethods:
    """All statements except OPTIMIZE."""

    _gateway: Gateway

    def checkpoint(
        self,
        *,
        policy: Literal["classic", "v2"] | None = None,
        format: Literal["parquet", "json"] | None = None,
        partSize: int | None = None,
        mode: Literal["auto", "full"] | None = None,
        dryRun: bool = False,
    ) -> DataFrame:
        """Write a checkpoint of the newest version (protocol, 'Checkpoints').

        If a complete checkpoint of that version and policy exists, nothing is written, and
        ``status`` is ``exists``. Arguments left as None use the statement's defaults.

        Args:
            policy: The layout. The default is the table property ``delta.checkpointPolicy``.
            format: The format of the top-level file of a v2 checkpoint.
            partSize: The number of file actions in one part (classic) or one sidecar (v2).
            mode: ``full`` reads the whole state of the table; ``auto`` reuses the last checkpoint
                if possible.
            dryRun: Return the plan and write nothing.

        Returns:
            One row: path, version, policy, format, parts, numActions, numAddFiles, sizeInBytes,
            mode, status, reason, durationMs, dryRun.

        Raises:
            AnalysisException: ``V2_CHECKPOINT_NOT_ENABLED``, ``MULTI_PART_ON_V2_TABLE``,
                ``FORMAT_NEEDS_V2``, ``LOG_NOT_WRITABLE``, ``CHECKPOINT_MISMATCH``,
                ``CHECKPOINT_DAMAGED``, or a table feature that is not supported.
        """
        options = {"policy": policy, "format": format, "partSize": partSize, "mode": mode}
        chosen = {key: value for key, value in options.items() if value is not None}
        return self._gateway.run(
            Statement("CHECKPOINT", dry_run=dryRun, options=option_texts(chosen))
        )

    def cleanupLog(
        self,
        retentionHours: float | None = None,
        *,
        dryRun: bool = False,
        options: Mapping[str, OptionValue] | None = None,
    ) -> DataFrame:
        """Delete expired files of the log (protocol, 'Metadata Cleanup').

        Every version inside the retention stays readable: only files older than the newest
        checkpoint at or before the cutoff are deleted.

        Args:
            retentionHours: Hours of history to keep. The default is the table property
                ``delta.logRetentionDuration``.
            dryRun: Return each file with its verdict and reason, and delete nothing.
            options: ``granularity``, which is ``day``, ``hour`` or ``minute``.

        Returns:
            One row of totals, in which ``file`` is null. A dry run also returns a row for each
            file.

        Raises:
            AnalysisException: ``NEGATIVE_RETENTION``, ``RETENTION_TOO_SHORT``,
                ``LOG_NOT_WRITABLE``, ``LOG_FILE_NOT_DELETED``, ``LOG_DIRECTORY_IS_LINK``, or a
                table feature that is not supported.
        """
        hours = None if retentionHours is None else float(retentionHours)
        return self._gateway.run(
            Statement(
                "CLEANUP LOG",
                retention_hours=hours,
                dry_run=dryRun,
                options=option_texts(options or {}),
            )
        )

    def health(self) -> HealthReport:
        """Check the files, the checkpoints and the log, and suggest fixes."""
        return HealthReport.of(self._gateway.run(Statement("DESCRIBE HEALTH")))

    def maintain(
        self, *, dryRun: bool = False, options: Mapping[str, OptionValue] | None = None
    ) -> DataFrame:
        """Compact, write a checkpoint and clean up the log, each step only if it is due.

        Args:
            dryRun: Return what would be done, and do nothing.
            options: Options of OPTIMIZE, CHECKPOINT and CLEANUP LOG.

        Returns:
            One row for each step: path, step, due, dryRun, status, reason, and the step's own
            result.
        """
        return self._gateway.run(
            Statement("MAINTAIN", dry_run=dryRun, options=option_texts(options or {}))
        )


class OptimizeMethods:
    """Builds an OPTIMIZE: set conditions and options first, then call a method that runs it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._where: list[str] = []
        self._full = False
        self._options: dict[str, OptionValue] = {}

    def where(self: Builder, partitionFilter: str) -> Builder:
        """Select files by a condition on partition columns; all conditions must be true."""
        self._where.append(partitionFilter)
        return self

    def full(self: Builder) -> Builder:
        """Recluster every file; only for tables with clustering columns."""
        self._full = True
        return self

    def option(self: Builder, key: str, value: OptionValue) -> Builder:
        """Set an option.

        Args:
            key: ``targetFileSize``, ``minFileSize``, ``maxBytes``, ``maxBytesPerCommit`` (bytes),
                ``maxDeletedRowsRatio``, ``minInputFiles``, ``maxFiles``, ``order`` or ``verify``.
                It is not case-sensitive.
            value: The value as in SQL: ``'128m'`` and ``134217728`` are the same size.
        """
        self._options[key] = value
        return self

    def options(self: Builder, values: Mapping[str, OptionValue]) -> Builder:
        """Set several options."""
        self._options.update(values)
        return self

    def executeCompaction(self, *, dryRun: bool = False) -> DataFrame:
        """Compact small files, and drop the rows that deletion vectors hide.

        Args:
            dryRun: Return what would be done with each bin and why, and do nothing.

        Returns:
            One row: path, metrics (as in Delta's OPTIMIZE), dryRun, version, bins, verified.

        Raises:
            AnalysisException: ``MISSING_COLUMN``, ``NON_PARTITION_COLUMN``, ``UNKNOWN_OPTION``,
                ``INVALID_OPTION``, ``OPTIMIZE_CONFLICT``, ``DATA_FILE_MISSING``,
                ``DATA_FILE_DAMAGED``, ``DATA_FILE_UNREADABLE``, ``LOG_DAMAGED``, or a table feature
                that is not supported.
        """
        return self._run([], dry_run=dryRun)

    def executeZOrderBy(
        self, *cols: str | list[str] | tuple[str, ...], dryRun: bool = False
    ) -> DataFrame:
        """Sort the rows of each partition along a Z-curve over these columns.

        Args:
            cols: Names of columns, or one list of them.
            dryRun: Return what would be done with each bin and why, and do nothing.
        """
        return self._run(_names(cols), dry_run=dryRun)

    def dryRun(self, *zOrderBy: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Return what OPTIMIZE would do with each bin and why, and do nothing.

        The same as ``executeCompaction(dryRun=True)`` or ``executeZOrderBy(..., dryRun=True)``.

        Args:
            zOrderBy: The columns of a Z-order, or one list of them. Without columns, the plan is
                for a compaction.
        """
        return self._run(_names(zOrderBy) if zOrderBy else [], dry_run=True)

    def _run(self, z_order_by: list[str], dry_run: bool) -> DataFrame:
        return self._gateway.run(
            Statement(
                "OPTIMIZE",
                full=self._full,
                where=tuple(self._where),
                z_order_by=tuple(z_order_by),
                dry_run=dry_run,
                options=option_texts(self._options),
            )
        )


def _names(cols: Sequence[str | list[str] | tuple[str, ...]]) -> list[str]:
    flat = cols[0] if len(cols) == 1 and isinstance(cols[0], (list, tuple)) else cols
    if not flat:
        raise ValueError(
            "A Z-order needs at least one column. Name a column, or use executeCompaction()."
        )
    return [_column(each) for each in flat]


def _column(col: object) -> str:
    if isinstance(col, str):
        return col
    raise TypeError(f"A Z-order column cannot be a {type(col).__name__}. Pass its name as a str.")

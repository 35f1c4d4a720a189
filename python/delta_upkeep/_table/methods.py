"""What Delta Upkeep adds to a table of Delta's, classic or of Spark Connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from pyspark.sql import DataFrame

from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.options import OptionValue, option_texts
from delta_upkeep.health import HealthReport

Builder = TypeVar("Builder", bound="OptimizeMethods")


class TableMethods:
    """The statements but OPTIMIZE."""

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

        A no-op, with ``status = 'exists'``, where a complete one of that version and policy is
        there. What is None follows the statement's default.

        Args:
            policy: Layout; the table property ``delta.checkpointPolicy`` otherwise.
            format: Of the top-level file of a v2 checkpoint.
            partSize: File actions in one part (classic) or one sidecar (v2).
            mode: ``full`` builds it from the whole state of the table; ``auto`` builds it on the
                last one where that is possible.
            dryRun: Return the plan and write nothing.

        Returns:
            One row: path, version, policy, format, parts, numActions, numAddFiles, sizeInBytes,
            mode, status, reason, durationMs, dryRun.

        Raises:
            AnalysisException: ``V2_CHECKPOINT_NOT_ENABLED``, ``MULTI_PART_ON_V2_TABLE``,
                ``FORMAT_NEEDS_V2``, ``LOG_NOT_WRITABLE``, ``CHECKPOINT_MISMATCH``,
                ``CHECKPOINT_DAMAGED``, or the table's features forbid it.
        """
        options = {"policy": policy, "format": format, "partSize": partSize, "mode": mode}
        chosen = {key: value for key, value in options.items() if value is not None}
        return self._gateway.checkpoint(dryRun, option_texts(chosen))

    def cleanupLog(
        self,
        retentionHours: float | None = None,
        *,
        dryRun: bool = False,
        options: Mapping[str, OptionValue] | None = None,
    ) -> DataFrame:
        """Delete expired files of the log (protocol, 'Metadata Cleanup').

        Every version inside retention stays readable: what goes is older than the newest
        checkpoint at or before the cutoff.

        Args:
            retentionHours: Hours of history to keep; the table property
                ``delta.logRetentionDuration`` otherwise.
            dryRun: Return each file with its verdict and reason, and delete nothing.
            options: ``granularity``: ``day``, ``hour`` or ``minute``.

        Returns:
            One row of totals, with ``file`` null; a dry run puts a row for each file before it.

        Raises:
            AnalysisException: ``NEGATIVE_RETENTION``, ``RETENTION_TOO_SHORT``,
                ``LOG_NOT_WRITABLE``, ``LOG_FILE_NOT_DELETED``, ``LOG_DIRECTORY_IS_LINK``, or the
                table's features forbid it.
        """
        hours = None if retentionHours is None else float(retentionHours)
        return self._gateway.cleanup_log(hours, dryRun, option_texts(options or {}))

    def health(self) -> HealthReport:
        """Look at files, checkpoints and log, and say what needs mending and how."""
        return HealthReport.of(self._gateway.health())

    def maintain(
        self, *, dryRun: bool = False, options: Mapping[str, OptionValue] | None = None
    ) -> DataFrame:
        """Compact, checkpoint and clean up, each where it is due.

        Args:
            dryRun: Return what would be done, and do nothing.
            options: Those of OPTIMIZE, CHECKPOINT and CLEANUP LOG.

        Returns:
            One row a step: path, step, due, dryRun, status, reason, and the step's own result.
        """
        return self._gateway.maintain(dryRun, option_texts(options or {}))


class OptimizeMethods:
    """An OPTIMIZE to be: conditions and options first, then one of the methods that run it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._where: list[str] = []
        self._full = False
        self._options: dict[str, OptionValue] = {}

    def where(self: Builder, partitionFilter: str) -> Builder:
        """Choose files by a condition on partition columns; a second one narrows the first."""
        self._where.append(partitionFilter)
        return self

    def full(self: Builder) -> Builder:
        """Cluster every file anew; for tables with clustering columns only."""
        self._full = True
        return self

    def option(self: Builder, key: str, value: OptionValue) -> Builder:
        """Set an option.

        Args:
            key: ``targetFileSize``, ``minFileSize``, ``maxBytes``, ``maxBytesPerCommit`` (bytes),
                ``maxDeletedRowsRatio``, ``minInputFiles``, ``maxFiles`` or ``order``, in any case.
            value: As in SQL: ``'128m'`` and ``134217728`` are one size.
        """
        self._options[key] = value
        return self

    def options(self: Builder, values: Mapping[str, OptionValue]) -> Builder:
        """Set several options."""
        self._options.update(values)
        return self

    def executeCompaction(self) -> DataFrame:
        """Make large files of small ones, and drop rows that deletion vectors hide.

        Returns:
            One row: path, metrics (as Delta's OPTIMIZE), dryRun, version, bins, verified.

        Raises:
            AnalysisException: ``MISSING_COLUMN``, ``NON_PARTITION_COLUMN``, ``UNKNOWN_OPTION``,
                ``INVALID_OPTION``, ``OPTIMIZE_CONFLICT``, or the table's features forbid it.
        """
        return self._run([], dry_run=False)

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Order the rows of each partition along a Z-curve over these columns.

        Args:
            cols: Names of columns, or one list of them.
        """
        return self._run(_names(cols), dry_run=False)

    def dryRun(self, *zOrderBy: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Return what the OPTIMIZE would do, bin by bin with the reason, and do nothing.

        Args:
            zOrderBy: The columns of a Z-order, or one list of them; a compaction otherwise.
        """
        return self._run(_names(zOrderBy) if zOrderBy else [], dry_run=True)

    def _run(self, z_order_by: list[str], dry_run: bool) -> DataFrame:
        options = option_texts(self._options)
        return self._gateway.optimize(self._where, z_order_by, self._full, dry_run, options)


def _names(cols: Sequence[str | list[str] | tuple[str, ...]]) -> list[str]:
    flat = cols[0] if len(cols) == 1 and isinstance(cols[0], (list, tuple)) else cols
    if not flat:
        raise ValueError("A Z-order needs at least one column. Name one, or compact instead.")
    return [_column(each) for each in flat]


def _column(col: object) -> str:
    if isinstance(col, str):
        return col
    raise TypeError(
        f"A column to order by cannot be a {type(col).__name__}. Give its name as a str."
    )

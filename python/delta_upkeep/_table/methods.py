"""The methods that Delta Upkeep adds to a `DeltaTable`, classic or Spark Connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.options import Options, OptionValue, option_texts, with_arguments
from delta_upkeep._table.statements import Statement
from delta_upkeep.health import HealthReport
from delta_upkeep.results import (
    AnalyzeResult,
    CheckpointResult,
    CleanupResult,
    FsckResult,
    MaintainResult,
    OptimizeResult,
    ResultRows,
    VacuumResult,
)

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
        options: Options | None = None,
    ) -> ResultRows[CheckpointResult]:
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
            options: The same four, by name, as in ``OPTIONS`` of the statement.

        Returns:
            One row. ``toResult()`` reads it as a ``CheckpointResult``, which explains the columns.

        Raises:
            InvalidRequestError: An option is wrong, or does not fit the table.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: The log or the last checkpoint is damaged.
            StorageError: The log cannot be written to.
            ConflictError: The table was recreated meanwhile.
            SwitchedOffError: Delta Upkeep is switched off.
            TypeError: An option is given twice, or has a value of another type.
        """
        arguments = {"policy": policy, "format": format, "partSize": partSize, "mode": mode}
        texts = with_arguments(options, arguments)
        return self._gateway.result(
            Statement("CHECKPOINT", dry_run=dryRun, options=texts), CheckpointResult.of
        )

    def cleanupLog(
        self,
        retentionHours: float | None = None,
        *,
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[CleanupResult]:
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
            file. ``toResult()`` reads them as a ``CleanupResult``, which explains the columns.

        Raises:
            InvalidRequestError: The retention is negative, too short or no number, or an option is
                wrong.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: The log is damaged.
            StorageError: The log cannot be written to, or a file was not deleted.
            SwitchedOffError: Delta Upkeep is switched off.
            TypeError: An option has a value of another type.
        """
        return self._gateway.result(
            Statement(
                "CLEANUP LOG",
                retention_hours=_hours(retentionHours),
                dry_run=dryRun,
                options=option_texts(options),
            ),
            CleanupResult.of,
        )

    def vacuum(
        self,
        retentionHours: float | None = None,
        *,
        mode: Literal["auto", "log", "full"] | None = None,
        maxFiles: int | None = None,
        maxBytes: int | str | None = None,
        threads: int | None = None,
        keepFor: str | Sequence[str] | None = None,
        inventory: str | None = None,
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[VacuumResult]:
        """Delete the files that no version inside the retention needs.

        It takes the place of Delta's method, whose rules hold: which files are hidden, how long
        removed files stay, and the entries in the history. Arguments left as None use the
        statement's defaults.

        Args:
            retentionHours: Hours that removed files stay, rounded up. The default is the table
                property ``delta.deletedFileRetentionDuration``. Delta 4.1 and newer ignore any
                number but 0, and so does this method.
            mode: ``log`` finds files in the commits that the last VACUUM has not seen. ``full``
                lists all directories, and also finds what failed writers left. ``auto`` is ``log``
                if the log still has the commits, or what CLEANUP LOG wrote down of them.
            maxFiles: The number of files that one run deletes, the oldest first.
            maxBytes: The bytes that one run deletes, such as ``'10g'``, but at least one file.
            threads: How many directories are listed, and files deleted, at the same time.
            keepFor: Names of shallow clones of the table, or one text with commas between them.
                The files that their logs name stay.
            inventory: A table, or a query in parentheses, that has the files, as for Delta's
                ``USING INVENTORY``: nothing is listed. Its columns are path, length (in bytes),
                isDir and modificationTime (in milliseconds since the epoch).
            dryRun: Return each file with its verdict and reason, and delete nothing.
            options: The same six, by name, as in ``OPTIONS`` of the statement.

        Returns:
            One row of totals, in which ``kind`` is null. A dry run also returns a row for each file
            that no version inside the retention names. ``toResult()`` reads them as a
            ``VacuumResult``, which explains the columns.

        Raises:
            InvalidRequestError: The retention is negative, too short or no number, an option is
                wrong, ``mode`` is ``log`` and commits are missing, the log names files of another
                store, or a clone or the inventory cannot be read.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: The log is damaged.
            StorageError: A file was not deleted.
            SwitchedOffError: Delta Upkeep is switched off.
            TypeError: An option is given twice, or has a value of another type.
        """
        clones = keepFor if keepFor is None or isinstance(keepFor, str) else ", ".join(keepFor)
        arguments = {
            **{"mode": mode, "maxFiles": maxFiles, "maxBytes": maxBytes, "threads": threads},
            "keepFor": clones,
            "inventory": inventory,
        }
        return self._gateway.result(
            Statement(
                "VACUUM",
                retention_hours=_hours(retentionHours),
                dry_run=dryRun,
                options=with_arguments(options, arguments),
            ),
            VacuumResult.of,
        )

    def analyze(
        self,
        partitionFilter: str | None = None,
        *,
        columns: str | list[str] | tuple[str, ...] = (),
        mode: Literal["missing", "all"] | None = None,
        maxBytes: int | str | None = None,
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[AnalyzeResult]:
        """Make the statistics of files again (protocol, 'Per-file Statistics').

        Data skipping, CLUSTER BY and row tracking need them. Files of a converted table, and of
        some writers, have none. The files are read, and stay as they are.

        Args:
            partitionFilter: A condition on partition columns, as in SQL. The default is all files.
            columns: Read only the files that lack statistics of these. The default is all columns
                that the table collects statistics of.
            mode: ``missing`` reads the files whose statistics lack the number of rows, or a column
                that the table collects statistics of; ``all`` reads every file.
            maxBytes: The bytes that one run reads, such as ``'100g'``, but at least one file.
            dryRun: Return what would be read and why, and do nothing.
            options: ``mode`` and ``maxBytes``, as in ``OPTIONS`` of the statement.

        Returns:
            One row. ``toResult()`` reads it as an ``AnalyzeResult``, which explains the columns.

        Raises:
            InvalidRequestError: The condition, a column or an option is wrong.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: A file of the table or of its log is missing or damaged.
            StorageError: The log cannot be written to.
            ConflictError: Other writers committed first. Earlier commits of this run are complete.
            SwitchedOffError: Delta Upkeep is switched off.
            TypeError: An option is given twice, or has a value of another type.
        """
        return self._gateway.result(
            Statement(
                "ANALYZE",
                where=() if partitionFilter is None else (partitionFilter,),
                columns=tuple(_names((columns,))) if columns else (),
                dry_run=dryRun,
                options=with_arguments(options, {"mode": mode, "maxBytes": maxBytes}),
            ),
            AnalyzeResult.of,
        )

    def fsck(
        self,
        mode: Literal["check", "missing", "restore"] | None = None,
        *,
        deep: bool = False,
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[FsckResult]:
        """Find files of the table that are missing or damaged, and repair the table.

        Every data file and every deletion vector of the newest version is looked for, and its size
        compared with the log.

        Args:
            mode: ``check`` only reports. ``missing``, the default, removes the entries of files
                that are gone from the log. ``restore`` undoes an OPTIMIZE whose new files are gone
                or damaged, and removes nothing else.
            deep: Also read the footer of every data file, and every deletion vector.
            dryRun: Return what would be done, and do nothing.
            options: ``mode``, ``deep`` and ``pages``, as in ``OPTIONS`` of the statement.

        Returns:
            A row for each file with a problem, and one row of totals, in which ``kind`` is null.
            ``toResult()`` reads them as an ``FsckResult``, which explains the columns.

        Raises:
            InvalidRequestError: An option is wrong, or the table is append-only.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: The log is damaged.
            StorageError: A store cannot be reached, all files are gone, or the log cannot be
                written to.
            ConflictError: Other writers committed first.
            SwitchedOffError: Delta Upkeep is switched off.
            TypeError: An option is given twice, or has a value of another type.
        """
        arguments = {"mode": mode, "deep": True if deep else None}
        return self._gateway.result(
            Statement("FSCK", dry_run=dryRun, options=with_arguments(options, arguments)),
            FsckResult.of,
        )

    def health(self) -> HealthReport:
        """Check the files, the checkpoints and the log, and suggest fixes.

        Returns:
            The report. It has already been collected.

        Raises:
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: The log is damaged.
            SwitchedOffError: Delta Upkeep is switched off in the session.
        """
        return HealthReport.of(self._gateway.run(Statement("DESCRIBE HEALTH")))

    def maintain(
        self, *, dryRun: bool = False, options: Options | None = None
    ) -> ResultRows[MaintainResult]:
        """Compact, write a checkpoint and clean up the log, each step only if it is due.

        Args:
            dryRun: Return what would be done, and do nothing.
            options: Options of OPTIMIZE, CHECKPOINT and CLEANUP LOG.

        Returns:
            One row for each step. ``toResult()`` reads them as a ``MaintainResult``, which explains
            the columns.

        Raises:
            InvalidRequestError: An option is wrong.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: A file of the table or of its log is missing or damaged.
            StorageError: The log cannot be written to, or a file was not deleted.
            ConflictError: Other writers committed first. The other steps have run.
            InternalError: New files were not committed, because a check of them failed.
            SwitchedOffError: Delta Upkeep is switched off in the session.
            TypeError: An option has a value of another type.
        """
        return self._gateway.result(
            Statement("MAINTAIN", dry_run=dryRun, options=option_texts(options)), MaintainResult.of
        )


class OptimizeMethods:
    """Builds an OPTIMIZE: set conditions and options first, then call a method that runs it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._where: list[str] = []
        self._full = False
        self._options: dict[str, OptionValue] = {}

    def where(self: Builder, partitionFilter: str) -> Builder:
        """Select files that may have rows which meet a condition; all conditions must be true.

        Files are taken as a whole, by the values of partition columns and by the statistics of
        others.

        Args:
            partitionFilter: The condition, as in SQL.

        Returns:
            This builder.
        """
        self._where.append(partitionFilter)
        return self

    def full(self: Builder) -> Builder:
        """Put every file in order again: for an order, and tables with clustering columns.

        Returns:
            This builder.
        """
        self._full = True
        return self

    def option(self: Builder, key: str, value: OptionValue) -> Builder:
        """Set an option.

        Args:
            key: ``targetFileSize``, ``minFileSize``, ``maxBytes``, ``maxBytesPerCommit`` (bytes),
                ``maxDeletedRowsRatio``, ``minInputFiles``, ``minOverlapDepth``, ``maxFiles``,
                ``order`` or ``verify``. It is not case-sensitive.
            value: The value as in SQL: ``'128m'`` and ``134217728`` are the same size.

        Returns:
            This builder.
        """
        self._options[key] = value
        return self

    def executeCompaction(
        self, *, dryRun: bool = False, options: Options | None = None
    ) -> ResultRows[OptimizeResult]:
        """Compact small files, and drop the rows that deletion vectors hide.

        Args:
            dryRun: Return what would be done with each bin and why, and do nothing.
            options: Options as for ``option()``, in addition to those that were set with it.

        Returns:
            One row. ``toResult()`` reads it as an ``OptimizeResult``, which explains the columns.

        Raises:
            InvalidRequestError: A condition or an option is wrong, or does not fit the table.
            NotSupportedError: The table has a feature that is not supported.
            DamagedError: A file of the table or of its log is missing or damaged.
            ConflictError: Other writers committed first. Earlier commits of this run are complete.
            InternalError: New files were not committed, because a check of them failed.
            SwitchedOffError: Delta Upkeep is switched off, and Delta has no such statement.
            TypeError: An option has a value of another type.
        """
        return self._run([], dryRun, options)

    def executeZOrderBy(
        self,
        *cols: str | list[str] | tuple[str, ...],
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[OptimizeResult]:
        """Sort the rows of each partition along a Z-curve over these columns.

        Files that are in this order already are left alone, unless they overlap too much, or
        ``full()`` asks for them.

        Args:
            cols: Names of columns, or one list of them.
            dryRun: Return what would be done with each bin and why, and do nothing.
            options: Options as for ``option()``, in addition to those that were set with it.

        Returns:
            One row, as of ``executeCompaction()``.

        Raises:
            UpkeepError: As from ``executeCompaction()``. It is an ``InvalidRequestError`` if the
                table cannot be ordered by a column.
            ValueError: No column is named.
            TypeError: A column is not a str, or an option has a value of another type.
        """
        return self._run(_names(cols), dryRun, options)

    def executeOrderBy(
        self,
        *keys: str | list[str] | tuple[str, ...],
        dryRun: bool = False,
        options: Options | None = None,
    ) -> ResultRows[OptimizeResult]:
        """Sort the rows of each partition by these columns, for tables that are read by one key.

        Files that are in this order already are left alone, unless they overlap too much, or
        ``full()`` asks for them. With the table property ``deltaUpkeep.sortOrder``,
        ``executeCompaction()`` and MAINTAIN do the same.

        Args:
            keys: Names of columns, or one list of them; ``'b DESC'`` sorts the largest first.
            dryRun: Return what would be done with each bin and why, and do nothing.
            options: Options as for ``option()``, in addition to those that were set with it.

        Returns:
            One row, as of ``executeCompaction()``.

        Raises:
            UpkeepError: As from ``executeCompaction()``. It is an ``InvalidRequestError`` if the
                table cannot be ordered by a column.
            ValueError: No column is named.
            TypeError: A column is not a str, or an option has a value of another type.
        """
        return self._run([], dryRun, options, _names(keys))

    def dryRun(
        self,
        *zOrderBy: str | list[str] | tuple[str, ...],
        options: Options | None = None,
    ) -> ResultRows[OptimizeResult]:
        """Return what OPTIMIZE would do with each bin and why, and do nothing.

        The same as ``executeCompaction(dryRun=True)`` or ``executeZOrderBy(..., dryRun=True)``.

        Args:
            zOrderBy: The columns of a Z-order, or one list of them. Without columns, the plan is
                for a compaction.
            options: Options as for ``option()``, in addition to those that were set with it.

        Returns:
            One row, as of ``executeCompaction()``.

        Raises:
            UpkeepError: As from the method that would run it.
            TypeError: As from the method that would run it.
        """
        return self._run(_names(zOrderBy) if zOrderBy else [], True, options)

    def _run(
        self,
        columns: list[str],
        dry_run: bool,
        options: Options | None,
        order_by: Sequence[str] = (),
    ) -> ResultRows[OptimizeResult]:
        return self._gateway.result(
            Statement(
                "OPTIMIZE",
                full=self._full,
                where=tuple(self._where),
                columns=tuple(columns),
                order_by=tuple(order_by),
                dry_run=dry_run,
                options=option_texts(self._options) | option_texts(options),
            ),
            OptimizeResult.of,
        )


def _hours(retention: float | None) -> float | None:
    return None if retention is None else float(retention)


def _names(cols: Sequence[str | list[str] | tuple[str, ...]]) -> list[str]:
    flat = cols[0] if len(cols) == 1 and isinstance(cols[0], (list, tuple)) else cols
    if not flat:
        raise ValueError(
            "An order needs at least one column. Name a column, or use executeCompaction()."
        )
    return [_column(each) for each in flat]


def _column(col: object) -> str:
    if isinstance(col, str):
        return col
    raise TypeError(f"A column cannot be a {type(col).__name__}. Pass its name as a str.")

"""The result of OPTIMIZE."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from delta_upkeep.results.metrics import OptimizeMetrics
from delta_upkeep.results.rows import Values, known, values_of


@dataclass(frozen=True)
class Bin:
    """Files that are rewritten together.

    Attributes:
        partition: ``column=value`` pairs; empty if the table is not partitioned.
        inputFiles: The number of files.
        inputBytes: Their size.
        tier: How they are rewritten.
        reason: Why in this way.
        status: ``planned`` in a dry run; ``committed``; ``deferred`` to a later run by an option,
            or in a dry run to later bins, if there are too many small files to plan at once;
            ``lost`` to another writer; ``left`` as it is.
        rowGroupsBefore: Row groups of the input files; None if their footers were not read.
        rowGroupsAfter: Row groups of the new files; None if the footers were not read.
    """

    partition: str
    inputFiles: int
    inputBytes: int
    tier: str
    reason: str
    status: str
    rowGroupsBefore: int | None
    rowGroupsAfter: int | None


@dataclass(frozen=True)
class KeyForecast:
    """How well a column separates files that are put in order by it, estimated.

    Attributes:
        column: Its name.
        openedBefore: Percent of the files that a query for one value opens at most, on average.
        openedAfter: The same after the plan was run.
    """

    column: str
    openedBefore: float
    openedAfter: float


@dataclass(frozen=True)
class OptimizeResult:
    """The result of ``executeCompaction()``, ``executeZOrderBy()`` and ``dryRun()``.

    Where Delta Upkeep is switched off, Delta runs the statement, and only ``path`` and ``metrics``
    are known.

    Attributes:
        path: The root directory of the table.
        metrics: Totals, as in Delta's own OPTIMIZE.
        dryRun: Whether it is only a plan.
        version: The version of the last commit; None if nothing was committed.
        bins: What was done with which files and why.
        verified: Whether Spark compared the rows of all new files with those of their inputs before
            the commit.
        clustering: For each key, in a dry run that puts rows in order.
    """

    path: str
    metrics: OptimizeMetrics
    dryRun: bool = False
    version: int | None = None
    bins: tuple[Bin, ...] = ()
    verified: bool = False
    clustering: tuple[KeyForecast, ...] = ()

    @classmethod
    def of(cls, rows: DataFrame) -> OptimizeResult:
        """Read the row of OPTIMIZE.

        Returns:
            The result.
        """
        return cls.of_values(values_of(rows)[0])

    @classmethod
    def of_values(cls, values: Values) -> OptimizeResult:
        """Read a row that is a dictionary.

        Returns:
            The result.
        """
        metrics = OptimizeMetrics.of_values(values["metrics"])
        bins = tuple(Bin(**known(Bin, each)) for each in values.get("bins", ()))
        keys = values.get("clustering") or ()
        clustering = tuple(KeyForecast(**known(KeyForecast, each)) for each in keys)
        return cls(**known(cls, values, metrics=metrics, bins=bins, clustering=clustering))

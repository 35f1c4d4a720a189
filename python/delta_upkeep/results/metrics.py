"""The metrics of OPTIMIZE: those of Delta, with the same names, and those of Delta Upkeep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from delta_upkeep.results.rows import Values, known


@dataclass(frozen=True)
class FileSizes:
    """The sizes of a set of files, in bytes.

    Attributes:
        min: The smallest; None if there are no files.
        max: The largest; None if there are no files.
        avg: The mean; 0 if there are no files.
        totalFiles: The number of files.
        totalSize: The sum.
    """

    min: int | None
    max: int | None
    avg: float
    totalFiles: int
    totalSize: int


@dataclass(frozen=True)
class ZOrderFiles:
    """A set of files.

    Attributes:
        num: The number of files.
        size: Their size.
    """

    num: int
    size: int


@dataclass(frozen=True)
class ZOrderStats:
    """What was put in order by a Z-order, which takes every file of a partition.

    Attributes:
        strategyName: ``all``.
        inputCubeFiles: Always empty.
        inputOtherFiles: The input files.
        inputNumCubes: Always 0.
        mergedFiles: The files that were rewritten.
        numOutputCubes: The number of partitions.
        mergedNumCubes: None.
    """

    strategyName: str
    inputCubeFiles: ZOrderFiles
    inputOtherFiles: ZOrderFiles
    inputNumCubes: int
    mergedFiles: ZOrderFiles
    numOutputCubes: int
    mergedNumCubes: int | None


@dataclass(frozen=True)
class ClusteringFiles:
    """A set of files.

    Attributes:
        numFiles: The number of files.
        size: Their size.
    """

    numFiles: int
    size: int


@dataclass(frozen=True)
class ClusteringStats:
    """What was clustered. A Z-cube is a set of files that were clustered together.

    Attributes:
        inputZCubeFiles: Files that were already clustered.
        inputOtherFiles: The other files.
        inputNumZCubes: The number of Z-cubes before.
        mergedFiles: The files that were rewritten.
        numOutputZCubes: The number of new Z-cubes.
    """

    inputZCubeFiles: ClusteringFiles
    inputOtherFiles: ClusteringFiles
    inputNumZCubes: int
    mergedFiles: ClusteringFiles
    numOutputZCubes: int


@dataclass(frozen=True)
class Parallelism:
    """Tasks at a time. Only Delta's own auto-compaction has these numbers.

    Attributes:
        maxClusterActiveParallelism: The most in the cluster.
        minClusterActiveParallelism: The fewest in the cluster.
        maxSessionActiveParallelism: The most in the session.
        minSessionActiveParallelism: The fewest in the session.
    """

    maxClusterActiveParallelism: int | None
    minClusterActiveParallelism: int | None
    maxSessionActiveParallelism: int | None
    minSessionActiveParallelism: int | None


@dataclass(frozen=True)
class DeletionVectorStats:
    """Deletion vectors that the rewrite made obsolete.

    Attributes:
        numDeletionVectorsRemoved: Their number.
        numDeletionVectorRowsRemoved: The rows that they hid.
    """

    numDeletionVectorsRemoved: int
    numDeletionVectorRowsRemoved: int


@dataclass(frozen=True)
class TierMetrics:
    """What one tier did. A tier is a way to rewrite files.

    Attributes:
        tier: Its name.
        files: Input files in bins of this tier.
        bytes: Input bytes that went through this tier, even in bins of another tier.
        milliseconds: Work of all threads together.
    """

    tier: str
    files: int
    bytes: int
    milliseconds: int


@dataclass(frozen=True)
class OptimizeMetrics:
    """Totals of an OPTIMIZE. In a dry run, they say what would be removed and added.

    Attributes:
        numFilesAdded: New files.
        numFilesRemoved: Files that were rewritten.
        filesAdded: Sizes of the new files; zero in a dry run.
        filesRemoved: Sizes of the files that were rewritten.
        partitionsOptimized: Partitions with rewritten files.
        zOrderStats: Only for a Z-order; otherwise None.
        clusteringStats: Only for a table with clustering columns; otherwise None.
        numBins: Bins, which are sets of files that are rewritten together; 0 where Delta 3.2 runs
            the statement itself.
        numBatches: Commits, as Delta counts them.
        totalConsideredFiles: Files that were looked at.
        totalFilesSkipped: Files that were left alone.
        preserveInsertionOrder: Whether rows keep their order.
        numFilesSkippedToReduceWriteAmplification: Always 0.
        numBytesSkippedToReduceWriteAmplification: Always 0.
        startTimeMs: When it started, in milliseconds since 1970.
        endTimeMs: When it ended, in milliseconds since 1970.
        totalClusterParallelism: Tasks that the session runs at a time.
        totalScheduledTasks: Always 0.
        autoCompactParallelismStats: Only for Delta's own auto-compaction; otherwise None.
        deletionVectorStats: None if no rewritten file had a deletion vector.
        numTableColumns: Columns of the table.
        numTableColumnsWithStats: Columns with statistics.
        numRowGroupsBefore: Row groups of the input files; None if no footers were read.
        numRowGroupsAfter: Row groups of the new files; None if no footers were read.
        numRowsDeletedMeanwhile: Rows of the new files that other writers deleted while OPTIMIZE
            ran. Deletion vectors hide them.
        tiers: What each tier did.
    """

    numFilesAdded: int
    numFilesRemoved: int
    filesAdded: FileSizes
    filesRemoved: FileSizes
    partitionsOptimized: int
    zOrderStats: ZOrderStats | None
    clusteringStats: ClusteringStats | None
    numBins: int
    numBatches: int
    totalConsideredFiles: int
    totalFilesSkipped: int
    preserveInsertionOrder: bool
    numFilesSkippedToReduceWriteAmplification: int
    numBytesSkippedToReduceWriteAmplification: int
    startTimeMs: int
    endTimeMs: int
    totalClusterParallelism: int
    totalScheduledTasks: int
    autoCompactParallelismStats: Parallelism | None
    deletionVectorStats: DeletionVectorStats | None
    numTableColumns: int
    numTableColumnsWithStats: int
    numRowGroupsBefore: int | None = None
    numRowGroupsAfter: int | None = None
    numRowsDeletedMeanwhile: int = 0
    tiers: tuple[TierMetrics, ...] = ()

    @classmethod
    def of_values(cls, values: Values) -> OptimizeMetrics:
        """Read the column ``metrics`` as a dictionary.

        Returns:
            The metrics.
        """
        return cls(
            **known(
                cls,
                {**_MISSING_IN_OLD_DELTA, **values},
                filesAdded=_struct(FileSizes, values["filesAdded"]),
                filesRemoved=_struct(FileSizes, values["filesRemoved"]),
                zOrderStats=_z_order(values["zOrderStats"]),
                clusteringStats=_clustering(values["clusteringStats"]),
                autoCompactParallelismStats=_struct(
                    Parallelism, values["autoCompactParallelismStats"]
                ),
                deletionVectorStats=_struct(DeletionVectorStats, values["deletionVectorStats"]),
                tiers=tuple(_struct(TierMetrics, tier) for tier in values.get("tiers", ())),
            )
        )


# Delta counts bins since 3.3. Where Delta Upkeep is switched off, Delta runs the statement.
_MISSING_IN_OLD_DELTA = {"numBins": 0}


def _struct(made: Any, values: Values | None, **nested: Any) -> Any:
    return None if values is None else made(**known(made, values, **nested))


def _z_order(values: Values | None) -> Any:
    names = ("inputCubeFiles", "inputOtherFiles", "mergedFiles")
    return _struct(ZOrderStats, values, **_structs(ZOrderFiles, names, values))


def _clustering(values: Values | None) -> Any:
    names = ("inputZCubeFiles", "inputOtherFiles", "mergedFiles")
    return _struct(ClusteringStats, values, **_structs(ClusteringFiles, names, values))


def _structs(made: Any, names: tuple[str, ...], values: Values | None) -> dict[str, Any]:
    return {} if values is None else {name: _struct(made, values[name]) for name in names}

"""The results of the statements as frozen dataclasses.

A method returns its rows as a ``DataFrame``. ``toResult()`` of this ``DataFrame`` returns the same
values as one of these classes. Their fields have the names of the columns. Sizes are in bytes, and
a value is None where its column is null.

Rows of ``spark.sql`` are read by the ``of`` method of a class, as in
``MaintainResult.of(spark.sql("MAINTAIN events"))``.
"""

from delta_upkeep.results.analyze import AnalyzeResult
from delta_upkeep.results.checkpoint import CheckpointResult
from delta_upkeep.results.cleanup import CleanupResult, FilesByReason, LogFile
from delta_upkeep.results.fsck import FsckFinding, FsckResult
from delta_upkeep.results.maintain import MaintainResult, MaintainStep
from delta_upkeep.results.metrics import (
    ClusteringFiles,
    ClusteringStats,
    DeletionVectorStats,
    FileSizes,
    OptimizeMetrics,
    Parallelism,
    TierMetrics,
    ZOrderFiles,
    ZOrderStats,
)
from delta_upkeep.results.optimize import Bin, KeyForecast, OptimizeResult
from delta_upkeep.results.rows import ResultRows
from delta_upkeep.results.vacuum import UnneededFile, VacuumResult

__all__ = [
    "AnalyzeResult",
    "Bin",
    "CheckpointResult",
    "CleanupResult",
    "ClusteringFiles",
    "ClusteringStats",
    "DeletionVectorStats",
    "FileSizes",
    "FilesByReason",
    "FsckFinding",
    "FsckResult",
    "KeyForecast",
    "LogFile",
    "MaintainResult",
    "MaintainStep",
    "OptimizeMetrics",
    "OptimizeResult",
    "Parallelism",
    "ResultRows",
    "TierMetrics",
    "UnneededFile",
    "VacuumResult",
    "ZOrderFiles",
    "ZOrderStats",
]

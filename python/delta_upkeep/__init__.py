"""Table maintenance for Delta Lake on Spark: compaction, checkpoints, log cleanup and health."""

from delta_upkeep import _requirements  # noqa: F401, I001 - before what imports Spark and Delta
from delta_upkeep import errors, results
from delta_upkeep._report.checks import HealthCheck, HealthDetail
from delta_upkeep.health import HealthReport
from delta_upkeep.session import configure_spark_with_delta_upkeep
from delta_upkeep.tables import UpkeepOptimizeBuilder, UpkeepTable
from delta_upkeep.version import __version__

__all__ = [
    "HealthCheck",
    "HealthDetail",
    "HealthReport",
    "UpkeepOptimizeBuilder",
    "UpkeepTable",
    "__version__",
    "configure_spark_with_delta_upkeep",
    "errors",
    "results",
]

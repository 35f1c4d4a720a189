"""Maintains many tables in one pass: which tables, in which order, within which budgets.

Example:
    >>> from delta_upkeep.fleet import run_fleet
    >>> result = run_fleet(spark, {"tables": {"include": ["sales.*"]}}, dry_run=True)
    >>> [(table.table, table.status, table.reason) for table in result.tables]
"""

from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.one_pass import run_fleet
from delta_upkeep.fleet.summary import FleetResult, TableResult

__all__ = ["ConfigError", "FleetConfig", "FleetResult", "TableResult", "run_fleet"]

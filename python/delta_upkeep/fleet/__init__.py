"""Maintains many tables in one pass: which tables, in which order, within which budgets."""

from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.summary import Summary, TableResult

__all__ = ["ConfigError", "FleetConfig", "Summary", "TableResult"]

"""One pass of maintenance over many tables: which, in what order, within what budget."""

from delta_upkeep.fleet.config import FleetConfig
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.summary import Summary, TableResult

__all__ = ["ConfigError", "FleetConfig", "Summary", "TableResult"]

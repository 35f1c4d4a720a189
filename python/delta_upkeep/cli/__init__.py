"""The command line."""

from delta_upkeep.cli.commands import main

__all__ = ["main"]

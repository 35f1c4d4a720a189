"""Keeps the command line importable from here, for scripts that start it by this name."""

from delta_upkeep.cli import main

__all__ = ["main"]

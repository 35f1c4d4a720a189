"""The version of Delta Upkeep: the Python package, the jar and the Maven coordinate share it."""

__version__ = "0.1.0"

"""Runs the statements on one table, in this process or on a Spark Connect server."""

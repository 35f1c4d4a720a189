"""The Spark session that the command line works in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_upkeep.session import configure_spark_with_delta_upkeep


class StartError(RuntimeError):
    """No session: the problem, the cause and the fix."""


def is_set_up() -> bool:
    """Whether spark-submit, or the program that calls us, has decided on the session."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or _is_running()


@contextmanager
def session(settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Take the session that is set up as it is, or else start one with these settings.

    One that was running before is left running.

    Raises:
        StartError: Spark did not start.
    """
    was_running = _is_running()
    builder = SparkSession.builder
    try:
        if not is_set_up():
            # The line that shows how far a statement is stands in the place of Spark's.
            builder.appName("delta-upkeep").config("spark.ui.showConsoleProgress", "false")
            for key, value in settings.items():
                builder.config(key, value)
            configure_spark_with_delta_upkeep(builder)
        spark = builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError) as e:
        raise StartError(f"Spark did not start: {e}") from e
    try:
        yield spark
    finally:
        if not was_running:
            spark.stop()


def _is_running() -> bool:
    # A session that another thread has started is not active in this one.
    return SparkContext._active_spark_context is not None

"""The Spark session of the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_upkeep.session import configure_spark_with_delta_upkeep


class StartError(RuntimeError):
    """Spark did not start."""


def is_set_up() -> bool:
    """Whether spark-submit or the calling program has set the session up."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or _is_running()


@contextmanager
def session(settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Use the session that is set up, or start one with these settings.

    A session that is set up keeps its own settings, and one that was already running is not
    stopped.

    Raises:
        StartError: Spark did not start.
    """
    was_running = _is_running()
    if settings and is_set_up():
        message = f"{', '.join(sorted(settings))} ignored: the session was already set up."
        print(message, file=sys.stderr, flush=True)
    builder = SparkSession.builder
    try:
        if not is_set_up():
            # Delta Upkeep shows a progress line of its own.
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
    # getActiveSession would miss a session that another thread started.
    return SparkContext._active_spark_context is not None

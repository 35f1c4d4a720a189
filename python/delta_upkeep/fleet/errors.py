"""An error of one table, as the summary records it."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from delta_upkeep.fleet.summary import TableError


def error_of(error: Exception) -> TableError:
    """Name the condition of an error, or else its class, and say its message in short."""
    if isinstance(error, PySparkException):
        return TableError(error.getCondition() or type(error).__name__, _first_part(str(error)))
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        condition = _condition_of(thrown) or thrown.getClass().getName()
        return TableError(condition, str(thrown.getMessage()))
    return TableError(type(error).__name__, str(error))


def _condition_of(thrown: Any) -> str | None:
    """PySpark leaves errors of Spark as they come, unless it knows their class."""
    has_one = is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable")
    return thrown.getCondition() if has_one else None


def _first_part(message: str) -> str:
    """Leave out the plan and the stack of the JVM, which Spark puts after the message."""
    return message.split("\n\nJVM stacktrace:")[0].split(";\n")[0].strip()

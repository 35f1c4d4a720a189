"""An error of one table, as the summary records it."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from delta_upkeep.fleet.summary import TableError


def error_of(error: Exception) -> TableError:
    """Name the condition of an error, or else its class, and say its message in short."""
    if isinstance(error, PySparkException):
        return TableError(error.getCondition() or type(error).__name__, _first_part(str(error)))
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        return TableError(thrown.getClass().getName(), str(thrown.getMessage()))
    return TableError(type(error).__name__, str(error))


def _first_part(message: str) -> str:
    """Leave out the plan and the stack of the JVM, which Spark puts after the message."""
    return message.split("\n\nJVM stacktrace:")[0].split(";\n")[0].strip()

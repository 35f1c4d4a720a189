"""Turns the error of one table into an entry of the summary."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from delta_upkeep.fleet.summary import TableError


def error_of(error: Exception) -> TableError:
    """Return the condition of an error, or else its class, and its message without the stack."""
    if isinstance(error, PySparkException):
        return TableError(error.getCondition() or type(error).__name__, _first_part(str(error)))
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        condition = _condition_of(thrown) or thrown.getClass().getName()
        return TableError(condition, str(thrown.getMessage()))
    return TableError(type(error).__name__, str(error))


def _condition_of(thrown: Any) -> str | None:
    """Read the condition of an error whose class PySpark does not convert."""
    has_one = is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable")
    return thrown.getCondition() if has_one else None


def _first_part(message: str) -> str:
    """Cut off the plan and the JVM's stack, which Spark appends to the message."""
    return message.split("\n\nJVM stacktrace:")[0].split(";\n")[0].strip()

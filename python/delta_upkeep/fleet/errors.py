"""Errors of a fleet, and how any error becomes an entry of the summary."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from delta_upkeep.errors import condition_of
from delta_upkeep.fleet.policy import InvalidProperty
from delta_upkeep.fleet.summary import TableError


class NothingFoundError(Exception):
    """No table was found for a pattern or a name. The message has the cause and the fix."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition


def no_table_matches(pattern: str) -> NothingFoundError:
    """Make the error for a pattern that matches no Delta table."""
    return NothingFoundError(
        "NO_TABLE_MATCHES",
        f"No Delta table matches '{pattern}'. Correct the pattern in tables.include, or set "
        "tables.allow_empty = true if it may match nothing.",
    )


def no_metastore(name: str) -> NothingFoundError:
    """Make the error for a name in a session that keeps no tables."""
    return NothingFoundError(
        "NO_METASTORE",
        f"No table is named '{name}': the session has no metastore "
        "(spark.sql.catalogImplementation = in-memory), so it knows no tables of other sessions. "
        "Set spark.sql.catalogImplementation = hive, or name the table by its path.",
    )


def error_of(error: Exception) -> TableError:
    """Return the condition of an error, or else its class, and its message without the stack."""
    if isinstance(error, PySparkException):
        return TableError(condition_of(error) or type(error).__name__, _first_part(str(error)))
    if isinstance(error, (NothingFoundError, InvalidProperty)):
        return TableError(error.condition, str(error))
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        condition = _condition_in_jvm(thrown) or thrown.getClass().getName()
        return TableError(condition, str(thrown.getMessage()))
    return TableError(type(error).__name__, str(error))


def _condition_in_jvm(thrown: Any) -> str | None:
    """Read the condition of an error whose class PySpark does not convert."""
    has_one = is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable")
    return condition_of(thrown) if has_one else None


def _first_part(message: str) -> str:
    """Cut off the plan and the JVM's stack, which Spark appends to the message."""
    return message.split("\n\nJVM stacktrace:")[0].split(";\n")[0].strip()

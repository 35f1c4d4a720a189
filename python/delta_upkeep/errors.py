"""The errors of the statements, as classes by what a caller can do about them.

The methods of :class:`~delta_upkeep.UpkeepTable` raise them. Each error is also the exception of
PySpark that Spark raises for it, an ``AnalysisException``, so ``except AnalysisException`` catches
it too; only ``UNSUPPORTED_SPARK`` is an ``UnsupportedOperationException`` there. Errors of Spark
and Delta themselves stay as they are.

Example:
    >>> try:
    ...     table.maintain()
    ... except errors.ConflictError:
    ...     pass  # The next run does the rest.
    ... except errors.DamagedError as e:
    ...     alert(e.condition)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException

__all__ = [
    "FAMILIES",
    "ConflictError",
    "DamagedError",
    "InternalError",
    "InvalidRequestError",
    "NotSupportedError",
    "StorageError",
    "SwitchedOffError",
    "UpkeepError",
    "by_family",
    "condition_of",
]

# PySpark 3.5 and its Spark call a condition an error class.
_READ_CONDITION = "getCondition" if hasattr(PySparkException, "getCondition") else "getErrorClass"
_PREFIX = "DELTA_UPKEEP."
# On a Spark that is not supported, the condition is only in the message.
_IN_MESSAGE = re.compile(r"\[(DELTA_UPKEEP\.\w+)\]")
# A class for each family and exception of PySpark that were raised together.
_JOINED: dict[tuple[type, type], type[PySparkException]] = {}


class UpkeepError(PySparkException):
    """Any error of Delta Upkeep. The message has the problem, the cause and the fix."""

    @property
    def condition(self) -> str:
        """The condition, such as ``DELTA_UPKEEP.UNKNOWN_OPTION``. It stays across versions."""
        return condition_of(self) or ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        bases = type(self).__bases__
        if _JOINED.get((bases[0], bases[-1])) is not type(self):
            return super().__reduce__()
        return _restored, (*bases, self.args), self.__dict__


class InvalidRequestError(UpkeepError):
    """The statement does not fit the table: a name, an option, a predicate or a clause is wrong.

    Nothing was changed. Correct the call.
    """


class NotSupportedError(UpkeepError):
    """The table, or this Delta or Spark, needs what this version of Delta Upkeep does not have.

    Nothing was changed. Use the versions that the message names, or leave the table out.
    """


class SwitchedOffError(UpkeepError):
    """Delta Upkeep is switched off, in the session or for the table. Nothing was changed."""


class ConflictError(UpkeepError):
    """Other writers changed the table first. Run the statement again.

    Earlier commits of the same statement are complete.
    """


class DamagedError(UpkeepError):
    """A file of the table or of its log is missing or damaged, or Spark cannot read it.

    A retry does not help. The message names the file, and says how to repair the table.
    """


class StorageError(UpkeepError):
    """The file system refused to write to the log or to delete from it.

    Give access, or fix what the message names, and run the statement again.
    """


class InternalError(UpkeepError):
    """A check of Delta Upkeep on its own new files failed, and they were not committed.

    Please report the message.
    """


FAMILIES: Mapping[str, type[UpkeepError]] = {
    "ADAPTIVE_METADATA_TABLE": NotSupportedError,
    "ANALYZE_CONFLICT": ConflictError,
    "CATALOG_MANAGED_TABLE": NotSupportedError,
    "CATALOG_MANAGED_TABLE_BY_PATH": InvalidRequestError,
    "CHECKPOINT_DAMAGED": DamagedError,
    "CHECKPOINT_MISMATCH": DamagedError,
    "CLONE_NOT_READABLE": InvalidRequestError,
    "CLUSTERED_TABLE": InvalidRequestError,
    "COLUMN_WITHOUT_STATISTICS": InvalidRequestError,
    "COMMITS_CLEANED_UP": InvalidRequestError,
    "DATA_FILE_DAMAGED": DamagedError,
    "DATA_FILE_MISSING": DamagedError,
    "DATA_FILE_NOT_DELETED": StorageError,
    "DATA_FILE_UNREADABLE": DamagedError,
    "DUPLICATE_OPTION": InvalidRequestError,
    "EMPTY_NAME": InvalidRequestError,
    "FILES_ELSEWHERE": InvalidRequestError,
    "FORMAT_NEEDS_V2": InvalidRequestError,
    "FSCK_ALL_FILES_GONE": StorageError,
    "FSCK_APPEND_ONLY": InvalidRequestError,
    "FSCK_CONFLICT": ConflictError,
    "FSCK_STORE_UNREACHABLE": StorageError,
    "FULL_NEEDS_CLUSTERING": InvalidRequestError,
    "INVALID_OPTION": InvalidRequestError,
    "INVALID_SORT_ORDER": InvalidRequestError,
    "INVENTORY_NOT_READABLE": InvalidRequestError,
    "INVALID_PREDICATE": InvalidRequestError,
    "LOG_DAMAGED": DamagedError,
    "LOG_DIRECTORY_IS_LINK": StorageError,
    "LOG_FILE_NOT_DELETED": StorageError,
    "LOG_NOT_WRITABLE": StorageError,
    "MISSING_COLUMN": InvalidRequestError,
    "MULTI_PART_ON_V2_TABLE": InvalidRequestError,
    "NEGATIVE_RETENTION": InvalidRequestError,
    "NONDETERMINISTIC_PREDICATE": InvalidRequestError,
    "NON_PARTITION_COLUMN": InvalidRequestError,
    "NO_DELTA_LOG": DamagedError,
    "NOT_A_DELTA_TABLE": InvalidRequestError,
    "OPTIMIZE_CONFLICT": ConflictError,
    "RETENTION_EXCEEDS_LOG": InvalidRequestError,
    "RETENTION_TOO_SHORT": InvalidRequestError,
    "REWRITE_MISMATCH": InternalError,
    "SUBQUERY_IN_PREDICATE": InvalidRequestError,
    "SWITCHED_OFF": SwitchedOffError,
    "TABLE_REPLACED": ConflictError,
    "TIME_TRAVEL_NOT_SUPPORTED": InvalidRequestError,
    "UNBOUND_PARAMETER": InvalidRequestError,
    "UNKNOWN_OPTION": InvalidRequestError,
    "UNSUPPORTED_DELTA": NotSupportedError,
    "UNSUPPORTED_SPARK": NotSupportedError,
    "UNSUPPORTED_TABLE_FEATURE": NotSupportedError,
    "V2_CHECKPOINT_NOT_ENABLED": InvalidRequestError,
    "VIEW_NOT_SUPPORTED": InvalidRequestError,
    "ZORDER_COLUMN": InvalidRequestError,
}
"""The class of each condition, by its name without ``DELTA_UPKEEP.``.

A condition that is not here, of a newer server for example, is an :class:`UpkeepError`.
"""


def condition_of(error: PySparkException) -> str | None:
    """Read the condition of any error of PySpark, in any of its versions.

    Returns:
        Such as ``DELTA_UPKEEP.UNKNOWN_OPTION`` or ``TABLE_OR_VIEW_NOT_FOUND``; None if it has none.
    """
    condition: str | None = getattr(error, _READ_CONDITION)()
    if condition is None and (found := _IN_MESSAGE.match(str(error))):
        return found[1]
    return condition


@contextmanager
def by_family() -> Iterator[None]:
    """Raise the errors of ``spark.sql`` as classes of this module too, inside a ``with`` block.

    Example:
        >>> with errors.by_family():
        ...     spark.sql("OPTIMIZE events")
    """
    try:
        yield
    except PySparkException as e:
        _join_family(e)
        raise


def _join_family(error: PySparkException) -> None:
    condition = condition_of(error)
    if condition is None or not condition.startswith(_PREFIX) or isinstance(error, UpkeepError):
        return
    family = FAMILIES.get(condition[len(_PREFIX) :], UpkeepError)
    # The same error in another class keeps its traceback, its message and its origin in the JVM.
    error.__class__ = _joined(family, type(error))


def _joined(
    family: type[UpkeepError], spark_class: type[PySparkException]
) -> type[PySparkException]:
    if (family, spark_class) not in _JOINED:
        named = {"__module__": family.__module__, "__doc__": family.__doc__}
        _JOINED[family, spark_class] = type(family.__name__, (family, spark_class), named)
    return _JOINED[family, spark_class]


def _restored(
    family: type[UpkeepError], spark_class: type[PySparkException], args: tuple[Any, ...]
) -> PySparkException:
    joined = _joined(family, spark_class)
    return joined.__new__(joined, *args)

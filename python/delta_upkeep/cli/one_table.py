"""One statement on one table, from the command line."""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from collections.abc import Callable
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from delta_upkeep._table.jvm import JvmTable
from delta_upkeep.cli.session import session
from delta_upkeep.fleet.patterns import is_path
from delta_upkeep.health import HealthReport

Command = Callable[[Namespace], int]


def option(text: str) -> tuple[str, str]:
    """Read ``name=value``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is no NAME=VALUE, such as targetFileSize=512m")
    return name, value


def health(arguments: Namespace) -> int:
    """DESCRIBE HEALTH."""
    with session({}) as spark:
        report = HealthReport.of(_open(spark, arguments.table).call("health"))
    if arguments.html:
        report.toHtml(arguments.html)
    print(_json(report.toDict()) if arguments.json else report)
    return 0


def optimize(arguments: Namespace) -> int:
    """OPTIMIZE."""
    where = [arguments.where] if arguments.where else []
    columns = [column.strip() for column in (arguments.zorder or "").split(",") if column.strip()]
    return _statement(arguments, "optimize", where, columns, arguments.full)


def checkpoint(arguments: Namespace) -> int:
    """CHECKPOINT."""
    return _statement(arguments, "checkpoint")


def cleanup(arguments: Namespace) -> int:
    """CLEANUP LOG."""
    return _statement(arguments, "cleanupLog", arguments.retain)


def maintain(arguments: Namespace) -> int:
    """MAINTAIN."""
    return _statement(arguments, "maintain")


def _statement(arguments: Namespace, method: str, *clauses: Any) -> int:
    with session({}) as spark:
        table = _open(spark, arguments.table)
        rows = _values(table.call(method, *clauses, arguments.dry_run, dict(arguments.options)))
    print(_json(rows) if arguments.json else "\n".join(_text(row) for row in rows))
    return 0


def _open(spark: SparkSession, table: str) -> JvmTable:
    return (
        JvmTable.for_path(spark, table, {}) if is_path(table) else JvmTable.for_name(spark, table)
    )


def _values(rows: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in rows.collect()]


def _text(row: dict[str, Any]) -> str:
    """Write a row as lines of a name and a value, without what is null."""
    width = max(len(name) for name in row)
    lines = (f"{name:<{width}}  {_plain(v)}" for name, v in row.items() if v is not None)
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    return json.dumps(value, default=_iso) if isinstance(value, (dict, list)) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, default=_iso)


def _iso(value: date) -> str:
    return value.isoformat()

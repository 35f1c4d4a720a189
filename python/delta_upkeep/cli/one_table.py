"""The commands for one table: each runs one statement."""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from delta_upkeep._report.checks import SEVERITIES
from delta_upkeep._table.gateway import Gateway
from delta_upkeep._table.jvm import JvmTable
from delta_upkeep._table.names import is_path, parts_of
from delta_upkeep._table.statements import Statement
from delta_upkeep.cli.properties import settings_of
from delta_upkeep.cli.session import StartError, session
from delta_upkeep.fleet.errors import no_metastore
from delta_upkeep.fleet.listings import has_metastore
from delta_upkeep.health import HealthReport

Command = Callable[[Namespace], int]

WORK_IS_DUE = 3


def option(text: str) -> tuple[str, str]:
    """Read ``name=value``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE, such as targetFileSize=512m")
    return name, value


def health(arguments: Namespace) -> int:
    """DESCRIBE HEALTH."""
    page: Path | None = arguments.html
    if page is not None and not page.parent.is_dir():
        raise StartError(
            f"The page cannot be written to {page}, because the directory {page.parent} does not "
            "exist. Create it, or name another file in --html."
        )
    with session(settings_of(arguments)) as spark:
        report = HealthReport.of(_open(spark, arguments.table).run(Statement("DESCRIBE HEALTH")))
    if page is not None:
        report.toHtml(page)
    print(_json(report.toDict()) if arguments.format == "json" else report)
    return WORK_IS_DUE if _is_due(report, arguments.fail_on) else 0


def _is_due(report: HealthReport, limit: str | None) -> bool:
    return limit is not None and SEVERITIES.index(report.severity) >= SEVERITIES.index(limit)


def optimize(arguments: Namespace) -> int:
    """OPTIMIZE."""
    statement = Statement(
        "OPTIMIZE",
        full=arguments.full,
        where=(arguments.where,) if arguments.where else (),
        columns=_columns(arguments.zorder),
        dry_run=arguments.dry_run,
        options=_options(arguments),
    )
    return _run(arguments, statement)


def checkpoint(arguments: Namespace) -> int:
    """CHECKPOINT."""
    options = _options(arguments)
    return _run(arguments, Statement("CHECKPOINT", dry_run=arguments.dry_run, options=options))


def cleanup(arguments: Namespace) -> int:
    """CLEANUP LOG."""
    return _run(arguments, _retaining("CLEANUP LOG", arguments))


def vacuum(arguments: Namespace) -> int:
    """VACUUM."""
    return _run(arguments, _retaining("VACUUM", arguments))


def analyze(arguments: Namespace) -> int:
    """ANALYZE."""
    statement = Statement(
        "ANALYZE",
        where=(arguments.where,) if arguments.where else (),
        columns=_columns(arguments.columns),
        dry_run=arguments.dry_run,
        options=_options(arguments),
    )
    return _run(arguments, statement)


def fsck(arguments: Namespace) -> int:
    """FSCK REPAIR TABLE."""
    options = _options(arguments)
    return _run(arguments, Statement("FSCK", dry_run=arguments.dry_run, options=options))


def _columns(names: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in (names or "").split(","))))


def _retaining(kind: Literal["CLEANUP LOG", "VACUUM"], arguments: Namespace) -> Statement:
    return Statement(
        kind,
        retention_hours=arguments.retain,
        dry_run=arguments.dry_run,
        options=_options(arguments),
    )


def maintain(arguments: Namespace) -> int:
    """MAINTAIN."""
    options = _options(arguments)
    return _run(arguments, Statement("MAINTAIN", dry_run=arguments.dry_run, options=options))


def _run(arguments: Namespace, statement: Statement) -> int:
    with session(settings_of(arguments)) as spark:
        rows = _values(_open(spark, arguments.table).run(statement))
    print(_json(rows) if arguments.format == "json" else "\n".join(_text(row) for row in rows))
    return 0


def _options(arguments: Namespace) -> dict[str, str]:
    names = [name.lower() for name, _ in arguments.options]
    for name in names:
        if names.count(name) > 1:
            raise StartError(f"--option {name} is given twice. Give it once.")
    return dict(arguments.options)


def _open(spark: SparkSession, table: str) -> Gateway:
    if is_path(table):
        return JvmTable.for_path(spark, table, {})
    if not spark.catalog.tableExists(table) and _is_kept_in_memory(spark, table):
        raise no_metastore(table)
    return JvmTable.for_name(spark, table)


def _is_kept_in_memory(spark: SparkSession, name: str) -> bool:
    parts = [part.text for part in parts_of(name)]
    if len(parts) == 2 and parts[0].lower() == "delta":
        return False  # delta.`/path`
    catalog = parts[0] if len(parts) > 2 else spark.catalog.currentCatalog()
    return not has_metastore(spark, catalog)


def _values(rows: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in rows.collect()]


def _text(row: dict[str, Any]) -> str:
    """Write a row as lines of names and values; leave nulls out."""
    width = max(len(name) for name in row)
    lines = (f"{name:<{width}}  {_plain(v)}" for name, v in row.items() if v is not None)
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    return json.dumps(value, default=_iso) if isinstance(value, (dict, list)) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, default=_iso)


def _iso(value: date) -> str:
    return value.isoformat()

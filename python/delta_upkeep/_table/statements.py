"""Writes the statements as SQL, for sessions without a JVM. All values are quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from delta_upkeep._table.names import MalformedName, parts_of, quoted

_WORD = re.compile(r"\w+")


def name(text: str) -> str:
    """Quote a name of several parts.

    Raises:
        ValueError: The text is not a name.
    """
    try:
        parts = parts_of(text.strip())
    except MalformedName as e:
        raise _not_a_name(text) from e
    if not all(part.is_quoted or _WORD.fullmatch(part.text) for part in parts):
        raise _not_a_name(text)
    return ".".join(quoted(part.text) for part in parts)


def _not_a_name(text: str) -> ValueError:
    return ValueError(
        f"'{text}' is not a name. Give parts of letters, digits and underscores with dots "
        "between them, and put parts with other characters in backquotes."
    )


def string(text: str) -> str:
    """Write a text as an SQL literal."""
    # Spark substitutes variables, such as ${a}, before it parses a statement.
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def optimize(
    target: str,
    where: Sequence[str],
    z_order_by: Sequence[str],
    full: bool,
    dry_run: bool,
    options: Mapping[str, str],
) -> str:
    """Write OPTIMIZE; all conditions have to hold."""
    columns = ", ".join(map(name, z_order_by))
    return _joined(
        f"OPTIMIZE {target}",
        "FULL" if full else "",
        "WHERE " + " AND ".join(f"({condition})" for condition in where) if where else "",
        f"ZORDER BY ({columns})" if z_order_by else "",
        _end(dry_run, options),
    )


def checkpoint(target: str, dry_run: bool, options: Mapping[str, str]) -> str:
    """Write CHECKPOINT."""
    return _joined(f"CHECKPOINT {target}", _end(dry_run, options))


def cleanup_log(
    target: str, retention_hours: float | None, dry_run: bool, options: Mapping[str, str]
) -> str:
    """Write CLEANUP LOG; None stands for the table's own retention."""
    retain = "" if retention_hours is None else f"RETAIN {retention_hours:f} HOURS"
    return _joined(f"CLEANUP LOG {target}", retain, _end(dry_run, options))


def health(target: str) -> str:
    """Write DESCRIBE HEALTH."""
    return f"DESCRIBE HEALTH {target}"


def maintain(target: str, dry_run: bool, options: Mapping[str, str]) -> str:
    """Write MAINTAIN."""
    return _joined(f"MAINTAIN {target}", _end(dry_run, options))


def _end(dry_run: bool, options: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{string(key)} = {string(value)}" for key, value in options.items())
    return _joined("DRY RUN" if dry_run else "", f"OPTIONS ({pairs})" if pairs else "")


def _joined(*clauses: str) -> str:
    return " ".join(filter(None, clauses))

"""The statements as SQL text, for sessions that have no JVM of their own. Values are quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_PART = r"`(?:[^`]|``)+`|\w+"
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


def name(text: str) -> str:
    """Quote a name of several parts.

    Raises:
        ValueError: It is not such a name.
    """
    if not _NAME.fullmatch(text.strip()):
        raise ValueError(
            f"'{text}' is not a name. Give parts of letters, digits and underscores with dots "
            "between them, and put parts with other characters in backquotes."
        )
    parts = re.findall(_PART, text)
    return ".".join(part if part.startswith("`") else f"`{part}`" for part in parts)


def string(text: str) -> str:
    """Write a text as a literal of SQL."""
    # A dollar sign may begin a variable, which Spark puts in before it parses.
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
    """OPTIMIZE; all conditions have to hold."""
    columns = ", ".join(map(name, z_order_by))
    return _joined(
        f"OPTIMIZE {target}",
        "FULL" if full else "",
        "WHERE " + " AND ".join(f"({condition})" for condition in where) if where else "",
        f"ZORDER BY ({columns})" if z_order_by else "",
        _end(dry_run, options),
    )


def checkpoint(target: str, dry_run: bool, options: Mapping[str, str]) -> str:
    """CHECKPOINT."""
    return _joined(f"CHECKPOINT {target}", _end(dry_run, options))


def cleanup_log(
    target: str, retention_hours: float | None, dry_run: bool, options: Mapping[str, str]
) -> str:
    """CLEANUP LOG; None for the table's own retention."""
    retain = "" if retention_hours is None else f"RETAIN {retention_hours:f} HOURS"
    return _joined(f"CLEANUP LOG {target}", retain, _end(dry_run, options))


def health(target: str) -> str:
    """DESCRIBE HEALTH."""
    return f"DESCRIBE HEALTH {target}"


def maintain(target: str, dry_run: bool, options: Mapping[str, str]) -> str:
    """MAINTAIN."""
    return _joined(f"MAINTAIN {target}", _end(dry_run, options))


def _end(dry_run: bool, options: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{string(key)} = {string(value)}" for key, value in options.items())
    return _joined("DRY RUN" if dry_run else "", f"OPTIONS ({pairs})" if pairs else "")


def _joined(*clauses: str) -> str:
    return " ".join(filter(None, clauses))

"""A statement as a value: the JVM takes the value, and a Spark Connect server takes its SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from delta_upkeep._table.names import MalformedName, parts_of, quoted_name

Kind = Literal[
    "OPTIMIZE",
    "CHECKPOINT",
    "CLEANUP LOG",
    "VACUUM",
    "ANALYZE",
    "FSCK",
    "DESCRIBE HEALTH",
    "MAINTAIN",
]

_WORD = re.compile(r"\w+")
_DIRECTION = re.compile(r"\s+(asc|desc)$", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """A statement on one table. Each kind has only some of the clauses.

    Attributes:
        kind: The words that the statement begins with.
        full: Whether to put every file in order again.
        where: Conditions on partition columns, all of which must be true.
        columns: Their names: of ZORDER BY, or those that ANALYZE is for.
        order_by: Columns of ORDER BY, with ``DESC`` behind those that have it.
        retention_hours: Hours of history to keep; None means the table's own retention.
        dry_run: Whether to return the plan and do nothing.
        options: The options, with values as in SQL.
    """

    kind: Kind
    full: bool = False
    where: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    retention_hours: float | None = None
    dry_run: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def sql(self, target: str) -> str:
        """Write the statement for a table whose name or path is already quoted.

        Raises:
            ValueError: One of ``columns`` or ``order_by`` is not a name.
        """
        columns = ", ".join(map(name, self.columns))
        keys = ", ".join(map(sort_key, self.order_by))
        conditions = " AND ".join(f"({condition})" for condition in self.where)
        pairs = ", ".join(f"{string(key)} = {string(value)}" for key, value in self.options.items())
        is_analyze = self.kind == "ANALYZE"
        clauses = [
            self._start(target),
            f"FOR COLUMNS ({columns})" if columns and is_analyze else "",
            "FULL" if self.full else "",
            f"WHERE {conditions}" if conditions else "",
            f"ZORDER BY ({columns})" if columns and not is_analyze else "",
            f"ORDER BY ({keys})" if keys else "",
            "" if self.retention_hours is None else f"RETAIN {self.retention_hours:f} HOURS",
            "DRY RUN" if self.dry_run else "",
            # Without it, the statement is Delta's.
            f"OPTIONS ({pairs})" if pairs or self.kind == "VACUUM" else "",
        ]
        return " ".join(filter(None, clauses))

    def _start(self, target: str) -> str:
        if self.kind == "ANALYZE":
            return f"ANALYZE TABLE {target} COMPUTE DELTA STATISTICS"
        return f"{'FSCK REPAIR TABLE' if self.kind == 'FSCK' else self.kind} {target}"


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
    return quoted_name(parts)


def sort_key(text: str) -> str:
    """Quote the name in a key such as ``b DESC``.

    Raises:
        ValueError: The text is not a name, with or without a direction.
    """
    match = _DIRECTION.search(text.rstrip())
    if match is None:
        return name(text)
    return f"{name(text[: match.start()])} {match[1].upper()}"


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

"""Rows as Parquet stores them: by leaf columns, values as it orders them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

from foreign.extremes import WIDE
from foreign.types import EPOCH

Entries = list[list[Any]]


def leaves_of(rows: list[dict[str, Any]], schema: pa.Schema) -> Iterator[Entries]:
    """Shred the rows: for every leaf column, what each row stores in it, nulls as None."""
    for f in schema:
        yield from _shred([[row[f.name]] for row in rows], f.type)


def _shred(entries: Entries, kind: pa.DataType) -> Iterator[Entries]:
    if pa.types.is_struct(kind):
        for f in kind:
            yield from _shred([[v and v[f.name] for v in row] for row in entries], f.type)
    elif pa.types.is_map(kind):
        for side, child in ((0, kind.key_type), (1, kind.item_type)):
            yield from _shred(
                [
                    [x for v in row for x in ([i[side] for i in v] if v else [None])]
                    for row in entries
                ],
                child,
            )
    elif pa.types.is_list(kind):
        yield from _shred(
            [[x for v in row for x in (v or [None])] for row in entries], kind.value_type
        )
    else:
        yield [[None if v is None else stored(v, kind) for v in row] for row in entries]


def stored(value: Any, kind: pa.DataType) -> Any:
    """Give a value as Parquet orders it: integers, floats, bytes."""
    if isinstance(value, Decimal):
        return int(value.scaleb(kind.scale, WIDE))
    if isinstance(value, datetime):
        return micros(value) // (1000 if kind.unit == "ms" else 1)
    if isinstance(value, date):
        return (value - EPOCH.date()).days
    return value.encode() if isinstance(value, str) else value


def micros(value: datetime) -> int:
    """Count the microseconds since 1970."""
    naive = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return (naive - EPOCH) // timedelta(microseconds=1)

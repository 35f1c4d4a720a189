"""The log's statistics of a file, against the rows of the file."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any

from pyspark.sql import types as t

from foreign.checks.shredded import micros
from foreign.readers import by_pyarrow
from foreign.rows import leaves_of, order, python_columns
from foreign.table import ForeignTable
from foreign.types import EPOCH
from foreign.values import as_float


def check_log_stats(table: ForeignTable, add: dict[str, Any]) -> None:
    """Check the statistics of one add action against the rows of its file."""
    rows = by_pyarrow(table.file_of(add))
    stats = json.loads(add["stats"], parse_float=Decimal)
    assert stats["numRecords"] == rows.num_rows
    schema = table.physical_schema()
    for path, kind, values in leaves_of(schema, python_columns(rows, schema)):
        found = [value for value in values if value is not None]
        nulls, low, high = (
            reduce(lambda node, name: node.get(name) if node else None, path, stats.get(key))
            for key in ("nullCount", "minValues", "maxValues")
        )
        assert nulls in (None, len(values) - len(found)), (path, nulls, len(values) - len(found))
        assert found or (low, high) == (None, None), (path, low, high)
        keys = [_key(value, kind) for value in found]
        if low is not None:
            assert _key(_parsed(low, kind), kind) <= min(keys), (path, "min", low, min(keys))
        if high is not None:
            assert _key(_parsed(high, kind), kind) >= max(keys), (path, "max", high, max(keys))


def _key(value: Any, kind: t.DataType) -> Any:
    """Give the order of Delta, which is Spark's, but has times by the millisecond."""
    is_time = isinstance(kind, (t.TimestampType, t.TimestampNTZType))
    return value // 1000 if is_time else order(value)


def _parsed(text: Any, kind: t.DataType) -> Any:
    """Read a bound of the log as `python_columns` gives values."""
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        # Floats are written with the digits that a float needs.
        return as_float(float(text), kind)
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        return micros(datetime.fromisoformat(text.replace("Z", "+00:00")))
    if isinstance(kind, t.DateType):
        return (date.fromisoformat(text) - EPOCH.date()).days
    return Decimal(text) if isinstance(kind, t.DecimalType) else text

"""The types of leaves of new files, against those of old files and of the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as t

from foreign.types import arrow_type


def check_types(schema: t.StructType, old: Iterable[str], new: Iterable[str]) -> None:
    """Check that each leaf of new files has a type that it had before, or that of the table."""
    known: dict[str, set[str]] = {}
    for name, kind in _leaf_types(pa.schema([(f.name, arrow_type(f.dataType)) for f in schema])):
        known.setdefault(name, set()).add(kind)
    for file in old:
        for name, kind in _leaf_types(pq.read_schema(file)):
            known.setdefault(name, set()).add(kind)
    for file in new:
        for name, kind in _leaf_types(pq.read_schema(file)):
            # Delta 4.4 stores partition columns too.
            of_table = known.get(name, {kind})
            assert kind in of_table, f"{file}: {name} is {kind}, and was {of_table}"


def _leaf_types(fields: Iterable[pa.Field], above: str = "") -> Iterator[tuple[str, str]]:
    for f in fields:
        name = f"{above}.{f.name}".lower()
        if pa.types.is_struct(f.type):
            yield from _leaf_types(f.type, name)
        elif pa.types.is_map(f.type):
            inner = [pa.field("key", f.type.key_type), pa.field("value", f.type.item_type)]
            yield from _leaf_types(inner, name)
        elif pa.types.is_list(f.type):
            yield from _leaf_types([pa.field("element", f.type.value_type)], name)
        else:
            yield name, str(f.type)

"""Readers of a table that know nothing of us, each by columns and by filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from deltalake import DeltaTable as DeltaRs
from deltalake import QueryBuilder
from pyspark.sql import types as t

from foreign.checks.answers import COUNT_IN_FILE
from foreign.filters import Filter
from foreign.pushed import count_by_delta_rs, count_by_polars
from foreign.rows import canonical, python_columns
from foreign.strangers import FILE_READERS, ReadFile, panics
from torture.java_reader import JavaReader


@dataclass(frozen=True)
class Place:
    """The files of one bin of a table, at one version."""

    table: Path
    version: int
    bin: str
    files: tuple[str, ...]


class Reader(Protocol):
    def columns(self, place: Place, schema: t.StructType) -> list[list[Any]]:
        """Read some columns: numbers for dates and times, as `python_columns` gives them."""
        ...

    def count(self, place: Place, f: Filter) -> int | None:
        """Count what a filter leaves; None where the reader has no such filter."""
        ...


@dataclass(frozen=True)
class OfFiles:
    """Reads one file after the other."""

    read: Callable[[str, t.StructType], list[list[Any]]]
    count_one: Callable[[str, Filter], int | None]

    def columns(self, place: Place, schema: t.StructType) -> list[list[Any]]:
        found: list[list[Any]] = [[] for _ in schema.fields]
        for file in place.files:
            for all_of, more in zip(found, self.read(file, schema), strict=True):
                all_of += more
        return found

    def count(self, place: Place, f: Filter) -> int | None:
        counts = [self.count_one(file, f) for file in place.files]
        return None if None in counts else sum(map(int, filter(None, counts)))


def _by_arrow(read: ReadFile) -> Callable[[str, t.StructType], list[list[Any]]]:
    return lambda file, schema: python_columns(read(file, schema.fieldNames()), schema)


class OfTables:
    """delta-rs, which finds the files by the log."""

    @staticmethod
    @lru_cache(maxsize=4)
    def _query(table: Path, version: int) -> QueryBuilder:
        return QueryBuilder().register("t", DeltaRs(str(table), version=version))

    def columns(self, place: Place, schema: t.StructType) -> list[list[Any]]:
        names = ", ".join(f'"{name}"' for name in schema.fieldNames())
        query = f"SELECT {names} FROM t WHERE bin = '{place.bin}'"
        rows = pa.table(self._query(place.table, place.version).execute(query))
        return python_columns(rows, schema)

    def count(self, place: Place, f: Filter) -> int | None:
        query = self._query(place.table, place.version)
        return count_by_delta_rs(query, f"bin = '{place.bin}'", f)


def readers_of(java: JavaReader) -> dict[str, Reader]:
    counts = {**COUNT_IN_FILE, "polars": count_by_polars}
    return {
        **{name: OfFiles(_by_arrow(read), counts[name]) for name, read in FILE_READERS.items()},
        "parquet-java": OfFiles(java.columns, java.count),
        "delta-rs": OfTables(),
    }


Texts = dict[str, list[str]]  # of every column, by the ids of the rows


def read_columns(
    reader: Reader, place: Place, schema: t.StructType
) -> tuple[Texts, dict[str, str]]:
    """Read all columns at once, or each with the ids; give those that cannot be read an error."""
    try:
        with panics():
            return texts_of(reader.columns(place, schema), schema), {}
    except Exception as e:
        fields = [f for f in schema.fields if f.name != "id"]
        if len(fields) == 1:
            return {}, {fields[0].name: str(e)}
    found: Texts = {}
    errors: dict[str, str] = {}
    for f in fields:
        texts, error = read_columns(reader, place, t.StructType([schema["id"], f]))
        found |= texts
        errors |= error
    return found, errors


def texts_of(columns: list[list[Any]], schema: t.StructType) -> Texts:
    ids = columns[schema.fieldNames().index("id")]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    return {
        f.name: [repr(canonical(column[i], f.dataType)) for i in order]
        for f, column in zip(schema.fields, columns, strict=True)
    }

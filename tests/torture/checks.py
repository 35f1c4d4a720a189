"""What must hold before and after each statement."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as fn
from pyspark.sql import types as t

from foreign.filters import Filter, counts, draw_filters
from foreign.readers import OF_ONE_BLOCK
from foreign.rows import Rows, difference, python_columns, rows_of
from support.sessions import session_conf
from torture.reading import strangers_of
from torture.tables import Table

CASE_SENSITIVE = "spark.sql.caseSensitive"
CODEC = "spark.sql.parquet.compression.codec"


class Broken(Exception):
    """A statement changed what a reader sees, or failed although it must not."""


@dataclass
class Seen:
    """A table as readers saw it at one version."""

    table: Table
    version: int
    schema: t.StructType
    rows: Rows
    in_files: Rows
    filters: list[tuple[Filter, int]]
    ids: Rows | None  # the rows with their ids, where the table has them
    told_by_case: bool = False  # the session tells names apart by case, and reads these rows too
    strangers: dict[str, tuple[Callable[[], Rows], Rows]] = field(default_factory=dict)
    # Readers that know no deletion vector, and read the table where it has none.
    without_vectors: dict[str, tuple[Callable[[], Rows], Rows]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, rng: random.Random, tally: Counter[str]) -> Seen:
        """Look at a table; readers that see something else than Spark stay out."""
        schema = table.frame().schema
        columns = columns_of(table, schema)
        rows = rows_of(columns, schema)
        held = [i for i, name in enumerate(schema.names) if name not in table.partition_columns()]
        in_files = rows_of([columns[i] for i in held], t.StructType([schema[i] for i in held]))
        filters = draw_filters(schema, columns, rng, 10)
        version, ids = table.version(), rows_with_ids(table)
        seen = cls(table, version, schema, rows, in_files, filters, ids)
        if table.spark.conf.get(CASE_SENSITIVE) == "true":
            seen.told_by_case = rows_by_case(table, schema) == rows
            tally[f"case: the session reads {'so' if seen.told_by_case else 'otherwise'}"] += 1
        for name, read in strangers_of(table, schema).items():
            try:
                found = read()
            except Exception as e:  # whatever it cannot read
                table.draft.notes.append(f"{name} cannot read: {e!s:.200}")
                tally[f"{name}: cannot read"] += 1
                continue
            if found != seen.rows_for(name):
                tally[f"{name}: reads otherwise than Spark"] += 1
                continue
            tally[f"{name}: reads"] += 1
            seen.strangers[name] = (read, found)
        return seen

    def rows_for(self, name: str) -> Rows:
        """Give what a reader should find."""
        return self.rows if name == "delta-rs" else self.in_files

    def with_those_of(self, before: Seen) -> Seen:
        """Let in readers of the table before rows were hidden, once none is any more."""
        self.without_vectors = {
            name: (read, self.rows_for(name)) for name, (read, _) in before.strangers.items()
        }
        return self

    def check_rows(self, statement: str) -> None:
        """Compare the rows that Delta on Spark reads now."""
        frame = self.table.frame()
        if frame.schema != self.schema:
            raise Broken(f"{statement}: schema {frame.schema} instead of {self.schema}")
        told = difference(self.rows, rows_of(columns_of(self.table, self.schema), self.schema))
        if told:
            raise Broken(f"{statement}: Spark reads other rows: {told}")
        if self.told_by_case:
            told = difference(self.rows, rows_by_case(self.table, self.schema))
            if told:
                raise Broken(f"{statement}: by case, Spark reads other rows: {told}")
        if self.ids is not None:
            ids = rows_with_ids(self.table)
            told = "none" if ids is None else difference(self.ids, ids)
            if told:
                raise Broken(f"{statement}: rows have other ids or commit versions: {told}")

    def check_filters(self, statement: str) -> None:
        """Count what filters find; a count that was wrong before may stay so, or come nearer."""
        try:
            found = counts(self.table.frame(), [f for f, _ in self.filters])
        except (Py4JJavaError, PySparkException):
            self.filters = [(f, truth) for f, truth in self.filters if self._worked(f)]
            found = counts(self.table.frame(), [f for f, _ in self.filters])
        for (f, truth), now in zip(self.filters, found, strict=True):
            # Where Spark fails on one file, it may have counted wrong on the others.
            if now == truth or not self._worked(f):
                continue
            (before,) = counts(self.table.frame(self.version), [f])
            if not min(before, truth) <= now <= max(before, truth):
                raise Broken(
                    f"{statement}: {f} finds {now} rows, not {truth}; before it found {before}"
                )

    def _worked(self, f: Filter) -> bool:
        """Whether Spark could apply a filter before.

        It cannot compare a decimal with one of more bytes than values take in a file that was
        written before the column was widened.
        """
        try:
            counts(self.table.frame(self.version), [f])
        except (Py4JJavaError, PySparkException):
            return False
        return True

    def check_strangers(self, statement: str) -> None:
        """Compare the rows that others read now."""
        late = {} if self.table.has_vectors() else self.without_vectors
        for name, (read, before) in (self.strangers | late).items():
            try:
                now = read()
            except Exception as e:
                if self.table.spark.conf.get(CODEC) == "lz4" and name in OF_ONE_BLOCK:
                    continue
                raise Broken(f"{statement}: {name} no longer reads the table: {e}") from e
            told = difference(before, now)
            if told:
                raise Broken(f"{statement}: {name} reads other rows: {told}")


def columns_of(table: Table, schema: t.StructType) -> list[list[Any]]:
    """Read a table as Delta resolves names, which is without case, whatever the session does."""
    with session_conf(table.spark, {CASE_SENSITIVE: "false"}):
        return python_columns(table.frame().toArrow(), schema)


def rows_by_case(table: Table, schema: t.StructType) -> Rows:
    """Read a table where names of another case are other names."""
    with session_conf(table.spark, {CASE_SENSITIVE: "true"}):
        return rows_of(python_columns(table.frame().toArrow(), schema), schema)


def rows_with_ids(table: Table) -> Rows | None:
    """Count the rows with their ids and the versions of their last change, as Delta reads them."""
    if not table.tracks_rows():
        return None
    metadata = [
        fn.col(f"_metadata.{name}").alias(f"its {name}")
        for name in ("row_id", "row_commit_version")
    ]
    with session_conf(table.spark, {CASE_SENSITIVE: "false"}):
        frame = table.frame().select(*metadata, "*")
        return rows_of(python_columns(frame.toArrow(), frame.schema), frame.schema)

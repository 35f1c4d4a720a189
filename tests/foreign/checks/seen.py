"""A table as its readers see it before a statement, and must see it afterwards."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import types as t

from foreign.checks import Broken
from foreign.checks.answers import Asked, ask_files, ask_spark, check_answers
from foreign.filters import draw_filters
from foreign.readers import OF_ONE_BLOCK
from foreign.rows import Rows, difference, python_columns, rows_of
from foreign.strangers import panics, rows_in, strangers_of, told_by_files, with_ids
from foreign.table import ForeignTable
from support.sessions import as_arrow, session_conf

CASE_SENSITIVE = "spark.sql.caseSensitive"
CODEC = "spark.sql.parquet.compression.codec"
OTHERWISE = "reads otherwise than Spark"
Read = Callable[[], Rows]


class CannotRead(Exception):
    """Spark itself cannot read a table as it was written."""


@dataclass
class Seen:
    """A table as readers saw it at one version."""

    table: ForeignTable
    schema: t.StructType
    rows: Rows
    in_files: Rows  # of the columns that readers of files tell
    ids: Rows | None  # the rows with their ids, where the table has them
    told_by_case: bool  # the session tells names apart by case, and reads these rows too
    strangers: dict[str, tuple[Read, Rows]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    # Readers that know no deletion vector, and read the table where it has none.
    without_vectors: dict[str, tuple[Read, Rows]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: ForeignTable,
        rng: random.Random,
        tally: Counter[str],
        notes: list[str],
        filters: int = 10,
        ask: Iterable[str] = (),
    ) -> Seen:
        """Look at a table.

        Args:
            table: The table.
            rng: Draws the filters.
            tally: Counts who reads it, and how.
            notes: Gets the reasons of those who do not.
            filters: How many to draw at most.
            ask: The readers of files that count what filters find, beside Spark.
        """
        try:
            schema = table.frame().schema
            read = arrow_of(table, by_case=False)
        except Exception as e:
            raise CannotRead(str(e)[:300]) from e
        columns = python_columns(read, schema)
        rows = rows_of(columns, schema)
        drawn = draw_filters(schema, columns, rng, filters) if table.adds() else []
        told_by_case = table.spark.conf.get(CASE_SENSITIVE) == "true"
        if told_by_case:
            told_by_case = rows_by_spark(table, by_case=True) == rows
            tally[f"case: the session reads {'so' if told_by_case else 'otherwise'}"] += 1
        told = told_by_files(table, schema)
        in_files = rows_of([columns[schema.names.index(name)] for name in told.names], told)
        seen = cls(table, schema, rows, in_files, rows_with_ids(table), told_by_case)
        strangers = strangers_of(table, schema)
        expected = {name: seen.rows_for(name) for name in strangers}
        seen.strangers = readable(strangers, expected, tally, notes)
        seen.asked = ask_spark(table, drawn)
        tally["spark: cannot filter"] += len(drawn) - len(seen.asked)
        for name in ask:
            if name in seen.strangers:
                seen.asked += ask_files(table, name, drawn)
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
        schema = self.table.frame().schema
        if schema != self.schema:
            raise Broken(f"{statement}: schema {schema} instead of {self.schema}")
        same_rows(f"{statement}: Spark", self.rows, rows_by_spark(self.table))
        if self.told_by_case:
            now = rows_by_spark(self.table, by_case=True)
            same_rows(f"{statement}: by case, Spark", self.rows, now)
        if self.ids is not None:
            ids = rows_with_ids(self.table)
            told = "none" if ids is None else difference(self.ids, ids)
            if told:
                raise Broken(f"{statement}: rows have other ids or commit versions: {told}")

    def check_filters(self, statement: str) -> None:
        """Count what filters find."""
        check_answers(self.table, self.asked, statement)

    def check_strangers(self, statement: str) -> None:
        """Compare the rows that others read now."""
        late = {} if self.table.has_vectors() else self.without_vectors
        is_lz4 = self.table.spark.conf.get(CODEC) == "lz4"
        check_strangers(statement, self.strangers | late, OF_ONE_BLOCK if is_lz4 else ())


def readable(
    strangers: Mapping[str, Read],
    expected: Mapping[str, Rows] | None,
    tally: Counter[str],
    notes: list[str],
) -> dict[str, tuple[Read, Rows]]:
    """Read by all; those that cannot, or see something else than Spark, stay out."""
    found = {}
    for name, read in strangers.items():
        try:
            with panics():
                rows = read()
        except Exception as e:  # whatever it cannot read
            notes.append(f"{name} cannot read: {e!s:.200}")
            tally[f"{name}: cannot read"] += 1
            continue
        if expected is not None and rows != expected[name]:
            tally[f"{name}: {OTHERWISE}"] += 1
            continue
        tally[f"{name}: reads"] += 1
        found[name] = (read, rows)
    return found


def check_strangers(
    statement: str, strangers: Mapping[str, tuple[Read, Rows]], may_fail: Iterable[str] = ()
) -> None:
    """Compare the rows that others read now."""
    for name, (read, before) in strangers.items():
        try:
            with panics():
                now = read()
        except Exception as e:
            if name in may_fail:
                continue
            raise Broken(f"{statement}: {name} no longer reads the table: {e}") from e
        same_rows(f"{statement}: {name}", before, now)


def same_rows(reader: str, before: Rows, after: Rows) -> None:
    told = difference(before, after)
    if told:
        raise Broken(f"{reader} reads other rows: {told}")


def arrow_of(table: ForeignTable, by_case: bool) -> pa.Table:
    """Read a table as Delta resolves names, which is without case, or as other names by case."""
    with session_conf(table.spark, {CASE_SENSITIVE: str(by_case).lower()}):
        return as_arrow(table.frame())


def rows_by_spark(table: ForeignTable, by_case: bool = False) -> Rows:
    schema = table.frame().schema
    return rows_of(python_columns(arrow_of(table, by_case), schema), schema)


def rows_with_ids(table: ForeignTable) -> Rows | None:
    """Read the rows with their ids, where the table has them."""
    if not table.tracks_rows():
        return None
    with session_conf(table.spark, {CASE_SENSITIVE: "false"}):
        return rows_in(with_ids(table.frame()))

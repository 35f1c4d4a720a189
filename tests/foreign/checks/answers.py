"""What filters find, before and after a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from foreign.checks import Broken
from foreign.filters import Drawn, Filter, counts
from foreign.pushed import count_by_duckdb, count_by_pyarrow
from foreign.table import ForeignTable

COUNT_IN_FILE: dict[str, Callable[[str, Filter], int]] = {
    "pyarrow": count_by_pyarrow,
    "duckdb": count_by_duckdb,
}
CANNOT_ASK = (pa.ArrowException, duckdb.Error, TypeError)


@dataclass(frozen=True)
class Asked:
    """A filter and how many rows a reader may find: the truth, and what it found before."""

    reader: str
    filter: Filter
    counts: tuple[int, ...]
    partition: str | None = None

    def allows(self, now: int | None) -> bool:
        """Tell whether a count that was wrong before stayed so, or came nearer to the truth."""
        return now is not None and min(self.counts) <= now <= max(self.counts)


def ask_spark(table: ForeignTable, drawn: Sequence[Drawn]) -> list[Asked]:
    """Have Spark count before, which it does wrong for bounds that leave out NaN."""
    try:
        before = counts(table.frame(), [d.filter for d in drawn])
    except (Py4JJavaError, PySparkException):
        # It cannot compare a decimal with one of more bytes than values take in a file that was
        # written before the column was widened.
        return [a for d in drawn if len(drawn) > 1 for a in ask_spark(table, [d])]
    return [
        # It looks for one zero in a dictionary, and not for the other.
        Asked("spark", d.filter, (n, d.count, d.count - d.zeros))
        for d, n in zip(drawn, before, strict=True)
    ]


def ask_files(
    table: ForeignTable, reader: str, drawn: Iterable[Drawn], partition: str | None = None
) -> list[Asked]:
    """Have a reader of files count before; a filter that it does not have is left out."""
    asked = []
    of_files = set(table.physical_schema().names)
    for d in drawn:
        if d.filter.path[0] in of_files:
            try:
                before = _count(table, reader, d.filter, partition)
            except CANNOT_ASK:
                continue
            asked.append(Asked(reader, d.filter, (before, *d.truths()), partition))
    return asked


def check_answers(table: ForeignTable, asked: Sequence[Asked], statement: str) -> None:
    """Count once more."""
    of_spark = [a for a in asked if a.reader == "spark"]
    others = [a for a in asked if a.reader != "spark"]
    answers = counts(table.frame(), [a.filter for a in of_spark])
    answers += [_count(table, a.reader, a.filter, a.partition) for a in others]
    for a, now in zip([*of_spark, *others], answers, strict=True):
        if not a.allows(now):
            raise Broken(f"{statement}: {a} finds {now} rows")


def _count(table: ForeignTable, reader: str, f: Filter, partition: str | None) -> int:
    found = 0
    for add in table.adds(partition).values():
        file = table.file_of(add)
        names, rows = _columns_and_rows(file)
        name = names.get(f.path[0].lower())
        if name is not None:
            found += COUNT_IN_FILE[reader](file, replace(f, path=(name, *f.path[1:])))
        elif f.operator == "null":
            found += rows
    return found


@cache
def _columns_and_rows(file: str) -> tuple[dict[str, str], int]:
    """Give the columns of a file by their names in lower case, and the number of its rows."""
    footer = pq.ParquetFile(file)
    return {name.lower(): name for name in footer.schema_arrow.names}, footer.metadata.num_rows

"""What OPTIMIZE must keep, and what its files and their statistics must say."""

from __future__ import annotations

import json
import math
import random
import struct
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from functools import cache, partial, reduce
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Row
from pyspark.sql import types as t

from foreign.filters import Filter, counts, draw_filters
from foreign.pushed import count_by_duckdb, count_by_pyarrow
from foreign.readers import by_pyarrow
from foreign.rows import Rows, python_columns
from foreign.table import ForeignTable, Unread, canonical_rows
from foreign.types import EPOCH, arrow_type
from support.page_index import PageIndex, read_page_index
from support.sessions import as_arrow, session_conf

_WIDE = Context(prec=60)


MOST_FILTERS = 12


class CannotRead(Exception):
    """Spark itself cannot read a table's files as they were written."""


@dataclass(frozen=True)
class Outcome:
    """What OPTIMIZE did, for tests that ask for more."""

    row: Row
    files: list[str]
    tiers: Counter[str] = field(default_factory=Counter)


def optimize_and_check(
    table: ForeignTable,
    conf: dict[str, str] | None = None,
    options: str = "",
    seed: int = 0,
) -> Outcome:
    """Run OPTIMIZE and check all that this module knows."""
    with session_conf(table.spark, conf or {}):
        try:
            frame = table.frame()
            rows = as_arrow(frame)
        except Exception as e:
            raise CannotRead(str(e)[:300]) from e
        strangers = readable(table)
        old = table.adds()
        drawn = draw(frame.schema, rows, random.Random(seed), MOST_FILTERS) if old else []
        asked = ask_spark(table, drawn)
        for name in strangers:
            asked += ask(table, name, drawn, rows)
        unindexed = chunks_without_index(table.file_of(add) for add in old.values())
        row = table.spark.sql(f"OPTIMIZE {table.sql_name} {options}").first()
        assert {b.status for b in row.bins} <= {"committed", "left"}
        new = {path: add for path, add in table.adds().items() if path not in old}
        assert len(new) == row.metrics.numFilesAdded
        by_spark = canonical_rows(rows, frame.schema, {})
        assert_same_rows("spark", by_spark, table.rows_by_spark())
        for name, (read, before) in strangers.items():
            assert_same_rows(name, before, read())
        for add in new.values():
            check_log_stats(table, add)
            check_parquet(table.file_of(add), unindexed)
        check_answers(table, asked)
        files = [table.file_of(add) for add in old.values()]
        check_types(table.physical_schema(), files, [table.file_of(add) for add in new.values()])
    tiers = Counter(b.tier for b in row.bins if b.status == "committed")
    return Outcome(row, [table.file_of(add) for add in new.values()], tiers)


def readable(
    table: ForeignTable, partition: str | None = None
) -> dict[str, tuple[Callable[[], Rows], Rows]]:
    """Read by every stranger that can: a way to read again, and the rows."""
    found = {}
    for name, read in (("pyarrow", table.rows_by_pyarrow), ("duckdb", table.rows_by_duckdb)):
        again = partial(read, partition)
        try:
            found[name] = (again, again())
        except Unread:
            continue
    return found


def assert_same_rows(reader: str, before: Rows, after: Rows) -> None:
    """Compare as multisets, and show only a few of the rows that differ."""
    lost, found = list((before - after).items()), list((after - before).items())
    assert not lost, (
        f"{reader} lost {len(lost)} rows and found {len(found)}: {lost[:2]} {found[:2]}"
    )
    assert not found, f"{reader} found {len(found)} more rows: {found[:2]}"


# The log's statistics.


def check_log_stats(table: ForeignTable, add: dict[str, Any]) -> None:
    """Check the statistics of one add action against the rows of its file."""
    rows = by_pyarrow(table.file_of(add))
    stats = json.loads(add["stats"], parse_float=Decimal)
    assert stats["numRecords"] == rows.num_rows
    by_name = dict(zip(rows.schema.names, rows.columns, strict=True))
    schema = table.physical_schema()
    records: list[Any] = [
        dict(zip(by_name, row, strict=True))
        for row in zip(*(c.to_pylist() for c in by_name.values()), strict=True)
    ]
    _check_struct_stats(stats, records, schema, ())


def _check_struct_stats(
    stats: dict[str, Any], records: list[Any], schema: t.StructType, path: tuple[str, ...]
) -> None:
    for f in schema.fields:
        at = (*path, f.name)
        values = [record.get(f.name) if record else None for record in records]
        if isinstance(f.dataType, t.StructType):
            _check_struct_stats(stats, values, f.dataType, at)
            continue
        found = [value for value in values if value is not None]
        nulls = _at(stats.get("nullCount"), at)
        assert nulls in (None, len(values) - len(found)), (at, nulls, len(values) - len(found))
        low, high = _at(stats.get("minValues"), at), _at(stats.get("maxValues"), at)
        if not found:
            assert (low, high) == (None, None), (at, low, high)
            continue
        keys = [_log_key(value, f.dataType) for value in found]
        if low is not None:
            assert _parsed(low, f.dataType) <= min(keys), (at, "min", low, min(keys))
        if high is not None:
            assert _parsed(high, f.dataType) >= max(keys), (at, "max", high, max(keys))


def _at(tree: Any, path: Sequence[str]) -> Any:
    return reduce(lambda node, name: node.get(name) if node else None, path, tree)


def _log_key(value: Any, kind: t.DataType) -> Any:
    """Give the order of Delta: strings by UTF-8, NaN above all, times by the millisecond."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    if isinstance(value, datetime):
        return micros(value) // 1000
    if isinstance(value, date):
        return value.isoformat()
    return value


def _parsed(text: Any, kind: t.DataType) -> Any:
    """Read a bound of the log as its `_log_key`."""
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        number = float(text)
        if isinstance(kind, t.FloatType):  # written with the digits that a float needs
            number = pa.scalar(number, pa.float32()).as_py()
        return _log_key(number, kind)
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        return micros(datetime.fromisoformat(text.replace("Z", "+00:00"))) // 1000
    if isinstance(kind, t.DecimalType):
        return Decimal(text)
    return text.encode() if isinstance(kind, t.StringType) else text


# Parquet's statistics and page index.


def chunks_without_index(files: Iterable[str]) -> set[tuple[int, int]]:
    """Find chunks that lack a page index, by their values and bytes: copied, they lack it still."""
    return {
        (chunk.num_values, chunk.total_compressed_size)
        for file in files
        for chunk in _chunks(pq.ParquetFile(file).metadata)
        if not chunk.has_offset_index
    }


def _chunks(footer: pq.FileMetaData) -> Iterator[pq.ColumnChunkMetaData]:
    for g in range(footer.num_row_groups):
        for c in range(footer.num_columns):
            yield footer.row_group(g).column(c)


def check_parquet(file: str, unindexed: Container[tuple[int, int]] = ()) -> None:
    """Check the statistics of every chunk and page of a file against its values.

    Args:
        file: The file.
        unindexed: Values and bytes of the chunks that may lack a page index.
    """
    found = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
    pages = read_page_index(file)
    assert found.metadata.num_rows == sum(
        found.metadata.row_group(g).num_rows for g in range(found.num_row_groups)
    )
    for g in range(found.num_row_groups):
        chunks = found.metadata.row_group(g)
        rows = found.read_row_group(g).to_pylist()
        assert len(rows) == chunks.num_rows
        leaves = list(_leaves(rows, found.schema_arrow))
        assert len(leaves) == chunks.num_columns
        for c, entries in enumerate(leaves):
            chunk = chunks.column(c)
            where = f"{file} row group {g} {chunk.path_in_schema}"
            _check_chunk(chunk, [e for row in entries for e in row], where)
            if chunk.has_offset_index:
                _check_pages(pages[g][c], entries, chunk.physical_type, where)
            else:
                assert (chunk.num_values, chunk.total_compressed_size) in unindexed, where


Entries = list[list[Any]]


def _leaves(rows: list[dict[str, Any]], schema: pa.Schema) -> Iterator[Entries]:
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
        return int(value.scaleb(kind.scale, _WIDE))
    if isinstance(value, datetime):
        return micros(value) // (1000 if kind.unit == "ms" else 1)
    if isinstance(value, date):
        return (value - EPOCH.date()).days
    return value.encode() if isinstance(value, str) else value


def micros(value: datetime) -> int:
    """Count the microseconds since 1970."""
    naive = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return (naive - EPOCH) // timedelta(microseconds=1)


def _decoded(raw: Any, physical: str, values: list[Any]) -> Any:
    """Read a bound as `stored` gives values."""
    if not isinstance(raw, bytes):
        return raw
    if physical in _FIXED:
        return struct.unpack(_FIXED[physical], raw)[0]
    is_decimal = bool(values) and isinstance(values[0], int)
    return int.from_bytes(raw, "big", signed=True) if is_decimal else raw


_FIXED = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}


def _check_chunk(chunk: pq.ColumnChunkMetaData, entries: list[Any], where: str) -> None:
    values = [e for e in entries if e is not None]
    stats = chunk.statistics
    assert chunk.num_values == len(entries), where
    if stats is None:
        return
    if stats.has_null_count:
        assert stats.null_count == len(entries) - len(values), where
    if stats.has_min_max and chunk.physical_type != "INT96":
        low, high = (
            _decoded(raw, chunk.physical_type, values) for raw in (stats.min_raw, stats.max_raw)
        )
        _check_exact_bounds(low, high, values, where)


def _check_exact_bounds(low: Any, high: Any, values: list[Any], where: str) -> None:
    assert values, f"{where}: bounds of no value"
    if isinstance(values[0], float):
        if any(map(math.isnan, values)):  # every reader must ignore them, and this is the sign
            assert math.isnan(low) or math.isnan(high), f"{where}: bounds that leave out NaN"
            return
        # A zero among the bounds stands for both zeros.
        assert (low or -0.0, high or 0.0) == (min(values), max(values)), where
        zeros = {math.copysign(1, value) for value in values if value == 0}
        assert low != 0 or math.copysign(1, low) == -1 or -1 not in zeros, where
        assert high != 0 or math.copysign(1, high) == 1 or 1 not in zeros, where
    else:
        assert (low, high) == (min(values), max(values)), where


def _check_pages(index: PageIndex, entries: Entries, physical: str, where: str) -> None:
    starts = index.first_rows
    assert starts == sorted(set(starts)), where
    assert starts[:1] == [0], where
    if index.null_pages is None:
        return
    assert len(index.null_pages) == len(starts), where
    bounds = []
    for page, (start, end) in enumerate(zip(starts, [*starts[1:], len(entries)], strict=True)):
        at = f"{where} page {page}"
        found = [e for row in entries[start:end] for e in row]
        values = [e for e in found if e is not None]
        assert index.null_pages[page] == (not values), at
        if index.null_counts:
            assert index.null_counts[page] == len(found) - len(values), at
        if values:
            low, high = (
                _decoded(raw, physical, values) for raw in (index.lows[page], index.highs[page])
            )
            bounds.append((low, high))
            _check_page_bounds(low, high, values, at)
    _check_order(index.order, bounds, where)


def _check_page_bounds(low: Any, high: Any, values: list[Any], where: str) -> None:
    if isinstance(low, bytes):  # truncated
        assert low <= min(values), where
        assert high >= max(values), where
    else:
        _check_exact_bounds(low, high, values, where)


def _check_order(order: str, bounds: list[tuple[Any, Any]], where: str) -> None:
    lows, highs = [low for low, _ in bounds], [high for _, high in bounds]
    if order == "ASCENDING":
        assert (lows, highs) == (sorted(lows), sorted(highs)), where
    elif order == "DESCENDING":
        assert lows == sorted(lows, reverse=True), where
        assert highs == sorted(highs, reverse=True), where


# Bloom filters.


def bloom_filters(file: str) -> set[str]:
    """Name the columns of a file that have a bloom filter in every row group."""
    query = (
        "SELECT path_in_schema FROM parquet_metadata(?) GROUP BY ALL "
        "HAVING bool_and(bloom_filter_offset IS NOT NULL)"
    )
    return {row[0] for row in duckdb.execute(query, [file]).fetchall()}


def assert_no_value_excluded(file: str, column: str) -> None:
    """Probe a bloom filter with every value that its row group holds."""
    found = pq.ParquetFile(file)
    for g in range(found.num_row_groups):
        values = set(found.read_row_group(g, [column]).column(0).to_pylist()) - {None}
        assert values
        for value in values:
            query = (
                "SELECT row_group_id FROM parquet_bloom_probe(?, ?, ?) WHERE bloom_filter_excludes"
            )
            excluded = {row[0] for row in duckdb.execute(query, [file, column, value]).fetchall()}
            assert g not in excluded, f"{column} = {value} is in row group {g}"


# Filters.

READERS = {"pyarrow": count_by_pyarrow, "duckdb": count_by_duckdb}
CANNOT_ASK = (pa.ArrowException, duckdb.Error, TypeError)


@dataclass(frozen=True)
class Asked:
    """A filter and how many rows a reader may find: the truth, and what it found before."""

    reader: str
    filter: Filter
    counts: tuple[int, ...]
    partition: str | None = None


def draw(
    schema: t.StructType, rows: pa.Table, rng: random.Random, most: int
) -> list[tuple[Filter, int]]:
    """Draw filters, each with the number of rows that match it."""
    return draw_filters(schema, python_columns(rows, schema), rng, most)


def ask_spark(table: ForeignTable, drawn: Sequence[tuple[Filter, int]]) -> list[Asked]:
    """Have Spark count before, which it does wrong for bounds that leave out NaN."""
    # It looks for one zero in a dictionary, and not for the other.
    wanted = [(f, truth) for f, truth in drawn if f.value != 0 or not isinstance(f.value, float)]
    before = counts(table.frame(), [f for f, _ in wanted])
    return [Asked("spark", f, (truth, n)) for (f, truth), n in zip(wanted, before, strict=True)]


def ask(
    table: ForeignTable,
    reader: str,
    drawn: Sequence[tuple[Filter, int]],
    rows: pa.Table,
    partition: str | None = None,
) -> list[Asked]:
    """Have another reader count before; a filter that it does not have is left out."""
    asked = []
    of_files = {f.name for f in table.physical_schema().fields}
    for f, truth in drawn:
        if f.path[0] in of_files:
            try:
                before = _count(table, reader, f, partition)
            except CANNOT_ASK:
                continue
            found = (before, *f.right_counts(truth, _nans(rows, f)))
            asked.append(Asked(reader, f, found, partition))
    return asked


def check_answers(table: ForeignTable, asked: Sequence[Asked]) -> None:
    """Count once more: what was wrong before may stay so, or come nearer to the truth."""
    of_spark = [a for a in asked if a.reader == "spark"]
    others = [a for a in asked if a.reader != "spark"]
    answers = counts(table.frame(), [a.filter for a in of_spark])
    answers += [_count(table, a.reader, a.filter, a.partition) for a in others]
    for a, now in zip([*of_spark, *others], answers, strict=True):
        assert min(a.counts) <= now <= max(a.counts), f"{a} finds {now} rows"


def _count(table: ForeignTable, reader: str, f: Filter, partition: str | None) -> int:
    found = 0
    for add in table.adds(partition).values():
        file = table.file_of(add)
        names, rows = _columns_and_rows(file)
        name = names.get(f.path[0].lower())
        if name is not None:
            found += READERS[reader](file, replace(f, path=(name, *f.path[1:])))
        elif f.operator == "null":
            found += rows
    return found


@cache
def _columns_and_rows(file: str) -> tuple[dict[str, str], int]:
    """Give the columns of a file by their names in lower case, and the number of its rows."""
    footer = pq.ParquetFile(file)
    return {name.lower(): name for name in footer.schema_arrow.names}, footer.metadata.num_rows


def _nans(rows: pa.Table, f: Filter) -> int:
    """Count the NaN in the column of a comparison."""
    if not f.has_nan:
        return 0
    values = rows.column(f.path[0]).to_pylist()
    for name in f.path[1:]:
        values = [value and value[name] for value in values]
    return sum(value is not None and math.isnan(value) for value in values)


# Types.


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

"""The statistics of Parquet's chunks and pages, against their values."""

from __future__ import annotations

import math
import struct
from collections.abc import Container, Iterable, Iterator
from typing import Any

import pyarrow.parquet as pq

from foreign.checks.shredded import Entries, leaves_of
from foreign.page_index import PageIndex, read_page_index


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
        leaves = list(leaves_of(rows, found.schema_arrow))
        assert len(leaves) == chunks.num_columns
        for c, entries in enumerate(leaves):
            chunk = chunks.column(c)
            where = f"{file} row group {g} {chunk.path_in_schema}"
            _check_chunk(chunk, [e for row in entries for e in row], where)
            if chunk.has_offset_index:
                _check_pages(pages[g][c], entries, chunk.physical_type, where)
            else:
                assert (chunk.num_values, chunk.total_compressed_size) in unindexed, where


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

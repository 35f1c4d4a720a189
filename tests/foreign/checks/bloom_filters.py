"""Bloom filters of Parquet files, as DuckDB applies them."""

from __future__ import annotations

import duckdb
import pyarrow.parquet as pq


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

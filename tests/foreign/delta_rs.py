"""Tables as delta-rs reads them, and their live files by its list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.dataset
from deltalake import DeltaTable as DeltaRs
from deltalake import QueryBuilder


def by_delta_rs(path: Path, version: int | None = None, columns: str = "*") -> pyarrow.Table:
    query = QueryBuilder().register("t", DeltaRs(str(path), version=version))
    return pyarrow.table(query.execute(f"SELECT {columns} FROM t"))


def ids_by_delta_rs(path: Path, version: int | None = None) -> list[int]:
    return sorted(by_delta_rs(path, version, "id")["id"].to_pylist())


def adds_by_delta_rs(path: Path) -> dict[str, dict[str, Any]]:
    """Read all that delta-rs knows of the data files, statistics and partition values too."""
    rows = pyarrow.table(DeltaRs(str(path)).get_add_actions(flatten=True)).to_pylist()
    return {row["path"]: row for row in rows}


def tombstones_by_delta_rs(path: Path) -> list[str]:
    """List the files that VACUUM would delete: those that tombstones name."""
    table = DeltaRs(str(path))
    return sorted(table.vacuum(retention_hours=0, enforce_retention_duration=False))


def _live_files(path: Path) -> list[str]:
    return [uri.removeprefix("file://") for uri in DeltaRs(str(path)).file_uris()]


def ids_by_pyarrow(path: Path) -> list[int]:
    found = pyarrow.dataset.dataset(_live_files(path)).to_table(columns=["id"])
    return sorted(found["id"].to_pylist())


def ids_by_duckdb(path: Path) -> list[int]:
    rows = duckdb.execute("SELECT id FROM read_parquet(?)", [_live_files(path)]).fetchall()
    return sorted(row[0] for row in rows)

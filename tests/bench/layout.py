"""What a table's files look like, from its log and their footers."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from deltalake import DeltaTable


@dataclass(frozen=True)
class Layout:
    """The data files of the newest version of a table."""

    files: int
    row_groups: int
    rows: int
    bytes: int


def layout_of(table: Path) -> Layout:
    """Look at every footer."""
    files = [Path(uri.removeprefix("file://")) for uri in DeltaTable(table).file_uris()]
    footers = [pq.read_metadata(file) for file in files]
    return Layout(
        files=len(files),
        row_groups=sum(footer.num_row_groups for footer in footers),
        rows=sum(footer.num_rows for footer in footers),
        bytes=sum(file.stat().st_size for file in files),
    )


def fresh_copy(table: Path, target: Path) -> Path:
    """Copy a table, and leave the copy in the page cache with nothing to be written back."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table, target)
    os.sync()
    return target

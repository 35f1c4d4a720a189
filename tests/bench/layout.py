"""What a table's files look like, from its log and their footers."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

COMMIT = re.compile(r"\d{20}\.json")


@dataclass(frozen=True)
class Layout:
    """The data files of the newest version of a table.

    Attributes:
        files: How many there are.
        row_groups: In all of them.
        rows: That a reader gets: those that deletion vectors hide are not counted.
        bytes: Of the Parquet files.
    """

    files: int
    row_groups: int
    rows: int
    bytes: int


def layout_of(table: Path) -> Layout:
    """Look at every footer, and at the commits, none of which may be gone from the log."""
    live = live_files(table)
    files = [table / unquote(add["path"]) for add in live]
    footers = [pq.read_metadata(file) for file in files]
    hidden = sum(add["deletionVector"]["cardinality"] for add in live if vector_of(add))
    return Layout(
        files=len(files),
        row_groups=sum(footer.num_row_groups for footer in footers),
        rows=sum(footer.num_rows for footer in footers) - hidden,
        bytes=sum(file.stat().st_size for file in files),
    )


def live_files(table: Path) -> list[dict[str, Any]]:
    """Replay all commits: delta-rs lists files without their deletion vectors.

    Raises:
        ValueError: A commit is missing.
    """
    log = table / "_delta_log"
    commits = sorted(file for file in log.iterdir() if COMMIT.fullmatch(file.name))
    if [int(file.stem) for file in commits] != list(range(len(commits))):
        raise ValueError(f"Commits are missing in {log}.")
    live: dict[tuple[str, str | None], dict[str, Any]] = {}
    for file in commits:
        actions = [json.loads(line) for line in file.read_text().splitlines()]
        # A commit that gives a file a vector removes the file without it, in any order.
        for action in actions:
            if remove := action.get("remove"):
                live.pop((remove["path"], vector_of(remove)), None)
            if add := action.get("add"):
                live[add["path"], vector_of(add)] = add
    return list(live.values())


def vector_of(action: dict[str, Any]) -> str | None:
    """Identify the deletion vector of a file (protocol, 'Action Reconciliation')."""
    vector = action.get("deletionVector")
    if not vector:
        return None
    return f"{vector['storageType']}{vector['pathOrInlineDv']}@{vector.get('offset')}"


def fresh_copy(table: Path, target: Path) -> Path:
    """Copy a table, and leave the copy in the page cache with nothing to be written back."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table, target)
    os.sync()
    return target


def linked_copy(table: Path, target: Path) -> Path:
    """Copy a table by hard links: who deletes a file takes one name of it away."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table, target, copy_function=os.link)
    return target

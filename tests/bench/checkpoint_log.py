"""What a checkpoint has left in the log, seen from outside of the engine that made it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.checkpoint_table import LogTable, log_of

State = dict[Path, tuple[int, int]]


@dataclass(frozen=True)
class Written:
    """A checkpoint.

    Attributes:
        bytes: Of all files that came with it, the pointer to it and checksums included.
        files: Data files that it names.
        sidecars: Which of its own files name them, where the top-level file does not.
    """

    bytes: int
    files: int
    sidecars: int

    @property
    def layout(self) -> str:
        """Say of what files it is."""
        return f"{self.sidecars} sidecars" if self.sidecars else "one file"


def fresh_log(table: LogTable, target: Path) -> Path:
    """Make a table with the log of another, by hard links: no engine changes a commit."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table.log, log_of(target), copy_function=os.link)
    return target


def add_later(table: LogTable, target: Path) -> None:
    """Have the later commits of a table happen to a copy."""
    for file in table.later.iterdir():
        os.link(file, log_of(target) / file.name)


def state_of(path: Path) -> State:
    """Look at all files of a log, so that what changes is found later."""
    files = (file for file in log_of(path).rglob("*") if file.is_file())
    return {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


def written_since(path: Path, before: State) -> Written:
    """Look at the checkpoint that has been made since.

    Raises:
        ValueError: None was, or the pointer is to another one.
    """
    now = state_of(path)
    version = newest_version(path)
    tops = sorted(log_of(path).glob(f"{version:020}.checkpoint*"))
    pointed = json.loads((log_of(path) / "_last_checkpoint").read_text())["version"]
    if not tops or pointed != version:
        raise ValueError(f"There are {len(tops)} files for {version}, and {pointed} is the last.")
    sidecars = [log_of(path) / "_sidecars" / name for top in tops for name in sidecars_of(top)]
    return Written(
        bytes=sum(file.stat().st_size for file, state in now.items() if before.get(file) != state),
        files=sum(map(files_in, (*tops, *sidecars))),
        sidecars=len(sidecars),
    )


def newest_version(path: Path) -> int:
    """Find the last commit: 12 of `00000000000000000012.json`."""
    return max(int(file.stem) for file in log_of(path).glob("*.json") if file.stem.isdigit())


def files_in(file: Path) -> int:
    """Count the data files that one file of a checkpoint names."""
    if file.suffix == ".json":
        return sum("add" in action for action in actions_of(file))
    return len(strings_in(file, "add", "path"))


def sidecars_of(top: Path) -> list[str]:
    """Name the sidecars of a checkpoint."""
    if top.suffix == ".json":
        return [action["sidecar"]["path"] for action in actions_of(top) if "sidecar" in action]
    names: list[str] = strings_in(top, "sidecar", "path").to_pylist()
    return names


def actions_of(file: Path) -> Iterator[dict[str, Any]]:
    """Read a checkpoint that is in JSON."""
    with file.open() as lines:
        yield from map(json.loads, lines)


def strings_in(file: Path, action: str, field: str) -> Any:
    """Read one field of one kind of action, if it is not null."""
    column = pq.ParquetFile(file).read(columns=[f"{action}.{field}"])
    if action not in column.column_names:
        return pa.chunked_array([], pa.string())
    return pc.struct_field(column[action], field).drop_null()

"""The tables that are vacuumed, checked and analyzed; files that nobody reads are a few bytes."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from bench.checkpoint_table import CLASSIC, Action, add, log_of, metadata, protocol, write_commit
from bench.cleanup_table import AGE_DAYS, DAY_SECONDS
from bench.engines import DELTA, Worker
from bench.layout import linked_copy
from bench.paths import TABLES

PARTITIONS = 100
CONTENT = b"Nobody reads this."


def littered(live: int, removed: int, orphans: int) -> Path:
    """Make a table with files that expired long ago, and others that no commit names."""
    path = TABLES / f"vacuum-{live}-{removed}-{orphans}"
    if not path.exists():
        unfinished = start(path)
        names = [partitioned(number) for number in range(live + removed + orphans)]
        write_files(unfinished, (path_of(name) for name in names))
        commit(unfinished, names[: live + removed], map(remove, names[live : live + removed]))
        make_old(unfinished)
        unfinished.rename(path)
    return path


def numerous(files: int) -> Path:
    """Make a table of so many files, each the same little Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = TABLES / f"fsck-{files}"
    if not path.exists():
        unfinished = start(path)
        pq.write_table(pa.table({"id": [1, 2, 3]}), unfinished / "sample")
        content = (unfinished / "sample").read_bytes()
        (unfinished / "sample").unlink()
        adds = [sized(partitioned(number), len(content), 3) for number in range(files)]
        write_files(unfinished, map(path_of, adds), content)
        commit(unfinished, adds)
        unfinished.rename(path)
    return path


def without_statistics(table: Path) -> Path:
    """Copy a table by links, with commits that say nothing of what is in its files."""
    path = TABLES / f"{table.name}-without-statistics"
    if not path.exists():
        unfinished = linked_copy(table, Path(f"{path}.tmp"))
        for file in (file for file in log_of(unfinished).iterdir() if file.is_file()):
            lines = file.read_text().splitlines() if file.suffix == ".json" else []
            file.unlink()
            if lines:
                file.write_text("".join(f"{line}\n" for line in map(bare, lines)))
        unfinished.rename(path)
    return path


def data_files(path: Path) -> int:
    """Count the data files that are there."""
    return sum(1 for _ in path.rglob("part-*"))


def bare(line: str) -> str:
    """Take the statistics out of an action."""
    action = json.loads(line)
    if "add" in action:
        action["add"].pop("stats", None)
    return json.dumps(action)


def start(path: Path) -> Path:
    """Make way for a table, which appears at its path when it is complete."""
    unfinished = Path(f"{path}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    log_of(unfinished).mkdir(parents=True)
    for number in range(PARTITIONS):
        (unfinished / f"p={number}").mkdir()
    return unfinished


def of_partitions() -> Action:
    """Describe a table of one column and one to partition by."""
    action = metadata(CLASSIC)
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "long"), ("p", "integer"))
    ]
    action["metaData"]["schemaString"] = json.dumps({"type": "struct", "fields": fields})
    action["metaData"]["partitionColumns"] = ["p"]
    return action


def partitioned(number: int) -> Action:
    """Name a file in one of the partitions."""
    action = add(number)["add"]
    partition = str(number % PARTITIONS)
    action["path"] = f"p={partition}/{action['path']}"
    action["partitionValues"] = {"p": partition}
    return sized({"add": action}, len(CONTENT), 1)


def sized(action: Action, size: int, rows: int) -> Action:
    """Say how large a file is, and no more of its rows than how many there are."""
    stats = json.dumps({"numRecords": rows, "nullCount": {"id": 0}})
    return {"add": {**action["add"], "size": size, "stats": stats}}


def remove(action: Action) -> Action:
    """Remove a file, long ago."""
    added = action["add"]
    at = int((time.time() - AGE_DAYS * DAY_SECONDS) * 1000)
    known = {name: added[name] for name in ("path", "partitionValues", "size")}
    removed = {"deletionTimestamp": at, "dataChange": True, "extendedFileMetadata": True}
    return {"remove": {**known, **removed}}


def path_of(action: Action) -> str:
    """Say where a file is, below its table."""
    path: str = action["add"]["path"]
    return path


def write_files(table: Path, paths: Iterable[str], content: bytes = CONTENT) -> None:
    """Write all of them with the same content."""
    for path in paths:
        (table / path).write_bytes(content)


def commit(table: Path, *commits: Iterable[Action]) -> None:
    """Write commits, and have Delta add a checksum and a checkpoint, as a table in use has."""
    write_commit(table, 0, iter((protocol(CLASSIC), of_partitions())))
    for version, actions in enumerate(commits, start=1):
        write_commit(table, version, iter(actions))
    with Worker(DELTA) as worker:
        change = "ALTER TABLE {t} SET TBLPROPERTIES ('written.by' = 'bench')"
        worker.call("statement", path=str(table), statement=change)
        worker.call("checkpoint", path=str(table))


def make_old(table: Path) -> None:
    """Have all files look as if they were written two months ago."""
    then = time.time() - AGE_DAYS * DAY_SECONDS
    for file in table.rglob("*"):
        if file.is_file():
            os.utime(file, (then, then))

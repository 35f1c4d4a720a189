"""The logs to clean: expired commits with their checksums, a checkpoint, and commits that stay."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from bench.checkpoint_table import CLASSIC, commit_info, log_of, metadata, protocol
from bench.engines import DELTA, Worker
from bench.paths import TABLES

DAY_SECONDS = 24 * 3600
AGE_DAYS = 60
LATER_COMMITS = 10


def expired_log(commits: int) -> Path:
    """Make a table with so many expired commits, or find it where an earlier run has left it."""
    path = TABLES / f"cleanup-{commits}"
    if not path.exists():
        unfinished = path.with_suffix(".tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        write(unfinished, commits)
        unfinished.rename(path)
    return path


def write(path: Path, commits: int) -> None:
    """Write it: a commit a second, of which the first ones are two months old."""
    log_of(path).mkdir(parents=True)
    for version in range(commits + 1):
        write_commit(path, version)
        (log_of(path) / f"{version:020}.crc").write_text("{}")
    (log_of(path) / f"{commits:020}.crc").unlink()
    with Worker(DELTA) as worker:
        worker.call("checkpoint", path=str(path))
    start = time.time() - AGE_DAYS * DAY_SECONDS
    for file in log_of(path).iterdir():
        digits = file.name.lstrip(".").split(".")[0]
        if digits.isdigit():
            os.utime(file, (start + int(digits), start + int(digits)))
    for version in range(commits + 1, commits + 1 + LATER_COMMITS):
        write_commit(path, version)


def write_commit(path: Path, version: int) -> None:
    """Write one commit by hand."""
    actions = [commit_info(version)]
    if version == 0:
        of_table = metadata(CLASSIC)
        of_table["metaData"]["configuration"] = {}
        actions += [protocol(CLASSIC), of_table]
    lines = (json.dumps(action, separators=(",", ":")) + "\n" for action in actions)
    (log_of(path) / f"{version:020}.json").write_text("".join(lines))


def left_in(path: Path) -> int:
    """Count the commits that are left."""
    return sum(1 for file in log_of(path).glob("*.json"))

"""The log of a table as plain JSON: what its commits say, and other words in their place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from support.files import forget_checksum


def actions_of(commit: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in commit.read_text().splitlines()]


def live(log: Path) -> dict[str, dict[str, Any]]:
    """The files of the newest version by path, by a plain replay of all commits."""
    found: dict[str, dict[str, Any]] = {}
    for commit in sorted(log.glob("*.json")):
        actions = actions_of(commit)
        for action in actions:
            if "remove" in action:
                found.pop(action["remove"]["path"], None)
        for action in actions:
            if "add" in action:
                found[action["add"]["path"]] = action["add"]
    return found


def edit_commit(
    commit: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    """Write other actions in their place."""
    commit.write_text("\n".join(map(json.dumps, change(actions_of(commit)))) + "\n")
    forget_checksum(commit)


def forget_derived(spark: SparkSession, log: Path) -> None:
    """Delete what was derived from commits that were edited."""
    for file in (*log.glob("*.crc"), *log.glob("*.checkpoint*")):
        file.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def edit_adds(
    spark: SparkSession,
    log: Path,
    change: Callable[[dict[str, Any]], None],
    pattern: str = "*.json",
) -> None:
    """Change the adds of commits."""

    def changed(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for action in actions:
            if "add" in action:
                change(action["add"])
        return actions

    for commit in log.glob(pattern):
        edit_commit(commit, changed)
    forget_derived(spark, log)

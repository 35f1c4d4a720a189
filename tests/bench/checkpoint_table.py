"""The tables to checkpoint. Each is a log alone: no checkpoint reads a data file.

All but Delta's own commits is the same on every machine: it follows from the numbers of the files.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from bench.paths import TABLES

CLASSIC, V2 = "classic", "v2"
POLICIES = (CLASSIC, V2)
LATER_COMMITS, LATER_FILES = 10, 100
"""How many commits come between two checkpoints, and how many files each of them adds."""
FILES_PER_COMMIT = 25_000
ROWS_PER_FILE = 1_000
NAMESPACE = uuid.UUID(int=42)
START = datetime(2025, 1, 1, tzinfo=timezone.utc)
COLUMNS = {
    "id": "long",
    "product": "string",
    "weight": "double",
    "day": "date",
    "at": "timestamp",
    "price": "decimal(12,2)",
}
Action = dict[str, Any]


@dataclass(frozen=True)
class LogTable:
    """A log of so many files, and the commits that come after its first checkpoint.

    Attributes:
        files: In the table before those commits.
        policy: Of its checkpoints.
    """

    files: int
    policy: str

    @property
    def path(self) -> Path:
        """Where it is kept between runs."""
        return TABLES / f"checkpoint-{self.policy}-{self.files}"

    @property
    def log(self) -> Path:
        """Where its log is."""
        return log_of(self.path)

    @property
    def later(self) -> Path:
        """Where the files of the later commits are set aside."""
        return later_of(self.path)


def log_of(path: Path) -> Path:
    """Find the log of a table."""
    return path / "_delta_log"


def later_of(path: Path) -> Path:
    """Find what is set aside of its later commits."""
    return path / "later"


def write_log(spark: SparkSession, path: Path, files: int, policy: str) -> None:
    """Write the log of a table by hand, and the last commits of it by Delta."""
    log_of(path).mkdir(parents=True)
    write_commit(path, 0, iter((protocol(policy), metadata(policy))))
    for start in range(0, files - 1, FILES_PER_COMMIT):
        numbers = range(start, min(start + FILES_PER_COMMIT, files - 1))
        write_commit(path, start // FILES_PER_COMMIT + 1, map(add, numbers))
    # Delta's own commit brings a checksum file, as a table in use has one.
    append(spark, path, files - 1, 1)
    before = set(log_of(path).iterdir())
    for commit in range(LATER_COMMITS):
        append(spark, path, files + commit * LATER_FILES, LATER_FILES)
    later_of(path).mkdir()
    for file in set(log_of(path).iterdir()) - before:
        file.rename(later_of(path) / file.name)
    for file in path.glob("*.parquet*"):
        file.unlink()


def write_commit(path: Path, version: int, actions: Iterator[Action]) -> None:
    """Write one commit by hand."""
    with (log_of(path) / f"{version:020}.json").open("w") as commit:
        for action in (commit_info(version), *actions):
            commit.write(json.dumps(action, separators=(",", ":")) + "\n")


def commit_info(version: int) -> Action:
    """Say what a commit did."""
    done = {"timestamp": millis(version), "operation": "WRITE", "operationParameters": {}}
    return {"commitInfo": done}


def protocol(policy: str) -> Action:
    """Ask for what the policy needs and for no more, so that as many engines as can will write."""
    if policy == CLASSIC:
        return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    feature = "v2Checkpoint"
    writer = [feature, "appendOnly", "invariants"]
    return {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": [feature],
            "writerFeatures": writer,
        }
    }


def metadata(policy: str) -> Action:
    """Describe the table: no engine is to checkpoint or clean up by itself."""
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in COLUMNS.items()
    ]
    return {
        "metaData": {
            "id": str(uuid.uuid5(NAMESPACE, policy)),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": {
                "delta.checkpointPolicy": policy,
                "delta.checkpointInterval": "1000000",
                "delta.enableExpiredLogCleanup": "false",
            },
            "createdTime": millis(0),
        }
    }


def add(number: int) -> Action:
    """Name a file by its number, with statistics that grow with the number as ids and time do."""
    name = uuid.uuid5(NAMESPACE, str(number))
    return {
        "add": {
            "path": f"part-{number % FILES_PER_COMMIT:05}-{name}-c000.snappy.parquet",
            "partitionValues": {},
            "size": 40_000 + number * 7919 % 20_000,
            "modificationTime": millis(number),
            "dataChange": True,
            "stats": json.dumps(statistics(number), separators=(",", ":")),
        }
    }


def statistics(number: int) -> dict[str, Any]:
    """Make the statistics of a file."""
    first, last = number * ROWS_PER_FILE, (number + 1) * ROWS_PER_FILE - 1
    return {
        "numRecords": ROWS_PER_FILE,
        "minValues": values(first, f"product-{number % 97:03}", 0.5 + number % 13),
        "maxValues": values(last, f"product-{number % 97 + 400:03}", 980.25 + number % 17),
        "nullCount": {name: 0 if name == "id" else number % 50 for name in COLUMNS},
    }


def values(row: int, product: str, amount: float) -> dict[str, Any]:
    """Make a value of each column, as Delta writes it into statistics."""
    at = START + timedelta(seconds=row)
    return {
        "id": row,
        "product": product,
        "weight": amount * 1.5,
        "day": f"{at:%Y-%m-%d}",
        "at": f"{at:%Y-%m-%dT%H:%M:%S}.000Z",
        "price": amount,
    }


def millis(seconds: int) -> int:
    """Give a time so long after the start, as a log has it."""
    return int(START.timestamp() + seconds) * 1000


def append(spark: SparkSession, path: Path, first: int, files: int) -> None:
    """Commit files of one row each by Delta."""
    rows(spark, first, files).write.format("delta").mode("append").save(str(path))


def rows(spark: SparkSession, first: int, files: int) -> DataFrame:
    """Make a row for each file, in a partition of its own."""
    numbered = spark.range(first, first + files, 1, files)
    at = f.timestamp_seconds(int(START.timestamp()) + f.col("id") * ROWS_PER_FILE)
    return numbered.select(
        "id",
        f.concat(f.lit("product-"), f.col("id") % 500).alias("product"),
        (f.col("id") / 7).alias("weight"),
        at.cast("date").alias("day"),
        at.alias("at"),
        (f.col("id") % 1_000).cast("decimal(12,2)").alias("price"),
    )

"""Small tables with every kind of file in their logs, and what each of their versions holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from foreign.table import forget, version_of
from support.sessions import session_conf
from torture.histories.ages import age
from torture.histories.readers import (
    Read,
    by_spark,
    checkpoint_by_delta,
    rows_by_delta_rs,
)

DELTA = "spark.databricks.delta"
RICH = {
    "delta.enableDeletionVectors": "true",
    "delta.enableRowTracking": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.columnMapping.mode": "name",
    "delta.enableInCommitTimestamps": "true",
}
V2 = {"delta.checkpointPolicy": "v2"}


@dataclass(frozen=True)
class Kind:
    """How a table is made.

    Attributes:
        properties: Of the table.
        layout: Of the table.
        parts: File actions of a part or a sidecar.
        in_parquet: Whether the top-level file of a v2 checkpoint is in Parquet.
        ours: Whether the second of the two checkpoints is by us, and not by Delta.
        compacted: Whether there are log compactions.
        checksums: Whether versions have checksums.
        expired: The newest version that is older than retention.
    """

    properties: dict[str, str] = field(default_factory=dict)
    layout: str = "PARTITIONED BY (p)"
    parts: int = 0
    in_parquet: bool = False
    ours: bool = True
    compacted: bool = False
    checksums: bool = True
    expired: int = 7


KINDS = {
    "classic": Kind(),
    "classic, by Delta": Kind(ours=False, expired=5),
    "classic, rich": Kind(RICH, layout="CLUSTER BY (id)"),
    "parts": Kind(parts=3),
    "parts, by Delta": Kind(parts=3, ours=False),
    "compacted": Kind(compacted=True, expired=5),
    "without checksums": Kind(checksums=False, ours=False),
    "v2": Kind(V2, parts=3),
    "v2, by Delta": Kind(V2, ours=False, expired=5),
    "v2, rich": Kind({**V2, **RICH}, layout="CLUSTER BY (id)"),
    "v2, rich, by Delta": Kind({**V2, **RICH}, layout="", ours=False),
    "v2 in Parquet": Kind(V2, parts=3, in_parquet=True),
    "v2 in Parquet, by Delta": Kind(V2, in_parquet=True, ours=False, expired=5),
    "v2, compacted": Kind(V2, compacted=True),
    "v2, without checksums": Kind(V2, checksums=False),
    "v2, rich, without checksums": Kind({**V2, **RICH}, checksums=False, ours=False),
}


@dataclass(frozen=True)
class Template:
    """A table before the damage; versions from `floor` on are inside retention."""

    path: Path
    floor: int
    reads: dict[int, Read]
    by_delta_rs: frozenset[int]

    @property
    def newest(self) -> int:
        return max(self.reads)


class Templates:
    """Makes a table of each kind once."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._root = TemporaryDirectory(prefix="delta-upkeep-logs")
        self._made: dict[str, Template] = {}

    def of(self, kind: str) -> Template:
        if kind not in self._made:
            self._made[kind] = self._make(
                Path(self._root.name) / f"t{len(self._made)}", KINDS[kind]
            )
        return self._made[kind]

    def _make(self, path: Path, kind: Kind) -> Template:
        with made_by(self._spark, kind):
            make(self._spark, path, kind)
        if kind.compacted:
            for first, last in ((4, 5), (7, 8)):
                compact(path / "_delta_log", first, last)
        for file in path.rglob("*"):
            # An object store has no checksums of Hadoop's.
            of_version = file.suffix == ".crc" and not kind.checksums
            if file.name.startswith(".") or of_version:
                file.unlink()
        age(path / "_delta_log", 0, kind.expired)
        forget(self._spark)
        reads = {v: by_spark(self._spark, path, v) for v in range(version_of(path) + 1)}
        agreed = {
            v for v, read in reads.items() if rows_by_delta_rs(path, v, read.schema) == read.rows
        }
        return Template(path, kind.expired, reads, frozenset(agreed))


@contextmanager
def made_by(spark: SparkSession, kind: Kind) -> Iterator[None]:
    conf = {
        "spark.deltaUpkeep.checkpoint.mode": "delta",
        f"{DELTA}.checkpointV2.topLevelFileFormat": "parquet" if kind.in_parquet else "json",
        f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    }
    if kind.parts:
        conf[f"{DELTA}.checkpoint.partSize"] = str(kind.parts)
    with session_conf(spark, conf):
        yield


def make(spark: SparkSession, path: Path, kind: Kind) -> None:
    """Make versions 0 to 9, and checkpoints of 3 and 6."""
    name = f"delta.`{path}`"
    properties = {"delta.checkpointInterval": "1000", **kind.properties}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, p INT, s STRING) USING delta {kind.layout} "
        f"TBLPROPERTIES ({pairs})"
    )

    def insert(*ids: int) -> None:
        values = ", ".join(f"({i}, {i % 2}, 'text {i}')" for i in ids)
        spark.sql(f"INSERT INTO {name} VALUES {values}")

    insert(1, 2, 3)
    insert(4, 5)
    frame = spark.sql("SELECT 6L AS id, 0 AS p, 'six' AS s").write.format("delta").mode("append")
    frame.option("txnAppId", "app").option("txnVersion", 1).save(str(path))
    checkpoint_by_delta(spark, path)
    spark.sql(f"DELETE FROM {name} WHERE id = 2")
    insert(7, 8)
    spark.sql(f"UPDATE {name} SET s = 'new' WHERE id = 4")
    if kind.ours:
        policy = "v2" if "delta.checkpointPolicy" in kind.properties else "classic"
        options = [f"policy = '{policy}'"] + ([f"partSize = {kind.parts}"] if kind.parts else [])
        options += ["format = 'parquet'"] if kind.in_parquet else []
        spark.sql(f"CHECKPOINT {name} OPTIONS ({', '.join(options)})").collect()
    else:
        checkpoint_by_delta(spark, path)
    insert(9, 10)
    spark.sql(f"DELETE FROM {name} WHERE id = 5")
    insert(11)


def compact(log: Path, first: int, last: int) -> None:
    """Write a log compaction (protocol, 'Log Compaction Files')."""
    files: dict[tuple[str, str | None], str] = {}
    others: list[str] = []
    for version in range(first, last + 1):
        for line in (log / f"{version:020}.json").read_text().splitlines():
            ((kind, action),) = json.loads(line).items()
            if kind in ("add", "remove"):
                vector = action.get("deletionVector") or {}
                key = (action["path"], vector.get("pathOrInlineDv"))
                files.pop(key, None)
                files[key] = line
            elif kind in ("txn", "metaData", "protocol", "domainMetadata"):
                others.append(line)
    text = "".join(f"{line}\n" for line in (*others, *files.values()))
    (log / f"{first:020}.{last:020}.compacted.json").write_text(text)

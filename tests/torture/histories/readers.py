"""Readers of any version of a table, none of which is ours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable as DeltaRs
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn
from pyspark.sql import types as t

from foreign.delta_rs import by_delta_rs
from foreign.rows import Rows, python_columns, rows_of
from foreign.strangers import rows_in, with_ids
from foreign.table import ForeignTable, newest_snapshot

CHANGES = ("_change_type", "_commit_version")
# Of what a range of commits changed, as the columns were at its end.
FEED_SCHEMA = "spark.databricks.delta.changeDataFeed.defaultSchemaModeForColumnMappingTable"


@dataclass(frozen=True)
class Read:
    """Rows and their columns."""

    schema: t.StructType
    rows: Rows


def by_spark(spark: SparkSession, path: Path, version: int | None = None) -> Read:
    frame = ForeignTable(spark, path).frame(version)
    return Read(frame.schema, rows_in(frame))


def rows_by_delta_rs(path: Path, version: int, schema: t.StructType) -> Rows | None:
    """Read a version; None if delta-rs cannot."""
    try:
        found = by_delta_rs(path, version)
        if found.column_names != schema.names:
            return None
        return rows_of(python_columns(found, schema), schema)
    except Exception:
        return None


def feed(spark: SparkSession, path: Path, first: int, last: int, columns: list[str]) -> Rows:
    """Read the changes of some versions: rows of these columns, kinds of change and versions."""
    frame = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", first)
        .option("endingVersion", last)
        .load(str(path))
    )
    names = [fn.col(f"`{name}`") for name in [*columns, *CHANGES]]
    return rows_in(frame.select(*names))


def rows_with_ids(spark: SparkSession, path: Path) -> Rows:
    """Read the rows with their ids and the versions of their last change."""
    return rows_in(with_ids(ForeignTable(spark, path).frame()))


@dataclass(frozen=True)
class Settings:
    """What a table is besides its rows, as Delta reads it from the log."""

    protocol: str
    metadata: str
    domains: tuple[str, ...]
    row_ids: int  # the highest of them
    transactions: tuple[str, ...]

    @classmethod
    def of(cls, spark: SparkSession, path: Path) -> Settings:
        snapshot = newest_snapshot(spark, path)
        domains = [json.loads(str(d.json())) for d in _each(snapshot.domainMetadata())]
        mark = -1
        others = []
        for domain in (d["domainMetadata"] for d in domains):
            if domain["domain"] == "delta.rowTracking":
                mark = json.loads(domain["configuration"])["rowIdHighWaterMark"]
            else:
                others.append(json.dumps(domain, sort_keys=True))
        return cls(
            str(snapshot.protocol().json()),
            str(snapshot.metadata().json()),
            tuple(sorted(others)),
            mark,
            tuple(sorted(str(txn.json()) for txn in _each(snapshot.setTransactions()))),
        )

    def is_kept_by(self, later: Settings) -> bool:
        """Tell whether nothing went since; new files may have new ids."""
        return later.row_ids >= self.row_ids and (
            (self.protocol, self.metadata, self.domains, self.transactions)
            == (later.protocol, later.metadata, later.domains, later.transactions)
        )


def _each(items: object) -> list:
    return [items.apply(i) for i in range(items.size())]  # type: ignore[attr-defined]


def checkpoint_by_delta(spark: SparkSession, path: Path) -> None:
    snapshot = newest_snapshot(spark, path)
    none = spark._jvm.scala.Option.empty()
    snapshot.deltaLog().checkpoint(snapshot, none)  # type: ignore[attr-defined]


def checkpoint_of(path: Path) -> int:
    """Give the version of the newest checkpoint; 0 without any, as Delta counts."""
    names = [file.name for file in (path / "_delta_log").iterdir()]
    return max((int(n[:20]) for n in names if re.match(r"\d{20}\.checkpoint\.", n)), default=0)


def names_own_files(path: Path) -> bool:
    """Tell whether all live files are below the table, by names relative to it."""
    return not any("file:" in uri.removeprefix("file:") for uri in DeltaRs(str(path)).file_uris())


def operation(path: Path, version: int) -> str:
    """Name what a commit did."""
    for line in (path / "_delta_log" / f"{version:020}.json").read_text().splitlines():
        if line.startswith('{"commitInfo"'):
            return str(json.loads(line)["commitInfo"].get("operation"))
    return ""


def files_below(path: Path) -> dict[str, tuple[int, int]]:
    """List all that readers look at: equal if nothing was written."""
    return {
        str(file.relative_to(path)): (file.stat().st_size, file.stat().st_mtime_ns)
        for file in path.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }

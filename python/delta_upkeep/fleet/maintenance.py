"""Runs MAINTAIN on the tables of a fleet."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Protocol

from pyspark.sql import Row, SparkSession

from delta_upkeep._table.names import label_of
from delta_upkeep.fleet.listings import SESSION_CATALOG
from delta_upkeep.fleet.plan import Facts, Size, Work
from delta_upkeep.fleet.selection import Chosen, Found
from delta_upkeep.fleet.summary import Step
from delta_upkeep.tables import UpkeepTable


class Maintainer(Protocol):
    """Plans and maintains tables. Called from several threads."""

    def facts_of(self, chosen: Chosen) -> Facts:
        """Count the data files, and read the properties."""

    def maintain(self, chosen: Chosen, max_bytes: int | None, dry_run: bool) -> Work:
        """Do what is due, and rewrite at most this many bytes; or only find out what is due."""

    def cancel(self) -> None:
        """Cancel all running Spark jobs of this pass."""


class SparkMaintainer:
    """Maintains tables in a session. Its jobs have a tag, so it cancels only its own."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tag = f"delta-upkeep-{uuid.uuid4()}"

    def maintain(self, chosen: Chosen, max_bytes: int | None, dry_run: bool) -> Work:
        """Do what is due, and rewrite at most this many bytes; or only find out what is due."""
        options = bounded(chosen.options, max_bytes)
        return work_of(self._open(chosen.table).maintain(dryRun=dry_run, options=options).collect())

    def facts_of(self, chosen: Chosen) -> Facts:
        """Count the data files, and read the properties."""
        detail = self._open(chosen.table).detail()
        row = detail.select("numFiles", "sizeInBytes", "properties").collect()[0]
        return Facts(Size(row.numFiles, row.sizeInBytes), row.properties)

    def cancel(self) -> None:
        """Cancel all running Spark jobs of this pass."""
        self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def _open(self, table: Found) -> UpkeepTable:
        # A tag applies to one thread.
        self._spark.sparkContext.addJobTag(self._tag)
        if table.name is None:
            return UpkeepTable.forPath(self._spark, table.location)
        return UpkeepTable.forName(self._spark, label_of(self._short(table.name)))

    def _short(self, name: tuple[str, ...]) -> tuple[str, ...]:
        """Leave out the session's own catalog: before 4.0, Delta accepts only two-part names."""
        own = SESSION_CATALOG
        is_implied = name[0] == own and self._spark.catalog.currentCatalog() == own
        return name[1:] if is_implied else name


def bounded(options: Mapping[str, str], max_bytes: int | None) -> dict[str, str]:
    """Replace ``maxBytes`` by the bytes that the budget grants.

    The option must be at least 1, which is less than any data file.
    """
    if max_bytes is None:
        return dict(options)
    others = {name: value for name, value in options.items() if name.lower() != "maxbytes"}
    return {**others, "maxBytes": str(max(1, max_bytes))}


def work_of(rows: list[Row]) -> Work:
    """Read the rows of MAINTAIN."""
    steps = tuple(Step(row.step, row.status, row.reason) for row in rows)
    metrics = next((row.optimize.metrics for row in rows if row.optimize is not None), None)
    if metrics is None:
        return Work(steps)
    vectors = metrics.deletionVectorStats
    return Work(
        steps,
        metrics.numFilesRemoved,
        metrics.numFilesAdded,
        metrics.filesRemoved.totalSize,
        vectors.numDeletionVectorsRemoved if vectors is not None else 0,
    )

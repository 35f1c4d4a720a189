"""What a table held at each version, as others read it then: whatever comes, they read the same."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from foreign.checks import Broken
from foreign.delta_rs import ids_by_duckdb, ids_by_pyarrow
from foreign.rows import Rows, difference
from foreign.table import forget, version_of
from support.sessions import session_conf
from torture.histories.readers import (
    FEED_SCHEMA,
    Read,
    Settings,
    by_spark,
    feed,
    names_own_files,
    operation,
    rows_by_delta_rs,
    rows_with_ids,
)
from torture.statements import short

OURS = ("OPTIMIZE", "REORG")


class Truth:
    """The rows of each version of one table, its change feed, and what was promised of them."""

    def __init__(self, spark: SparkSession, path: Path, tally: Counter[str]) -> None:
        self.spark = spark
        self.path = path
        self.tally = tally
        self.reads: dict[int, Read] = {}
        self.feeds: dict[int, Rows] = {}
        self.by_delta_rs: set[int] = set()
        self.floor = 0  # the oldest version that retention promises
        self.aged = -1  # the newest version that is older than retention
        self.ids: Rows | None = None
        self.settings: Settings | None = None

    @property
    def newest(self) -> int:
        return max(self.reads, default=-1)

    @property
    def promised(self) -> list[int]:
        return [version for version in sorted(self.reads) if version >= self.floor]

    def learn(self) -> None:
        """Read what a user has just committed, and what an auto-compaction made of it."""
        known = self.newest
        for version in range(known + 1, version_of(self.path) + 1):
            self._learn(version, of_ours=version > known + 1 and self._is_ours(version))
        self.ids = self._ids()
        self.settings = Settings.of(self.spark, self.path)

    def see_again(self) -> bool:
        """Look who still reads the table after another engine; tell whether Delta does."""
        forget(self.spark)
        reads = self.reads
        try:
            same = all(by_spark(self.spark, self.path, v) == reads[v] for v in self.promised)
        except Exception:
            return False
        self.by_delta_rs = {
            v
            for v in self.by_delta_rs
            if rows_by_delta_rs(self.path, v, reads[v].schema) == reads[v].rows
        }
        return same

    def _is_ours(self, version: int) -> bool:
        return operation(self.path, version) in OURS

    def _learn(self, version: int, of_ours: bool) -> None:
        read = by_spark(self.spark, self.path, version)
        if of_ours:
            self._same(f"compaction {version}", version, self.reads[version - 1].rows, read.rows)
        self.reads[version] = read
        if rows_by_delta_rs(self.path, version, read.schema) == read.rows:
            self.by_delta_rs.add(version)
        changes = self._feed(version, version)
        if changes is None:
            return
        if of_ours and changes:
            raise Broken(f"compaction {version} changes rows, says the feed: {list(changes)[:3]}")
        self.feeds[version] = changes

    def _feed(self, first: int, last: int) -> Rows | None:
        """Read the changes of some versions; None where Delta has none, or cannot read them."""
        columns = self.reads[last].schema.names
        try:
            with session_conf(self.spark, {FEED_SCHEMA: "endVersion"}):
                return feed(self.spark, self.path, first, last, columns)
        except Exception:
            return None

    def _ids(self) -> Rows | None:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.path}`").collect()
        if detail.properties.get("delta.enableRowTracking") != "true":
            return None
        return rows_with_ids(self.spark, self.path)

    def features(self) -> str:
        """Give the protocol."""
        return self.settings.protocol if self.settings else ""

    def may_age(self, last: int) -> bool:
        """Tell whether times of versions can be changed: they may be in the metadata too."""
        metadata = self.settings.metadata if self.settings else ""
        return last > self.aged and "inCommitTimestampEnablement" not in metadata

    def follow_delta(self) -> None:
        """Promise what Delta's own cleanup has left: it keeps less of the day of the cutoff."""
        while self.floor < self.newest:
            try:
                by_spark(self.spark, self.path, self.floor)
                return
            except Exception:
                self.floor += 1

    def times(self) -> dict[int, float]:
        """Tell when the promised versions were written, in seconds."""
        log = self.path / "_delta_log"
        return {v: (log / f"{v:020}.json").stat().st_mtime for v in self.promised}

    def expire(self, times: dict[int, float]) -> None:
        """Promise no version that was replaced before this minute."""
        now = time.time()
        expired = [version for version, at in times.items() if at <= now - now % 60]
        self.floor = max(expired, default=self.floor)

    def check_report(self, oldest: int) -> None:
        """Read the version that a cleanup calls the oldest, if it was there when it was made."""
        if oldest > self.floor:
            raise Broken(f"CLEANUP LOG leaves versions from {oldest} on, promised is {self.floor}")
        if oldest in self.reads:
            self._check_by_spark("CLEANUP LOG, the oldest version it reports", oldest)

    def check(self, statement: str, rng: random.Random, all_by_spark: bool) -> None:
        """Compare all that is promised with what readers find after a statement of ours."""
        known = self.newest
        newest = version_of(self.path)
        self._same(statement, known, self.reads[known].rows, by_spark(self.spark, self.path).rows)
        forget(self.spark)
        for version in range(known + 1, newest + 1):
            self._learn(version, of_ours=True)
        promised = self.promised
        some = {self.floor, newest, rng.choice(promised)}
        for version in promised:
            if all_by_spark or version in some:
                self._check_by_spark(statement, version)
            if version in self.by_delta_rs:
                self._check_by_delta_rs(statement, version)
        self._check_feed(statement)
        self._check_the_rest(statement)

    def _check_by_spark(self, statement: str, version: int) -> None:
        try:
            read = by_spark(self.spark, self.path, version)
        except Exception as e:
            raise Broken(f"{statement}: version {version} is not readable: {short(e)}") from e
        if read.schema != self.reads[version].schema:
            raise Broken(f"{statement}: version {version} has the columns {read.schema}")
        self._same(f"{statement}: version {version}", version, self.reads[version].rows, read.rows)
        self.tally["versions read by Spark"] += 1

    def _check_by_delta_rs(self, statement: str, version: int) -> None:
        read = self.reads[version]
        found = rows_by_delta_rs(self.path, version, read.schema)
        if found is None:
            raise Broken(f"{statement}: delta-rs no longer reads version {version}")
        self._same(f"{statement}: delta-rs, version {version}", version, read.rows, found)
        self.tally["versions read by delta-rs"] += 1

    def _same(self, what: str, version: int, expected: Rows, found: Rows) -> None:
        told = difference(expected, found)
        if told:
            raise Broken(f"{what} has other rows than version {version} had: {told}")

    def _check_feed(self, statement: str) -> None:
        """Compare the feed of each run of versions that have one, and the same columns."""
        for first, last in self._runs_of_feeds():
            expected = sum((self.feeds[v] for v in range(first, last + 1)), Rows())
            found = self._feed(first, last)
            if found is None:
                single = [v for v in range(first, last + 1) if self._feed(v, v) is None]
                if single:
                    raise Broken(f"{statement}: the feed of versions {single} is not readable")
                self.tally["feeds of a range refused by Delta"] += 1
                continue
            self._same(f"{statement}: the feed of {first} to {last}", last, expected, found)
            self.tally["feeds compared"] += 1

    def _runs_of_feeds(self) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for version in (v for v in self.promised if v in self.feeds):
            follows = runs and runs[-1][1] == version - 1
            if follows and self.reads[version].schema == self.reads[version - 1].schema:
                runs[-1] = (runs[-1][0], version)
            else:
                runs.append((version, version))
        return runs

    def _check_the_rest(self, statement: str) -> None:
        if self.ids is not None:
            told = difference(self.ids, rows_with_ids(self.spark, self.path))
            if told:
                raise Broken(f"{statement}: rows have other ids or commit versions: {told}")
            self.tally["row ids compared"] += 1
        now = Settings.of(self.spark, self.path)
        if self.settings is not None and not self.settings.is_kept_by(now):
            raise Broken(f"{statement}: the table was {self.settings} and is {now}")
        self._check_files()

    def _check_files(self) -> None:
        """Have others read the live files, where they hold all that the table does."""
        is_plain = not any(
            feature in self.features() for feature in ("deletionVectors", "columnMapping")
        )
        if not is_plain or self.newest not in self.by_delta_rs:
            return
        if not names_own_files(self.path):
            return
        frame = self.spark.read.format("delta").load(str(self.path))
        ids = sorted(row.id for row in frame.select("id").collect())
        if ids and not ids_by_duckdb(self.path) == ids_by_pyarrow(self.path) == ids:
            raise Broken("pyarrow or DuckDB read other ids of the live files")
        self.tally["files read by pyarrow and DuckDB"] += 1

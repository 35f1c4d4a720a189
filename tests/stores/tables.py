"""A Delta table in a store, made by a session there or copied from a local one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from stores import oracle
from stores.profiles import S3, Store
from support.sessions import session_conf

DAY_SECONDS = 24 * 3600
NO_CHECK = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}
# PySpark has no class for a task that failed.
FAILED = (PySparkException, Py4JJavaError)
# Delta's names of directories and what is in the log differ for each of them.
PARTITIONS = ("plain", "with space", "50%", "ü#:1")


class StoredTable:
    """A table of ids, with partitions of odd names."""

    def __init__(self, spark: SparkSession, store: Store, uri: str) -> None:
        self.spark = spark
        self.store = store
        self.uri = uri
        self.sql_name = f"delta.`{uri}`"

    def sql(self, statement: str) -> list[Row]:
        """Run a statement, in which `T` stands for the table, without the check of retentions."""
        with session_conf(self.spark, NO_CHECK):
            return self.spark.sql(re.sub(r"\bT\b", self.sql_name, statement)).collect()

    def one(self, statement: str) -> Row:
        (row,) = self.sql(statement)
        return row

    def create(self, **properties: str) -> StoredTable:
        pairs = ", ".join(f"'delta.{key}' = '{value}'" for key, value in properties.items())
        clause = f"TBLPROPERTIES ({pairs})" if pairs else ""
        self.sql(
            "CREATE TABLE T (id BIGINT, p STRING, text STRING) USING delta "
            f"PARTITIONED BY (p) {clause}"
        )
        return self

    def insert(self, *ids: int) -> StoredTable:
        """Add ids in one commit, each to the partition that follows from it."""
        rows = ", ".join(f"({i}, '{PARTITIONS[i % 4]}', 'text {i}')" for i in ids)
        self.sql(f"INSERT INTO T VALUES {rows}")
        return self

    def forget(self) -> StoredTable:
        """Let the session know nothing of its tables, as if it had just started."""
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        return self

    def rows(self, version: int | None = None) -> list[tuple[Any, ...]]:
        """All rows, as a session reads them that knows nothing of the table yet."""
        self.forget()
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return sorted(map(tuple, reader.load(self.uri).select("id", "p", "text").collect()))

    def ids(self, version: int | None = None) -> list[int]:
        return [row[0] for row in self.rows(version)]

    def names(self) -> set[str]:
        return set(self.store.files(self.uri))

    def data_names(self) -> set[str]:
        return {name for name in self.names() if not name.startswith(oracle.LOG)}

    def log_names(self) -> set[str]:
        return self.names() - self.data_names()

    def put(self, *names: str) -> set[str]:
        self.store.put(self.uri, dict.fromkeys(names, b"nobody knows me"))
        return set(names)

    def age(self, days: float = 1, most: int | None = None) -> StoredTable:
        """Make files older, and each version's a minute younger than the last one's."""
        start = time.time() - days * DAY_SECONDS
        for name in self.names():
            digits = name.removeprefix(oracle.LOG).split(".")[0]
            number = int(digits) if name.startswith(oracle.LOG) and digits.isdigit() else 0
            if most is None or number <= most:
                self.store.set_time(self.uri, name, start + 60 * number)
        return self.forget()

    def relative(self, path: str) -> str:
        """The name below the table of a path in a result."""
        for root in (self.uri, self.uri.removeprefix("file:")):
            path = path.removeprefix(f"{root}/")
        return path

    def vacuum(self, options: str = "mode = 'full'") -> Row:
        return self.one(f"VACUUM T RETAIN 0 HOURS OPTIONS ({options})")

    def planned(self, options: str = "mode = 'full'") -> tuple[Row, set[str]]:
        """The totals of a dry run, and the files that it names."""
        *files, total = self.sql(f"VACUUM T RETAIN 0 HOURS DRY RUN OPTIONS ({options})")
        gone = {self.relative(f.path) for f in files if (f.verdict, f.kind) == ("delete", "file")}
        return total, gone


def copy(source: Path, to: StoredTable) -> StoredTable:
    """Put a local table into a store."""
    files = (path for path in sorted(source.rglob("*")) if path.is_file())
    to.store.put(
        to.uri,
        {
            str(path.relative_to(source)): path.read_bytes()
            for path in files
            # Checksums of Hadoop's local file system, which only it would look at.
            if not (path.name.startswith(".") and path.name.endswith(".crc"))
        },
    )
    return to


def live_in(t: StoredTable) -> StoredTable:
    """Leave files of all kinds: needed, removed, of vectors, of changes."""
    t.create(enableChangeDataFeed="true", enableDeletionVectors="true")
    t.insert(*range(8)).insert(*range(8, 16))
    t.sql("DELETE FROM T WHERE id = 1")
    t.sql("UPDATE T SET text = 'new' WHERE id IN (2, 3)")
    t.sql("OPTIMIZE T")
    t.insert(*range(16, 24))
    t.sql("DELETE FROM T WHERE id IN (4, 16)")
    return t


def put_orphans(t: StoredTable) -> set[str]:
    """Leave files of failed writers; those that Delta's rules do not hide."""
    # The others have no colons in names, or trouble with them.
    colons = {"p=1/12:30:00.parquet"} if isinstance(t.store, S3) else set()
    found = t.put(
        "orphan.parquet",
        "p=1/part with space %20 & ü#1 100%.parquet",
        "_change_data/cdc-orphan.parquet",
        "_delta_index/i.bin",
        "deep/er/file.txt",
        *colons,
    )
    t.put("p=7/.hidden.parquet", "p=7/_temporary/x.parquet", "_tmp/y.parquet")
    return found


@contextmanager
def unchanged(t: StoredTable) -> Iterator[None]:
    """The rows are the same afterwards."""
    before = t.rows()
    yield
    assert t.rows() == before

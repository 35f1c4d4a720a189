"""One Spark session for all tests of this process, and tables to maintain in it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import (
    COORDINATE,
    PARQUET_AVRO,
    REPOSITORY,
    ROOT,
    SHORT_LIVED,
    small_session,
    start_no_processes,
    with_faults,
)
from support.sessions import session_conf
from support.templates import copy_template

DAY_SECONDS = 24 * 3600
TURNS = 5
DELTA = "spark.databricks.delta"
# Queries of a few rows take longer to be compiled, and planned again, than to run.
SIMPLE_QUERIES = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that take turns and whose turn it is not, if `TEST_TURN` names one."""
    turn = os.environ.get("TEST_TURN")
    if not turn:
        return
    waits = [
        item
        for item in items
        if item.get_closest_marker("takes_turns") and not is_turn_of(item, turn)
    ]
    config.hook.pytest_deselected(items=waits)
    items[:] = [item for item in items if item not in waits]


def is_turn_of(item: pytest.Item, turn: str) -> bool:
    name = f"{item.path.relative_to(ROOT)}::{item.name}"
    return zlib.crc32(name.encode()) % TURNS == int(turn) % TURNS


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    root = tmp_path_factory.mktemp("spark")
    builder = (
        small_session("2g")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        # Tests age the log, and then read what a cleanup has left of it.
        .config(
            f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration",
            "false",
        )
        # Tests say themselves when checkpoints are made.
        .config("spark.deltaUpkeep.checkpoint.mode", "delta")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
    )
    for key, value in SIMPLE_QUERIES.items():
        builder.config(key, value)
    os.environ["SPARK_SUBMIT_OPTS"] = SHORT_LIVED
    # Two processes that fetch one package at once are in each other's way.
    with (root.parent.parent / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        session = configure_spark_with_delta_upkeep(
            with_faults(builder), [PARQUET_AVRO]
        ).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    start_no_processes(session)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def usual_queries(spark: SparkSession) -> Iterator[None]:
    """Queries as users have them, which also read Parquet in batches."""
    usual = {
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.codegen.factoryMode": "FALLBACK",
        "spark.sql.adaptive.enabled": "true",
    }
    with session_conf(spark, usual):
        yield


class Table:
    """A Delta table by path: ids from 1, in two partitions, a commit and a small file for each."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark = spark
        self.path = path
        self.sql_name = f"delta.`{path}`"

    def create(self, properties: dict[str, str]) -> Table:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        clause = f"TBLPROPERTIES ({pairs})" if pairs else ""
        self.spark.sql(
            f"CREATE TABLE {self.sql_name} (id BIGINT, p INT, text STRING) USING delta "
            f"PARTITIONED BY (p) {clause}"
        )
        return self

    def append(self, *ids: int) -> Table:
        for i in ids:
            self.spark.sql(f"INSERT INTO {self.sql_name} VALUES ({i}, {i % 2}, 'text {i}')")
        return self

    def ids(self, version: int | None = None) -> list[int]:
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return sorted(row.id for row in reader.load(str(self.path)).select("id").collect())

    @property
    def version(self) -> int:
        return max(int(file.stem) for file in self.log.glob("*.json") if file.stem.isdigit())

    @property
    def log(self) -> Path:
        return self.path / "_delta_log"

    def log_names(self) -> set[str]:
        """Files of the log, without the checksums of Hadoop's local file system."""
        files = (file for file in self.log.rglob("*") if file.is_file())
        return {str(file.relative_to(self.log)) for file in files if not file.name.startswith(".")}

    def all_files(self) -> dict[str, float]:
        """Every file below the table and when it was written: equal if nothing was."""
        files = (file for file in self.path.rglob("*") if file.is_file())
        return {str(file): file.stat().st_mtime for file in files}

    def added(self) -> list[dict[str, Any]]:
        """What the newest commit adds."""
        newest = max(self.log.glob("*.json"))
        actions = map(json.loads, newest.read_text().splitlines())
        return [action["add"] for action in actions if "add" in action]

    def age_log(self, days: float, up_to: int) -> None:
        """Make the files of versions up to `up_to` some days old, a minute apart."""
        start = time.time() - days * DAY_SECONDS
        for file in self.log.iterdir():
            digits = file.name.split(".")[0]
            if digits.isdigit() and int(digits) <= up_to:
                when = start + 60 * int(digits)
                os.utime(file, (when, when))


TableFactory = Callable[..., Table]


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> TableFactory:
    def make(*ids: int, **properties: str) -> Table:
        names = {f"delta.{key}": value for key, value in properties.items()}
        t = Table(spark, tmp_path / f"t{uuid.uuid4().hex[:8]}")
        # Delta counts a table's small files by its id, which copies share.
        if any(name.startswith("delta.autoOptimize.") for name in names):
            return t.create(names).append(*ids)
        copy_template(
            spark,
            t.path,
            ("table", ids, *names.items()),
            lambda path: Table(spark, path).create(names).append(*ids),
        )
        return t

    return make


@pytest.fixture
def catalog_table(spark: SparkSession) -> Iterator[str]:
    """A table of the catalog, by its name."""
    name = f"t{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, p INT) USING delta PARTITIONED BY (p)")
    for i in range(1, 5):
        spark.sql(f"INSERT INTO {name} VALUES ({i}, {i % 2})")
    yield name
    spark.sql(f"DROP TABLE {name}")


@pytest.fixture(scope="session")
def packages() -> list[str]:
    """Options that bring Delta Upkeep in by its coordinate alone, freshly resolved."""
    ivy = ROOT / "build/ivy"
    for stale in [ivy / "cache/io.deltaupkeep", *ivy.glob("jars/io.deltaupkeep*")]:
        shutil.rmtree(stale) if stale.is_dir() else stale.unlink(missing_ok=True)
    settings = {
        "spark.jars.ivy": ivy,
        "spark.ui.enabled": "false",
        "spark.databricks.delta.snapshotPartitions": 1,
        "spark.deltaUpkeep.optimize.verify": "true",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension",
    }
    pairs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    repository = ["--repositories", REPOSITORY.as_uri(), "--packages", COORDINATE]
    return ["--master", "local[1]", *repository, *pairs]

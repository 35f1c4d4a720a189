"""One session with all stores, and tables in each of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyspark.sql import SparkSession

from conftest import DELTA, SIMPLE_QUERIES
from delta_upkeep import configure_spark_with_delta_upkeep
from stores import hdfs, s3, tables
from stores.profiles import S3, Hdfs, Local, Store
from stores.tables import StoredTable
from support.processes import ROOT, SHORT_LIVED, small_session

# Not packages of the session: the cluster's classes share packages with those of Spark's Hadoop,
# and see into them only if the same loader has loaded both.
JARS = ROOT / ".venv/stores"
KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
PROFILES = ("local", "s3", "s3-pages", "hdfs")
PAGE = "10"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[s3.FaultyS3, str]]:
    with s3.started() as server:
        yield server


@pytest.fixture(scope="session")
def spark(
    s3_server: tuple[s3.FaultyS3, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    root = tmp_path_factory.mktemp("spark")
    builder = small_session("2g")
    s3a = {
        "endpoint": s3_server[1],
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": "key",
        "secret.key": "secret",
        # The server does not answer before it has the body.
        "connection.expect.continue": "false",
        # Requests are tried again as often as by default, after shorter waits.
        "retry.interval": "10ms",
        "retry.throttle.interval": "10ms",
        # As small as possible.
        "multipart.size": "5M",
        "multipart.threshold": "5M",
        # By default Hadoop uses a quarter of what S3 takes.
        "bucket.lake.bulk.delete.page.size": "1000",
        "bucket.pages.paging.maximum": PAGE,
        "bucket.pages.bulk.delete.page.size": PAGE,
    }
    settings = {
        **SIMPLE_QUERIES,
        **{f"spark.hadoop.fs.s3a.{key}": value for key, value in s3a.items()},
        "spark.hadoop.dfs.blocksize": str(hdfs.BLOCK_BYTES),
        "spark.hadoop.dfs.replication": "1",
        "spark.driver.extraClassPath": f"{JARS}/*",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        f"{DELTA}.snapshotPartitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
        # Tests say themselves when checkpoints are made.
        "spark.deltaUpkeep.checkpoint.mode": "delta",
        f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
        "spark.sql.warehouse.dir": str(root / "warehouse"),
    }
    for key, value in settings.items():
        builder.config(key, value)
    os.environ["SPARK_SUBMIT_OPTS"] = SHORT_LIVED
    session = configure_spark_with_delta_upkeep(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def s3_client(s3_server: tuple[s3.FaultyS3, str]) -> Any:
    return boto3.client("s3", endpoint_url=s3_server[1], region_name="us-east-1", **KEYS)


@pytest.fixture(scope="session")
def s3_store(s3_client: Any, s3_server: tuple[s3.FaultyS3, str]) -> S3:
    return S3(s3_client, s3_server[0], "lake")


@pytest.fixture(scope="session")
def paged_store(s3_client: Any, s3_server: tuple[s3.FaultyS3, str]) -> S3:
    """Listings and bulk deletes have a few keys in each request."""
    return S3(s3_client, s3_server[0], "pages")


@pytest.fixture(scope="session")
def hdfs_store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    root = tmp_path_factory.mktemp("hdfs")
    with hdfs.started(spark, root / "cluster") as cluster:
        yield Hdfs(spark, cluster, root)


@pytest.fixture(params=PROFILES)
def store(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Store:
    if request.param == "local":
        return Local(spark, tmp_path_factory.mktemp("local"))
    names = {"s3": "s3_store", "s3-pages": "paged_store", "hdfs": "hdfs_store"}
    found: Store = request.getfixturevalue(names[request.param])
    return found


@pytest.fixture
def table(spark: SparkSession, store: Store) -> StoredTable:
    """No table yet, only its place."""
    return StoredTable(spark, store, store.new_table())


Template = Callable[[StoredTable], object]
CopyFactory = Callable[[Template, Store], StoredTable]


@pytest.fixture(scope="session")
def copy_of(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CopyFactory:
    """Tables that are built once, locally, and copied into a store."""
    built: dict[Template, Path] = {}

    def make(build: Template, to: Store) -> StoredTable:
        if build not in built:
            local = Local(spark, tmp_path_factory.mktemp("templates"))
            uri = local.new_table()
            build(StoredTable(spark, local, uri))
            built[build] = Path(uri.removeprefix("file:"))
        return tables.copy(built[build], StoredTable(spark, to, to.new_table()))

    return make


@pytest.fixture
def lived_in(copy_of: CopyFactory, store: Store) -> StoredTable:
    return copy_of(tables.live_in, store)

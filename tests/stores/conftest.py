"""One session with all stores, and tables in each of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from stores import settings, tables
from stores.profiles import S3, Hdfs, Local, Store
from stores.servers import hdfs, s3
from stores.tables import StoredTable
from support.processes import SHORT_LIVED, small_session

KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
PROFILES = ("local", "s3", "s3-pages", "hdfs")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[s3.FaultyS3, str]]:
    with s3.started() as server:
        yield server


@pytest.fixture(scope="session")
def spark(
    s3_server: tuple[s3.FaultyS3, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SparkSession]:
    root = tmp_path_factory.mktemp("spark")
    builder = small_session("2g")
    configured = {
        **settings.of_session(),
        **settings.of_s3(s3_server[1]),
        **settings.of_hdfs(),
        "spark.sql.warehouse.dir": str(root / "warehouse"),
    }
    for key, value in configured.items():
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
    names = {"s3-pages": "paged_store"}
    found: Store = request.getfixturevalue(names.get(request.param, f"{request.param}_store"))
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

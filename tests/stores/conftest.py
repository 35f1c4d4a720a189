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
from stores.proxied import Azure, Gcs
from stores.servers import azure, gcs, hdfs, s3
from stores.tables import StoredTable
from support.processes import SHORT_LIVED, small_session

KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
PROFILES = ("local", "s3", "s3-pages", "hdfs")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[s3.FaultyS3, str]]:
    with s3.started() as server:
        yield server


@pytest.fixture(scope="session")
def azure_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[azure.FaultyAzure, str, str]]:
    with azure.started(tmp_path_factory.mktemp("azure")) as server:
        yield server


@pytest.fixture(scope="session")
def gcs_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[gcs.FaultyGcs, str, str]]:
    with gcs.started(tmp_path_factory.mktemp("gcs")) as server:
        yield server


@pytest.fixture(scope="session")
def spark(
    s3_server: tuple[s3.FaultyS3, str],
    azure_server: tuple[azure.FaultyAzure, str, str],
    gcs_server: tuple[gcs.FaultyGcs, str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SparkSession]:
    root = tmp_path_factory.mktemp("spark")
    builder = small_session("2g")
    configured = {
        **settings.of_session(),
        **settings.of_s3(s3_server[1]),
        **settings.of_azure(azure_server[1]),
        **settings.of_gcs(gcs_server[1]),
        **settings.of_hdfs(),
        "spark.sql.warehouse.dir": str(root / "warehouse"),
    }
    for key, value in configured.items():
        builder.config(key, value)
    os.environ["SPARK_SUBMIT_OPTS"] = SHORT_LIVED
    session = configure_spark_with_delta_upkeep(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    # Users may not set less than 15 seconds.
    jvm = session._jvm
    a_second = jvm.java.time.Duration.ofSeconds(1)
    jvm.org.apache.hadoop.fs.s3a.impl.AWSClientConfig.setMinimumOperationDuration(a_second)
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
def impatient_store(s3_client: Any, s3_server: tuple[s3.FaultyS3, str]) -> S3:
    """An answer that takes more than a second is given up."""
    return S3(s3_client, s3_server[0], "impatient")


@pytest.fixture(scope="session")
def hdfs_store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    root = tmp_path_factory.mktemp("hdfs")
    with hdfs.started(spark, root / "cluster") as cluster:
        yield Hdfs(spark, cluster, root)


@pytest.fixture(scope="session")
def azure_store(azure_server: tuple[azure.FaultyAzure, str, str]) -> Azure:
    return Azure(azure_server[0], azure_server[2], "lake")


@pytest.fixture(scope="session")
def gcs_store(gcs_server: tuple[gcs.FaultyGcs, str, str]) -> Gcs:
    return Gcs(gcs_server[0], gcs_server[2], "lake")


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

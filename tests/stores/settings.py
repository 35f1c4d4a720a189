"""How a session reaches the stores."""

from __future__ import annotations

from collections.abc import Mapping

from conftest import DELTA, SIMPLE_QUERIES
from stores.servers import azure, hdfs
from support.processes import ROOT

# Not packages of the session: the cluster's classes share packages with those of Spark's Hadoop,
# and see into them only if the same loader has loaded both.
JARS = ROOT / ".venv/stores"
PAGE = "10"


def of_session() -> dict[str, str]:
    return {
        **SIMPLE_QUERIES,
        "spark.driver.extraClassPath": f"{JARS}/*",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        f"{DELTA}.snapshotPartitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
        # Tests say themselves when checkpoints are made.
        "spark.deltaUpkeep.checkpoint.mode": "delta",
        f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    }


def of_s3(url: str) -> dict[str, str]:
    s3a = {
        "endpoint": url,
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
        "bucket.impatient.connection.timeout": "1s",
    }
    return _hadoop("fs.s3a", s3a)


def of_azure(url: str) -> dict[str, str]:
    abfs = {
        "abfs.endpoint": url.removeprefix("http://"),
        "always.use.https": "false",
        f"account.key.{azure.ACCOUNT}.dfs.core.windows.net": azure.KEY,
        # The emulator has no directories.
        "account.hns.enabled": "false",
        "fns.account.service.type": "BLOB",
        # The other library needs TLS.
        "networking.library": "JDK_HTTP_URL_CONNECTION",
        "account.expect.header.enabled": "false",
        # As often as by default, after shorter waits.
        "io.retry.min.backoff.interval": "10",
        "io.retry.max.backoff.interval": "50",
        "io.retry.backoff.interval": "10",
    }
    return _hadoop("fs.azure", abfs)


def of_gcs(url: str) -> dict[str, str]:
    gs = {
        "impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "project.id": "p",
        "storage.root.url": f"{url}/",
        "auth.type": "UNAUTHENTICATED",
        # Hadoop's default, '64m', is for a connector of its own.
        "block.size": str(64 << 20),
        # The fake server has neither.
        "operation.move.enable": "false",
        "hierarchical.namespace.folders.enable": "false",
    }
    return _hadoop("fs.gs", gs)


def of_hdfs() -> dict[str, str]:
    return _hadoop("dfs", {"blocksize": str(hdfs.BLOCK_BYTES), "replication": "1"})


def _hadoop(prefix: str, settings: Mapping[str, str]) -> dict[str, str]:
    return {f"spark.hadoop.{prefix}.{key}": value for key, value in settings.items()}

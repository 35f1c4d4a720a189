"""An HDFS in the JVM of a Spark session, whose superuser is not the user of the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

SUPERUSER = "superuser"
# A quota of space counts a block that is being written as if it were full.
BLOCK_BYTES = 1 << 20
_CONF = {
    "dfs.blocksize": str(BLOCK_BYTES),
    "dfs.replication": "1",
    "dfs.permissions.enabled": "true",
    "dfs.namenode.safemode.extension": "0",
    "dfs.namenode.handler.count": "4",
}


@dataclass(frozen=True)
class Cluster:
    """The address, and the file system as its superuser sees it."""

    uri: str
    admin: Any


@contextmanager
def started(spark: SparkSession, directory: Path) -> Iterator[Cluster]:
    """Start a cluster of one node."""
    jvm = spark._jvm
    user = jvm.org.apache.hadoop.security.UserGroupInformation
    conf = jvm.org.apache.hadoop.conf.Configuration()
    for key, value in {**_CONF, "hdfs.minidfs.basedir": str(directory)}.items():
        conf.set(key, value)
    me = user.getLoginUser()
    # Whoever starts it may do everything.
    user.setLoginUser(user.createRemoteUser(SUPERUSER))
    try:
        builder = jvm.org.apache.hadoop.hdfs.MiniDFSCluster.Builder(conf)
        cluster = builder.numDataNodes(1).build()
        cluster.waitActive()
    finally:
        user.setLoginUser(me)
    try:
        admin = jvm.org.apache.hadoop.fs.FileSystem.get(cluster.getURI(), conf, SUPERUSER)
        yield Cluster(cluster.getURI().toString(), admin)
    finally:
        cluster.shutdown()

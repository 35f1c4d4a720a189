"""The stores, each with what a test needs to look into it behind Spark's back."""

from __future__ import annotations

import os
import resource
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from pyspark.sql import SparkSession

from stores.servers import hdfs
from stores.servers.faulty import Request
from stores.servers.s3 import FaultyS3


class Store(ABC):
    """A place for tables. Names of files are relative to their table's root."""

    def __init__(self, root: str) -> None:
        self.root = root

    def new_table(self) -> str:
        return f"{self.root}/t{uuid.uuid4().hex[:8]}"

    @abstractmethod
    def files(self, table: str) -> dict[str, int]:
        """Every file below a table's root, with its size."""

    @abstractmethod
    def read(self, table: str, name: str) -> bytes: ...

    @abstractmethod
    def put(self, table: str, files: Mapping[str, bytes]) -> None: ...

    @abstractmethod
    def set_time(self, table: str, name: str, when: float) -> None: ...

    @abstractmethod
    def full(self, table: str) -> Any:
        """A context without room for new data files; the log may grow."""

    @abstractmethod
    def leftovers(self, table: str) -> list[str]:
        """What an aborted upload has left besides files."""


class Local(Store):
    def __init__(self, spark: SparkSession, directory: Path) -> None:
        super().__init__(f"file:{directory}")
        self._pid = spark._jvm.java.lang.ProcessHandle.current().pid()

    def _path(self, table: str, name: str = "") -> Path:
        return Path(table.removeprefix("file:"), name)

    def files(self, table: str) -> dict[str, int]:
        root = self._path(table)
        return {
            str(path.relative_to(root)): path.stat().st_size
            for path in root.rglob("*")
            # Not the checksums of Hadoop's local file system.
            if path.is_file() and not (path.name.startswith(".") and path.name.endswith(".crc"))
        }

    def read(self, table: str, name: str) -> bytes:
        return self._path(table, name).read_bytes()

    def put(self, table: str, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            path = self._path(table, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def set_time(self, table: str, name: str, when: float) -> None:
        os.utime(self._path(table, name), (when, when))

    @contextmanager
    def full(self, table: str) -> Iterator[None]:
        """No process is root here, and a limit of the JVM is much like a full disk."""
        before = resource.prlimit(self._pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (1 << 18, before[1]))
        try:
            yield
        finally:
            resource.prlimit(self._pid, resource.RLIMIT_FSIZE, before)

    def leftovers(self, table: str) -> list[str]:
        found = (path for path in self._path(table).rglob(".*.crc"))
        return [str(path) for path in found if not path.with_name(path.name[1:-4]).exists()]


class S3(Store):
    def __init__(self, client: Any, server: FaultyS3, bucket: str) -> None:
        super().__init__(f"s3a://{bucket}")
        self.client = client
        self.server = server
        self.bucket = bucket
        client.create_bucket(Bucket=bucket)

    def prefix(self, table: str) -> str:
        return table.removeprefix(f"{self.root}/") + "/"

    def files(self, table: str) -> dict[str, int]:
        prefix = self.prefix(table)
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=prefix
        )
        found = (entry for page in pages for entry in page.get("Contents", ()))
        # Not the markers of directories.
        return {e["Key"][len(prefix) :]: e["Size"] for e in found if not e["Key"].endswith("/")}

    def read(self, table: str, name: str) -> bytes:
        found = self.client.get_object(Bucket=self.bucket, Key=self.prefix(table) + name)
        data: bytes = found["Body"].read()
        return data

    @property
    def _held(self) -> Any:
        """What the server has in memory: many objects are put faster there."""
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]

    def put(self, table: str, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            self._held.put_object(self.bucket, self.prefix(table) + name, data)

    def set_time(self, table: str, name: str, when: float) -> None:
        held = self._held.get_object(self.bucket, self.prefix(table) + name)
        assert held is not None, name
        held.last_modified = datetime.fromtimestamp(when, timezone.utc).replace(tzinfo=None)

    def full(self, table: str) -> Any:
        prefix = self.prefix(table)

        def is_data(request: Request) -> bool:
            return (
                request.kind in ("PutObject", "UploadPart")
                and request.key.startswith(prefix)
                and not request.key.startswith(f"{prefix}_delta_log/")
            )

        return self.server.refusing(is_data)

    def leftovers(self, table: str) -> list[str]:
        found = self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", ())
        return [upload["Key"] for upload in found if upload["Key"].startswith(self.prefix(table))]


class Hdfs(Store):
    def __init__(self, spark: SparkSession, cluster: hdfs.Cluster, scratch: Path) -> None:
        super().__init__(f"{cluster.uri}/tables")
        self._jvm = spark._jvm
        self._scratch = scratch
        self.admin = cluster.admin
        root = self.path(self.root)
        self.admin.mkdirs(root)
        user = self._jvm.org.apache.hadoop.security.UserGroupInformation
        self.user = user.getLoginUser().getShortUserName()
        self.admin.setOwner(root, self.user, "users")
        self.fs = root.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def path(self, table: str, name: str = "") -> Any:
        # An encoded name would be decoded twice.
        path = self._jvm.org.apache.hadoop.fs.Path
        return path(path(table), path(None, None, name)) if name else path(table)

    def files(self, table: str) -> dict[str, int]:
        root = self.path(table).toUri().getPath() + "/"
        found = self.admin.listFiles(self.path(table), True)
        files = {}
        while found.hasNext():
            status = found.next()
            files[status.getPath().toUri().getPath()[len(root) :]] = status.getLen()
        return files

    def read(self, table: str, name: str) -> bytes:
        local = self._scratch / uuid.uuid4().hex
        target = self._jvm.org.apache.hadoop.fs.Path(str(local))
        self.fs.copyToLocalFile(False, self.path(table, name), target, True)
        data = local.read_bytes()
        local.unlink()
        return data

    def put(self, table: str, files: Mapping[str, bytes]) -> None:
        local = self._scratch / uuid.uuid4().hex
        for name, data in files.items():
            local.write_bytes(data)
            source = self._jvm.org.apache.hadoop.fs.Path(str(local))
            self.fs.copyFromLocalFile(False, True, source, self.path(table, name))
        local.unlink(missing_ok=True)

    def set_time(self, table: str, name: str, when: float) -> None:
        self.fs.setTimes(self.path(table, name), int(when * 1000), -1)

    @contextmanager
    def quota(
        self, table: str, names: int | None = None, space: int | None = None
    ) -> Iterator[None]:
        """Leave room for so many more names and bytes."""
        path = self.path(table)
        used = self.admin.getContentSummary(path)
        reset = self._jvm.org.apache.hadoop.hdfs.protocol.HdfsConstants.QUOTA_RESET
        counted = used.getFileCount() + used.getDirectoryCount()
        self.admin.setQuota(
            path,
            reset if names is None else counted + names,
            reset if space is None else used.getSpaceConsumed() + space,
        )
        try:
            yield
        finally:
            self.admin.setQuota(path, reset, reset)

    def full(self, table: str) -> Any:
        # For the log, which also writes one file after another, and for no larger file.
        return self.quota(table, space=hdfs.BLOCK_BYTES + (1 << 18))

    @contextmanager
    def of_somebody_else(self, table: str, directory: str) -> Iterator[None]:
        """Let the user of the session only read a directory."""
        path = self.path(table, directory)
        self.admin.setOwner(path, "somebody", "others")
        try:
            yield
        finally:
            self.admin.setOwner(path, self.user, "users")

    def leftovers(self, table: str) -> list[str]:
        return []

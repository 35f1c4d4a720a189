"""A driver that is killed in the middle of an upload."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stores import optimize_process
from stores.conftest import CopyFactory
from stores.profiles import S3
from stores.servers.faulty import PATIENCE_SECONDS, Handle
from stores.servers.s3 import FaultyS3
from stores.tables import StoredTable, unchanged
from stores.test_store_optimize import with_large_rows
from support.processes import CLEAN, ROOT, WITH_TESTS

GUIDE = ROOT / "python/docs/catalogs.md"
START_SECONDS = 240


@contextmanager
def optimizing(url: str, t: StoredTable, local: Path) -> Iterator[int]:
    """Have another process run OPTIMIZE; the number of its JVM."""
    child = subprocess.Popen(
        [sys.executable, "-m", optimize_process.__name__, url, t.uri],
        env={**CLEAN, "PYTHONPATH": WITH_TESTS, "SPARK_LOCAL_DIRS": str(local)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert child.stdout
        yield int(child.stdout.readline())
    finally:
        child.kill()
        child.wait()


def test_the_table_outlives_it_and_the_upload_too(
    copy_of: CopyFactory, s3_store: S3, s3_server: tuple[FaultyS3, str], tmp_path: Path
):
    t = copy_of(with_large_rows, s3_store)
    before = t.names()
    reached, killed = threading.Event(), threading.Event()

    def hold(handle: Handle, start_response: Any) -> Iterable[bytes]:
        reached.set()
        killed.wait(PATIENCE_SECONDS)
        raise ConnectionResetError

    with unchanged(t):
        with (
            s3_store.server.answering(lambda request: request.kind == "UploadPart", hold),
            optimizing(s3_server[1], t, tmp_path) as jvm,
        ):
            assert reached.wait(START_SECONDS)
            os.kill(jvm, signal.SIGKILL)
            killed.set()
        assert t.names() == before
        (left,) = s3_store.leftovers(t.uri)
        assert left.endswith(".parquet")
    with unchanged(t):
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2
    assert s3_store.leftovers(t.uri) == [left]


def test_s3_takes_the_rule_of_the_guide(s3_store: S3):
    (text,) = re.findall(r"```json\n(.*?)```", GUIDE.read_text(), re.S)
    rules = json.loads(text)
    s3_store.client.put_bucket_lifecycle_configuration(
        Bucket=s3_store.bucket, LifecycleConfiguration=rules
    )
    (rule,) = s3_store.client.get_bucket_lifecycle_configuration(Bucket=s3_store.bucket)["Rules"]
    assert rule["Status"] == "Enabled"
    assert rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] > 0

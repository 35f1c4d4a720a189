"""OPTIMIZE over each store, and what it leaves if the store takes no more files."""

from __future__ import annotations

import pytest

from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import S3, Hdfs, Store
from stores.tables import FAILED, StoredTable, live_in, unchanged


def with_large_rows(t: StoredTable) -> None:
    """Two files of some megabytes that no codec makes smaller."""
    t.create()
    for first in (0, 1):
        t.sql(
            f"INSERT INTO T SELECT /*+ COALESCE(1) */ {first} + 2 * id, 'plain', "
            "base64(cast(concat_ws('', transform(sequence(1, 400), i -> uuid())) AS BINARY)) "
            "FROM range(250)"
        )


def test_small_files_become_large_ones(lived_in: StoredTable):
    t = lived_in
    before = oracle.named(t.store, t.uri)
    with unchanged(t):
        row = t.one("OPTIMIZE T")
        assert row.metrics.numFilesRemoved > row.metrics.numFilesAdded > 0
    after = oracle.named(t.store, t.uri)
    assert len(after) == row.metrics.numFilesAdded < len(before)
    assert t.one("OPTIMIZE T").version is None


def test_an_optimize_without_room_leaves_nothing(copy_of: CopyFactory, store: Store):
    t = copy_of(with_large_rows, store)
    before = t.names()
    with unchanged(t):
        with store.full(t.uri), pytest.raises(FAILED) as refused:
            t.sql("OPTIMIZE T")
        assert any(
            word in str(refused.value) for word in ("quota", "AccessDenied", "File too large")
        ), refused.value
        assert t.names() ^ before == set()
        assert store.leftovers(t.uri) == []
    with unchanged(t):
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2


def assert_only_orphans_since(t: StoredTable, before: set[str]) -> None:
    """A commit that failed may still arrive, so its files stay, until VACUUM finds them."""
    left = t.names() - before
    assert left and before <= t.names()
    t.age()
    assert left <= t.planned()[1]


def test_an_optimize_whose_commit_is_refused_leaves_orphans(copy_of: CopyFactory, s3_store: S3):
    t = copy_of(with_large_rows, s3_store)
    before = t.names()
    commit = f"{s3_store.prefix(t.uri)}{oracle.LOG}{oracle.newest_version(s3_store, t.uri) + 1:020}"
    with unchanged(t):
        with (
            s3_store.server.refusing(
                lambda request: request.kind == "PutObject" and request.key.startswith(commit)
            ) as fault,
            pytest.raises(FAILED),
        ):
            t.sql("OPTIMIZE T")
        assert fault.hits > 0
        assert_only_orphans_since(t, before)
    with unchanged(t):
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2


def test_an_upload_in_parts_is_aborted(copy_of: CopyFactory, s3_store: S3):
    t = copy_of(with_large_rows, s3_store)
    before = t.names()
    with unchanged(t):
        with (
            s3_store.server.recording() as requests,
            s3_store.full(t.uri),
            pytest.raises(FAILED),
        ):
            t.sql("OPTIMIZE T")
        assert {"CreateUpload", "AbortUpload"} <= {request.kind for request in requests}
        assert t.names() ^ before == set()
        assert s3_store.leftovers(t.uri) == []


def test_an_optimize_without_names_left_leaves_orphans(copy_of: CopyFactory, hdfs_store: Hdfs):
    """There is room for the new file, and none for the commit."""
    t = copy_of(with_large_rows, hdfs_store)
    before = t.names()
    with unchanged(t):
        with hdfs_store.quota(t.uri, names=1), pytest.raises(FAILED) as refused:
            t.sql("OPTIMIZE T")
        assert "quota" in str(refused.value)
        assert_only_orphans_since(t, before)
    with unchanged(t):
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2


def test_a_failed_optimize_of_many_partitions_leaves_nothing(
    copy_of: CopyFactory, hdfs_store: Hdfs
):
    t = copy_of(live_in, hdfs_store)
    before = t.names()
    with unchanged(t):
        # The first of four new files fits.
        with hdfs_store.quota(t.uri, names=1), pytest.raises(FAILED) as refused:
            t.sql("OPTIMIZE T")
        assert "quota" in str(refused.value)
        assert t.names() ^ before == set()

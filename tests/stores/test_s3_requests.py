"""S3 as it really is: bulk deletes with a thousand keys, and some refused."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from delta_upkeep.errors import condition_of
from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import S3
from stores.settings import PAGE
from stores.tables import StoredTable, live_in, unchanged
from stores.test_store_cleanup import classic, expired

ORPHANS = 2500


@pytest.fixture
def crowded(copy_of: CopyFactory, s3_store: S3) -> StoredTable:
    """A table with nothing to delete but orphans."""
    t = copy_of(classic, s3_store)
    t.put(*(f"p=orphans/{i:04}.parquet" for i in range(ORPHANS)))
    return t


def deletes(requests) -> list[int]:
    return [len(request.keys) for request in requests if request.kind == "DeleteObjects"]


def test_a_request_deletes_a_thousand_files(crowded: StoredTable, s3_store: S3):
    with unchanged(crowded):
        with s3_store.server.recording() as requests:
            assert crowded.vacuum().filesDeleted == ORPHANS
        assert sorted(deletes(requests)) == [500, 1000, 1000]
        assert not any(request.kind == "DeleteObject" for request in requests)


def test_listings_and_deletes_have_pages(copy_of: CopyFactory, paged_store: S3):
    t = copy_of(classic, paged_store)
    t.put(*(f"p=orphans/{i:02}.parquet" for i in range(35)))
    with paged_store.server.recording() as requests:
        assert t.vacuum().filesDeleted == 35
    assert sorted(deletes(requests)) == [5, 10, 10, int(PAGE)]
    listed = [r for r in requests if r.kind == "ListObjects" and r.key.endswith("p=orphans/")]
    assert len(listed) == 4


@pytest.mark.parametrize("key_pages", [False, True])
def test_directories_with_few_files_are_listed_together(
    copy_of: CopyFactory, s3_store: S3, paged_store: S3, key_pages: bool
):
    t = copy_of(live_in, paged_store if key_pages else s3_store)
    t.put(*(f"q={i:03}/{name}" for i in range(300) for name in ("a b.parquet", "c%3Ad.parquet")))
    t.put("q=007/_hidden/x.parquet", "q=007/.hidden/deep/x.parquet", "q=007/deep/er/x.parquet")
    of_other = t.put("q=007/t/_delta_log/0.json", "q=007/t/x.parquet", "q=007/t/p=1/x.parquet")
    t.age()
    expected = oracle.unnamed(t.store, t.uri) - of_other
    assert len(expected) > 600
    with t.store.server.recording() as requests:
        gone = t.planned()[1]
    assert gone ^ expected == set()
    root = t.store.prefix(t.uri)
    listed = [r for r in requests if r.kind == "ListObjects" and "_delta_log" not in r.key]
    assert {request.key for request in listed} == {root}
    if not key_pages:
        assert len(listed) == 2
    before = t.data_names()
    t.vacuum()
    assert before - t.data_names() == expected


def test_keys_that_fail_for_a_while_are_tried_again(crowded: StoredTable, s3_store: S3):
    with (
        s3_store.server.keeping(
            lambda key: key.endswith("7.parquet") and "p=orphans" in key, "InternalError", most=2
        ) as kept,
        s3_store.server.recording() as requests,
    ):
        assert crowded.vacuum().filesDeleted == ORPHANS
    assert len(kept.hits) == ORPHANS // 10 and set(kept.hits.values()) == {2}
    # Only those that failed.
    assert sum(deletes(requests)) == ORPHANS + 2 * ORPHANS // 10
    assert not [name for name in crowded.data_names() if name.startswith("p=orphans/")]


def test_keys_that_fail_for_good_are_reported(crowded: StoredTable, s3_store: S3):
    stuck = {f"p=orphans/{i:04}.parquet" for i in (3, 1500, 2499)}
    with unchanged(crowded):
        with (
            s3_store.server.keeping(lambda key: key.endswith(tuple(stuck))),
            pytest.raises(PySparkException) as refused,
        ):
            crowded.vacuum()
        assert condition_of(refused.value) == "DELTA_UPKEEP.DATA_FILE_NOT_DELETED"
        message = str(refused.value)
        assert any(name in message for name in stuck) and "AccessDenied" in message
        assert f"{ORPHANS - 3}" in message.replace(",", "")
        left = {name for name in crowded.data_names() if name.startswith("p=orphans/")}
        assert left == stuck
        assert crowded.vacuum().filesDeleted == 3


@pytest.mark.parametrize("code", ["InternalError", "AccessDenied"])
def test_files_of_the_log_that_cannot_be_deleted(copy_of: CopyFactory, s3_store: S3, code: str):
    t = copy_of(classic, s3_store).age(days=40, most=5)
    all_expired = expired(t)
    stuck = f"{oracle.LOG}{1:020}.json"
    with s3_store.server.keeping(
        lambda key: key.endswith(stuck), code, most=2 if code == "InternalError" else None
    ) as kept:
        if code == "InternalError":
            assert t.one("CLEANUP LOG T").filesDeleted == len(all_expired)
        else:
            with pytest.raises(PySparkException) as refused:
                t.one("CLEANUP LOG T")
            assert condition_of(refused.value) == "DELTA_UPKEEP.LOG_FILE_NOT_DELETED"
            assert stuck in str(refused.value)
    assert kept.hits
    assert t.ids() == [1, 2, 3, 4, 5, 6]
    t.one("CLEANUP LOG T")
    assert not expired(t)
    assert [t.ids(version)[-1] for version in range(3, 7)] == [3, 4, 5, 6]

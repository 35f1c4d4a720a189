"""HDFS as it really is: quotas that are used up, and directories of other users."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from delta_upkeep.errors import condition_of
from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import Hdfs
from stores.tables import live_in, unchanged
from stores.test_store_cleanup import classic, expired

FULL = ({"names": 0}, {"space": 0})
ids = ["names", "space"]


@pytest.mark.parametrize("quota", FULL, ids=ids)
def test_vacuum_frees_what_a_quota_counts(
    copy_of: CopyFactory, hdfs_store: Hdfs, quota: dict[str, int]
):
    """Although there is no room for an entry in the history."""
    t = copy_of(live_in, hdfs_store).age()
    expected = oracle.unnamed(t.store, t.uri)
    with unchanged(t), hdfs_store.quota(t.uri, **quota):
        row = t.vacuum()
        assert not expected & t.names()
        assert "not entered in the history: " in row.message


@pytest.mark.parametrize("quota", FULL, ids=ids)
def test_cleanup_frees_what_a_quota_counts(
    copy_of: CopyFactory, hdfs_store: Hdfs, quota: dict[str, int]
):
    t = copy_of(classic, hdfs_store).age(days=40, most=5)
    with hdfs_store.quota(t.uri, **quota):
        assert t.one("CLEANUP LOG T").filesDeleted == 6
        assert not expired(t)
        assert t.ids() == [1, 2, 3, 4, 5, 6]


def test_files_of_somebody_else_are_reported(copy_of: CopyFactory, hdfs_store: Hdfs):
    t = copy_of(live_in, hdfs_store)
    t.put("p=theirs/1.parquet", "p=theirs/2.parquet", "p=ours/3.parquet")
    t.age()
    expected = oracle.unnamed(t.store, t.uri)
    theirs = {"p=theirs/1.parquet", "p=theirs/2.parquet"}
    with unchanged(t):
        with hdfs_store.of_somebody_else(t.uri, "p=theirs"):
            with pytest.raises(PySparkException) as refused:
                t.vacuum()
            assert expected & t.names() == theirs
        assert condition_of(refused.value) == "DELTA_UPKEEP.DATA_FILE_NOT_DELETED"
        message = str(refused.value)
        assert any(name in message for name in theirs) and "Permission denied" in message
        assert str(len(expected) - 2) in message
        t.vacuum()
        assert not expected & t.names()


def test_a_log_of_somebody_else_is_left_alone(copy_of: CopyFactory, hdfs_store: Hdfs):
    t = copy_of(classic, hdfs_store).age(days=40, most=5)
    before = t.names()
    with hdfs_store.of_somebody_else(t.uri, "_delta_log"):
        with pytest.raises(PySparkException) as refused:
            t.one("CLEANUP LOG T")
        assert condition_of(refused.value) == "DELTA_UPKEEP.LOG_NOT_WRITABLE"
        assert t.names() == before
        assert t.ids() == [1, 2, 3, 4, 5, 6]
    assert t.one("CLEANUP LOG T").filesDeleted == 6

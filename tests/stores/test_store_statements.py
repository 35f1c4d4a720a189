"""What the other tests of stores leave out: order, statistics, repairs, checkpoints, the hook."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from pyarrow.parquet import read_table

from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import Store
from stores.tables import StoredTable, unchanged
from support.sessions import session_conf

ALL = ("s3", "hdfs", "azure", "gcs")


def small_files(t: StoredTable) -> None:
    t.create(enableDeletionVectors="false", checkpointInterval="100")
    for i in range(4):
        t.insert(i, i + 4, i + 8)


def without_statistics(t: StoredTable) -> None:
    t.create(dataSkippingNumIndexedCols="0")
    t.insert(0, 1).insert(2, 3)
    t.sql("ALTER TABLE T SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '32')")


def adds(t: StoredTable) -> list[dict[str, Any]]:
    """The entries of the files that the last commit added."""
    found = oracle.actions(t.store, t.uri)
    last = max(i for i, (kind, _) in enumerate(found) if kind == "commitInfo")
    return [action for kind, action in found[last:] if kind == "add"]


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_rows_are_put_in_order(copy_of: CopyFactory, store: Store):
    t = copy_of(small_files, store)
    before = oracle.named(store, t.uri)
    with unchanged(t):
        row = t.one("OPTIMIZE T ORDER BY (id DESC)")
    after = oracle.named(store, t.uri)
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (len(before), len(after))
    for name in after:
        ids = read_table(BytesIO(store.read(t.uri, name)))["id"].to_pylist()
        assert len(ids) == 3 and ids == sorted(ids, reverse=True)


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_a_classic_checkpoint_in_parts_is_enough(copy_of: CopyFactory, store: Store):
    t = copy_of(small_files, store)
    with unchanged(t):
        row = t.one("CHECKPOINT T OPTIONS (partSize = 4)")
        assert (row.version, row.policy, row.status) == (4, "classic", "written")
        pointer = json.loads(store.read(t.uri, f"{oracle.LOG}_last_checkpoint"))
        assert pointer["version"] == 4 and pointer["parts"] > 1
        t.age(days=40)
        t.sql("CLEANUP LOG T")
        assert f"{oracle.LOG}{0:020}.json" not in t.names()


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_statistics_are_made(copy_of: CopyFactory, store: Store):
    t = copy_of(without_statistics, store)
    with unchanged(t):
        t.sql("ANALYZE TABLE T COMPUTE DELTA STATISTICS")
    found = [json.loads(add["stats"])["minValues"]["id"] for add in adds(t)]
    assert sorted(found) == [0, 1, 2, 3]


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_damaged_files_are_replaced_by_what_they_were_made_of(copy_of: CopyFactory, store: Store):
    t = copy_of(small_files, store)
    with unchanged(t):
        t.sql("OPTIMIZE T")
        damaged = sorted(oracle.named(store, t.uri))[0]
        store.put(t.uri, {damaged: b"not Parquet"})
        t.sql("FSCK REPAIR TABLE T OPTIONS (mode = 'restore', deep = true)")
        assert damaged not in oracle.named(store, t.uri)


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_a_damaged_checkpoint_is_written_anew(copy_of: CopyFactory, store: Store):
    t = copy_of(small_files, store)
    t.sql("CHECKPOINT T")
    name = f"{oracle.LOG}{4:020}.checkpoint.parquet"
    whole = t.rows()
    store.put(t.uri, {name: store.read(t.uri, name)[:40]})
    # A snapshot has the old file's version, and stores refuse to read another one.
    t.forget()
    t.sql("FSCK REPAIR TABLE T OPTIONS (deep = true)")
    assert store.files(t.uri)[name] > 40
    assert t.rows() == whole


@pytest.mark.parametrize("store", ALL, indirect=True)
def test_commits_have_checkpoints_made(copy_of: CopyFactory, store: Store):
    t = copy_of(small_files, store)
    t.sql("ALTER TABLE T SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    with session_conf(t.spark, {"spark.deltaUpkeep.checkpoint.mode": "sync"}):
        t.insert(20).insert(21)
    pointer = json.loads(store.read(t.uri, f"{oracle.LOG}_last_checkpoint"))
    assert pointer["version"] == 6
    assert t.ids() == [*range(12), 20, 21]

"""MAINTAIN, CHECKPOINT, DESCRIBE HEALTH and FSCK over each store."""

from __future__ import annotations

import pytest

from stores import oracle
from stores.conftest import PROFILES, CopyFactory
from stores.profiles import Store
from stores.tables import StoredTable, live_in, put_orphans, unchanged
from stores.test_store_cleanup import v2


def checks(t: StoredTable) -> dict[str, str]:
    return {row.check: row.severity for row in t.sql("DESCRIBE HEALTH T")}


def is_whole(t: StoredTable) -> bool:
    (total,) = t.sql("FSCK REPAIR TABLE T DRY RUN OPTIONS (deep = true)")
    return bool(total.filesChecked > 0 and total.findings == 0)


@pytest.mark.parametrize("store", (*PROFILES, "azure", "gcs"), indirect=True)
def test_a_table_is_maintained(copy_of: CopyFactory, store: Store):
    t = copy_of(live_in, store)
    put_orphans(t)
    retention = "'delta.deletedFileRetentionDuration' = 'interval 0 hours'"
    t.sql(f"ALTER TABLE T SET TBLPROPERTIES ({retention})")
    t.age(days=40)
    assert {"smallFiles", "orphans"} <= checks(t).keys()
    with unchanged(t):
        rows = t.sql("MAINTAIN T OPTIONS (vacuum = 'full')")
        assert [row.step for row in rows] == ["optimize", "checkpoint", "vacuum", "cleanup"]
        assert {row.step for row in rows if row.status == "done"} >= {"optimize", "vacuum"}
    t.age()
    t.vacuum()
    assert oracle.unnamed(store, t.uri) == set()
    assert "critical" not in checks(t).values()
    assert is_whole(t)


# Not on GCS: its emulator refuses the rename.
@pytest.mark.parametrize("store", (*PROFILES, "azure"), indirect=True)
def test_checkpoints_of_v2_are_written_and_read(copy_of: CopyFactory, store: Store):
    t = copy_of(v2, store)
    with unchanged(t):
        row = t.one("CHECKPOINT T")
        assert (row.version, row.policy, row.status) == (6, "v2", "written")
        # It is read without the commits.
        t.age(days=40)
        t.sql("CLEANUP LOG T")
        assert f"{oracle.LOG}{0:020}.json" not in t.names()
    assert t.one("CHECKPOINT T").status == "exists"
    assert is_whole(t)

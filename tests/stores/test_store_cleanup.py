"""CLEANUP LOG over each store: what is expired goes, and every version that is left is read."""

from __future__ import annotations

import pytest

from stores.conftest import CopyFactory
from stores.oracle import LOG
from stores.profiles import Store
from stores.tables import StoredTable


def classic(t: StoredTable) -> None:
    """Versions 0 to 6, and a checkpoint of version 3."""
    _with_checkpoint(t, "classic")


def v2(t: StoredTable) -> None:
    _with_checkpoint(t, "v2")


def _with_checkpoint(t: StoredTable, policy: str) -> None:
    t.create(checkpointPolicy=policy, enableExpiredLogCleanup="false")
    t.insert(1).insert(2).insert(3)
    t.sql("CHECKPOINT T")
    t.insert(4).insert(5).insert(6)


def expired(t: StoredTable) -> set[str]:
    """The files of versions before the checkpoint."""
    return {name for name in t.log_names() if name.removeprefix(LOG)[:20] < f"{3:020}"}


@pytest.mark.parametrize("build", [classic, v2])
def test_what_is_before_the_checkpoint_goes(copy_of: CopyFactory, store: Store, build):
    t = copy_of(build, store).age(days=40, most=5)
    expected = expired(t)
    assert len(expected) == 6
    *files, total = t.sql("CLEANUP LOG T DRY RUN")
    assert {LOG + row.file for row in files if row.verdict == "delete"} == expected
    before = t.names()
    row = t.one("CLEANUP LOG T")
    assert before - t.names() == expected
    assert (row.filesDeleted, row.oldestReadableVersion) == (total.filesDeleted, 3) == (6, 3)
    for version in range(3, 7):
        assert t.ids(version) == list(range(1, version + 1))
    assert t.one("CLEANUP LOG T").filesDeleted == 0


def test_a_retention_may_be_given(copy_of: CopyFactory, store: Store):
    t = copy_of(classic, store).age(days=2, most=5)
    expected = expired(t)
    assert t.one("CLEANUP LOG T").filesDeleted == 0
    before = t.names()
    assert t.one("CLEANUP LOG T RETAIN 24 HOURS").filesDeleted == len(expected)
    assert before - t.names() == expected
    assert t.ids() == [1, 2, 3, 4, 5, 6]

"""Two drivers that commit at the same moment: what each store lets happen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import S3
from stores.proxied import Azure, Gcs
from stores.servers.faulty import Matches
from stores.tables import StoredTable

NEW = 100
PUBLISHES = {"azure": "Copy", "gcs": "Upload"}


def small_files(t: StoredTable) -> None:
    t.create(enableDeletionVectors="false")
    for i in range(4):
        t.insert(i, i + 4)


def appended_by_another(t: StoredTable) -> Callable[[], None]:
    """What another driver does to add a row: the commit is made beforehand, on a copy."""
    copy = StoredTable(t.spark, t.store, t.store.new_table())
    files = {name: t.store.read(t.uri, name) for name in t.names()}
    t.store.put(copy.uri, files)
    copy.insert(NEW)
    made = {name: t.store.read(copy.uri, name) for name in copy.names() - files.keys()}
    return lambda: t.store.put(t.uri, made)


def commits(t: StoredTable, kind: str) -> Matches:
    """Whether a request publishes the next version."""
    name = f"{oracle.LOG}{oracle.newest_version(t.store, t.uri) + 1:020}.json"
    key = t.store.prefix(t.uri) + name
    return lambda request: request.kind == kind and request.key == key


@pytest.mark.parametrize("statement", ["OPTIMIZE T", "OPTIMIZE T ORDER BY (id)"])
@pytest.mark.parametrize("name", PUBLISHES)
def test_the_commit_of_the_other_driver_stays(
    request: pytest.FixtureRequest, copy_of: CopyFactory, name: str, statement: str
):
    store: Azure | Gcs = request.getfixturevalue(f"{name}_store")
    t = copy_of(small_files, store)
    before = t.ids()
    other = appended_by_another(t)
    with store.server.preceded_by(other, commits(t, PUBLISHES[name])) as fault:
        row = t.one(statement)
    assert fault.hits == 1
    assert t.ids() == [*before, NEW]
    assert row.version == oracle.newest_version(store, t.uri) == 6


def test_on_s3_the_commit_of_a_second_driver_is_lost(copy_of: CopyFactory, s3_store: S3):
    """As Delta's page says: the check and the write of its LogStore are two requests."""
    t = copy_of(small_files, s3_store)
    before = t.ids()
    other = appended_by_another(t)
    with s3_store.server.preceded_by(other, commits(t, "PutObject")) as fault:
        t.one("OPTIMIZE T")
    assert fault.hits == 1
    assert t.ids() == before

"""VACUUM over each store: exactly the files that nothing names, by listing and by log."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from stores import oracle
from stores.conftest import CopyFactory
from stores.profiles import S3, Local
from stores.tables import StoredTable, live_in, put_orphans, unchanged
from support.sessions import session_conf


def of_delta(t: StoredTable) -> set[str]:
    """What Delta would delete, without directories."""
    with session_conf(t.spark, {"spark.deltaUpkeep.enabled": "false"}):
        rows = t.sql("VACUUM T RETAIN 0 HOURS DRY RUN")
    return {t.relative(row.path) for row in rows} & t.names()


def test_the_files_that_nothing_names_go(table: StoredTable):
    t = live_in(table)
    put_orphans(t)
    t.age()
    expected = oracle.unnamed(t.store, t.uri)
    assert len(expected) > 20
    total, gone = t.planned()
    assert gone ^ expected == set()
    assert of_delta(t) ^ expected == set()
    with unchanged(t):
        before = t.data_names()
        row = t.vacuum()
        assert before - t.data_names() == expected
    assert row.filesDeleted == total.filesDeleted >= len(expected)
    assert (row.mode, t.planned()[1]) == ("full", set())
    before = t.data_names()
    # Directories that are empty now, and then those that had only these.
    counts = [t.vacuum().filesDeleted for _ in range(3)]
    assert (t.data_names(), counts[-1]) == (before, 0)


def test_by_log_only_the_log_is_listed(lived_in: StoredTable):
    t = lived_in
    orphans = put_orphans(t)
    t.age()
    expected = oracle.tombstones(t.store, t.uri)
    assert len(expected) > 15
    assert t.planned("mode = 'log'")[1] ^ expected == set()
    with unchanged(t):
        before = t.data_names()
        if isinstance(t.store, S3):
            with t.store.server.recording() as requests:
                row = t.vacuum("mode = 'log'")
            listed = {request.key for request in requests if request.kind == "ListObjects"}
            log = t.store.prefix(t.uri) + oracle.LOG
            assert listed and not {key for key in listed if not key.startswith(log)}
        else:
            row = t.vacuum("mode = 'log'")
        assert before - t.data_names() == expected
    assert (row.mode, row.filesDeleted) == ("log", len(expected))
    assert t.vacuum("mode = 'log'").filesDeleted == 0
    assert orphans <= t.data_names()


def test_limits_leave_the_rest_to_later_runs(copy_of: CopyFactory, s3_store: S3):
    t = copy_of(live_in, s3_store).age()
    expected = t.planned("mode = 'log'")[1]
    before = t.data_names()
    with unchanged(t):
        counts = [t.vacuum("mode = 'log', maxFiles = 12").filesDeleted for _ in range(3)]
    assert counts == [12, len(expected) - 12, 0]
    assert before - t.data_names() == expected


def test_a_colon_in_a_local_name_stops_nothing(
    copy_of: CopyFactory, spark: SparkSession, tmp_path: Path
):
    """Hadoop cannot delete such a file: its checksum would have a name that is no path."""
    t = copy_of(live_in, Local(spark, tmp_path))
    t.put("p=1/12:30:00.parquet", "orphan.parquet")
    t.age()
    expected = oracle.unnamed(t.store, t.uri)
    assert t.planned()[1] ^ expected == set()
    row = t.vacuum()
    assert t.data_names() & expected == {"p=1/12:30:00.parquet"}
    reasons = {r.reason: r.files for r in row.reasons if r.verdict == "keep"}
    assert reasons["the file system cannot delete a file of such a name"] == 1

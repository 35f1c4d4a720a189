"""CLEANUP LOG: what is expired goes, what retention promises stays."""

import os
import shutil
import time
from importlib import metadata
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from conftest import DAY_SECONDS, Table, TableFactory
from delta_upkeep import UpkeepTable
from foreign.delta_rs import ids_by_delta_rs
from foreign.kernel import has_kernel, ids_by_kernel
from support.processes import DELTA
from support.sessions import session_conf

# Since 3.3 Delta writes a checksum of each version.
FILES_OF_COMMIT = 1 if DELTA < (3, 3) else 2


def expired_table(table: TableFactory, **properties: str) -> Table:
    """Versions 0 to 8, a checkpoint of version 4, and all up to 6 older than 30 days."""
    t = table(1, 2, 3, 4, enableExpiredLogCleanup="false", **properties)
    t.spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(5, 6, 7, 8)
    t.age_log(days=40, up_to=6)
    return t


def total(rows: list[Row]) -> Row:
    return next(row for row in rows if row.file is None)


def test_what_is_before_the_cutoff_checkpoint_goes(spark: SparkSession, table: TableFactory):
    t = expired_table(table)
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert (row.filesDeleted, row.cutoffVersion, row.oldestReadableVersion) == (
        4 * FILES_OF_COMMIT,
        6,
        4,
    )
    assert row.bytesDeleted > 0
    assert {(r.verdict, r.reason) for r in row.reasons} == {
        ("delete", "before the cutoff checkpoint"),
        ("keep", "needed by a version inside retention"),
        ("keep", "pointer to the last checkpoint"),
    }
    assert not any(name.startswith(f"{v:020}") for v in range(4) for name in t.log_names())
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    for version in range(4, 9):
        expected = list(range(1, version + 1))
        assert t.ids(version) == expected
        assert ids_by_delta_rs(t.path, version) == expected


def test_dry_run_has_a_reason_for_every_file(spark: SparkSession, table: TableFactory):
    t = expired_table(table)
    before = t.all_files()
    rows = spark.sql(f"CLEANUP LOG {t.sql_name} DRY RUN").collect()
    files = [row for row in rows if row.file is not None]
    assert {row.file for row in files} == t.log_names()
    assert all(row.reason and row.dryRun and row.ageHours >= 0 for row in files)
    deleted = {row.file for row in files if row.verdict == "delete"}
    assert total(rows).filesDeleted == len(deleted) == 4 * FILES_OF_COMMIT
    assert t.all_files() == before
    spark.sql(f"CLEANUP LOG {t.sql_name}")
    assert t.log_names() == {row.file for row in files} - deleted


def test_again_finds_nothing(spark: SparkSession, table: TableFactory):
    t = expired_table(table)
    spark.sql(f"CLEANUP LOG {t.sql_name}")
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert (row.filesDeleted, row.oldestReadableVersion) == (0, 4)


def test_without_a_checkpoint_nothing_goes_and_the_row_says_why(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    t.age_log(days=40, up_to=3)
    before = t.log_names()
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert row.filesDeleted == 0
    assert "no complete checkpoint at or before version 3" in row.message
    assert t.log_names() == before


def test_retain_needs_the_check_to_be_off_below_the_tables_own(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3, 4)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(5)
    t.age_log(days=2, up_to=5)
    with session_conf(spark, {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}):
        row = spark.sql(f"CLEANUP LOG {t.sql_name} RETAIN 24 HOURS").first()
    assert (row.filesDeleted, row.oldestReadableVersion) == (4 * FILES_OF_COMMIT, 4)


def test_v2_sidecars_go_with_their_last_checkpoint(spark: SparkSession, table: TableFactory):
    t = table(1, 2, checkpointPolicy="v2", enableExpiredLogCleanup="false")
    spark.sql(f"CHECKPOINT {t.sql_name}")
    old_sidecars = set(t.log.glob("_sidecars/*.parquet"))
    t.append(3, 4)
    spark.sql(f"CHECKPOINT {t.sql_name}")
    t.append(5)
    t.age_log(days=40, up_to=5)
    old = time.time() - 40 * DAY_SECONDS
    for file in t.log.glob("_sidecars/*.parquet"):
        os.utime(file, (old, old))
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert {r.reason for r in row.reasons if r.verdict == "delete"} == {
        "before the cutoff checkpoint",
        "not named by any checkpoint",
    }
    assert not any(file.exists() for file in old_sidecars)
    assert len(list(t.log.glob("_sidecars/*.parquet"))) == 1
    classic = t.log / f"{4:020}.checkpoint.parquet"
    assert classic.exists(), "readers without the feature need a checkpoint that they understand"
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert (t.ids(4), t.ids(5)) == ([1, 2, 3, 4], [1, 2, 3, 4, 5])


def test_python_says_the_same_as_sql(spark: SparkSession, table: TableFactory):
    t = expired_table(table)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    dry = upkeep.cleanupLog(24 * 60, dryRun=True, options={"granularity": "day"})
    sql = spark.sql(
        f"CLEANUP LOG {t.sql_name} RETAIN 1440 HOURS DRY RUN OPTIONS (granularity = 'day')"
    )
    assert dry.schema == sql.schema
    assert [row.file for row in dry.collect()] == [row.file for row in sql.collect()]
    assert upkeep.cleanupLog().first().filesDeleted == 4 * FILES_OF_COMMIT


# Their cleanup forgets that a version is read from the checkpoint before it
# (delta-io/delta, 4146 and 7056).
FORGETFUL = ("3.2.", "3.3.", "4.0.0")


@pytest.mark.parametrize("mode", ["sync", "delta"])
def test_a_commit_cleans_up_nothing_that_a_promised_version_needs(
    spark: SparkSession, table: TableFactory, mode: str
):
    t = table(*range(1, 13), checkpointInterval="10")
    t.age_log(days=40, up_to=12)
    with session_conf(spark, {"spark.deltaUpkeep.checkpoint.mode": mode}):
        t.append(*range(13, 21))
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert f"{0:020}.json" not in t.log_names(), "the commit of version 20 has cleaned up"
    if mode == "delta" and metadata.version("delta-spark").startswith(FORGETFUL):
        with pytest.raises(PySparkException, match="Cannot time travel"):
            t.ids(13)
    else:
        for promised in range(13, 21):
            assert t.ids(promised) == list(range(1, promised + 1))


POLICIES = ("classic", "v2")
# Copies of one table, which takes long to make.
of_versions = pytest.mark.xdist_group("versions")


def log_with_checkpoints(table: TableFactory, policy: str) -> Table:
    """Versions 0 to 20, checkpoints by Delta at 6, 12, 18; all up to 14 are older than 30 days."""
    t = table(*range(1, 21), checkpointPolicy=policy, checkpointInterval="6")
    t.age_log(days=40, up_to=14)
    return t


@of_versions
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.one_platform
@pytest.mark.takes_turns
def test_every_version_inside_retention_is_read_by_strangers(
    spark: SparkSession, table: TableFactory, policy: str
):
    t = log_with_checkpoints(table, policy)
    row = spark.sql(f"CLEANUP LOG {t.sql_name}").first()
    assert (row.filesDeleted > 0, row.cutoffVersion, row.oldestReadableVersion) == (True, 14, 12)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    for version in range(12, 21):
        expected = list(range(1, version + 1))
        assert t.ids(version) == expected
        if has_kernel():
            assert ids_by_kernel(spark, t.path, version) == expected
        assert ids_by_delta_rs(t.path, version) == expected


@of_versions
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.one_platform
@pytest.mark.takes_turns
def test_what_delta_leaves_readable_we_leave_readable_too(
    spark: SparkSession, table: TableFactory, policy: str, tmp_path: Path
):
    ours = log_with_checkpoints(table, policy)
    theirs = shutil.copytree(ours.path, tmp_path / "theirs")
    spark.sql(f"CLEANUP LOG {ours.sql_name}")
    jvm = spark._jvm
    none = jvm.scala.Option.empty()
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(theirs))
    # Later versions ask for the table of a catalog too.
    catalog = [none] if DELTA >= (3, 3) else []
    newest = log.update(False, none, *catalog)
    log.doLogCleanup(newest, *(catalog if DELTA >= (4, 1) else []))
    left = {file.name for file in (theirs / "_delta_log").glob("*.json")}
    assert f"{0:020}.json" not in left, "Delta has cleaned too"
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert readable(spark, theirs) <= readable(spark, ours.path)


def readable(spark: SparkSession, path: Path) -> set[int]:
    """Find the versions of 0 to 20 that Delta reads, each with its rows."""
    found = set()
    for version in range(21):
        try:
            rows = spark.read.format("delta").option("versionAsOf", version).load(str(path))
            if sorted(row.id for row in rows.collect()) == list(range(1, version + 1)):
                found.add(version)
        except (PySparkException, Py4JJavaError):
            continue
    return found

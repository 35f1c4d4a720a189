"""OPTIMIZE: fewer files, the same rows, and a row that says what was done."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from foreign.delta_rs import ids_by_duckdb, ids_by_pyarrow
from foreign.kernel import has_kernel, ids_by_kernel, ids_by_strangers
from support.processes import DELTA, FINDS_DROPPED_COLUMNS, LINE
from support.sessions import meanwhile, session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

BY_COLUMNS = "not in order yet; rows are put in order column by column"


def append(spark: SparkSession, t: Table, start: int, end: int, p: str) -> None:
    """Append the ids from `start` until `end`, one file in each partition."""
    rows = spark.range(start, end).selectExpr("id", f"{p} AS p", "'x' AS text").coalesce(1)
    rows.write.format("delta").mode("append").save(str(t.path))


def test_compaction_keeps_every_row_for_every_reader(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, 5)
    row = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (5, 2)
    assert row.metrics.partitionsOptimized == 2
    assert (row.dryRun, row.version) == (False, 6)
    assert {bin.status for bin in row.bins} == {"committed"}
    assert t.ids() == [1, 2, 3, 4, 5]
    for reader, ids in ids_by_strangers(spark, t.path).items():
        assert ids == [1, 2, 3, 4, 5], reader
    assert t.ids(version=5) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("how", ["auto", "rows", "ZORDER BY (id)", "REORG"])
def test_a_stream_sees_no_rewrite(spark: SparkSession, table: TableFactory, how: str):
    t = table(1, 2, 3, enableDeletionVectors="true")
    append(spark, t, 4, 8, p="1")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 5")
    statement = {
        "REORG": f"REORG TABLE {t.sql_name} APPLY (PURGE)",
        "ZORDER BY (id)": f"OPTIMIZE {t.sql_name} ZORDER BY (id)",
    }.get(how, f"OPTIMIZE {t.sql_name}")
    with session_conf(
        spark, {"spark.deltaUpkeep.optimize.engine": "rows"} if how == "rows" else {}
    ):
        version = spark.sql(statement).first().version
    actions = [
        json.loads(line) for line in (t.log / f"{version:020}.json").read_text().splitlines()
    ]
    files = [action.get("add") or action.get("remove") for action in actions]
    assert {file["dataChange"] for file in files if file} == {False}
    assert {"add", "remove"} <= {name for action in actions for name in action}


def test_second_run_makes_no_commit(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    row = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert (row.version, row.metrics.numBins, row.bins) == (None, 0, [])
    assert t.version == 5


def test_dry_run_tells_the_plan_and_writes_nothing(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    before = t.all_files()
    row = spark.sql(f"OPTIMIZE {t.sql_name} DRY RUN").first()
    assert row.dryRun
    assert row.version is None
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (4, 2)
    assert {(b.partition, b.inputFiles, b.tier, b.status) for b in row.bins} == {
        ("p=0", 2, "splice", "planned"),
        ("p=1", 2, "splice", "planned"),
    }
    assert t.all_files() == before


def test_where_takes_the_named_partitions_only(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    row = spark.sql(f"OPTIMIZE {t.sql_name} WHERE p = 1").first()
    assert [bin.partition for bin in row.bins] == ["p=1"]
    assert row.metrics.totalConsideredFiles == 2


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("id > 6", 2),
        ("id BETWEEN 3 AND 5 AND p = 1", 2),
        ("p = 0 AND text >= ''", 4),
        # Delta skips by one kind of column or the other.
        ("p = 0 OR id = 1", 8),
        ("{t}.ID >= 3 AND length(text) = 1", 6),
        ("id = cast('2' AS INT) + 4", 1),
        ("id IN (7, 8)", 2),
        ("id = 1 AND id = 2", 0),
        ("text > 'y'", 0),
        ("id IS NULL", 0),
        ("id IS NOT NULL OR text = 'y'", 8),
    ],
)
def test_where_leaves_files_alone_whose_rows_cannot_match(
    spark: SparkSession, table: TableFactory, where: str, files: int
):
    t = table(*range(1, 9))
    row = spark.sql(f"OPTIMIZE {t.sql_name} WHERE {where.format(t=t.sql_name)} DRY RUN").first()
    assert row.metrics.totalConsideredFiles == files


@pytest.mark.parametrize("mode", ["none", "name"])
def test_where_on_data_columns_takes_whole_files_and_keeps_all_rows(
    spark: SparkSession, tmp_path: Path, mode: str
):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(
        f"CREATE TABLE {name} (id INT, `s.t` STRUCT<x: INT, at: TIMESTAMP>, p INT) USING delta "
        f"PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}', "
        "'delta.enableDeletionVectors' = 'true')"
        if mode == "name"
        else f"CREATE TABLE {name} (id INT, st STRUCT<x: INT, at: TIMESTAMP>, p INT) USING delta "
        "PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    struct = "`s.t`" if mode == "name" else "st"
    at = "TIMESTAMP '2026-01-01' + make_dt_interval(id)"
    for i in range(6):
        rows = f"SELECT CAST(id AS INT) FROM range({4 * i}, {4 * i + 4}, 1, 1)"
        spark.sql(
            f"INSERT INTO {name} SELECT id, named_struct('x', id, 'at', {at}), 0 FROM ({rows})"
        )
    spark.sql(f"DELETE FROM {name} WHERE id = 1")
    if mode == "name":
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN id TO `a b`")
    before = sorted(spark.sql(f"SELECT * FROM {name}").collect())
    where = f"{struct}.at >= '2026-01-18' AND {struct}.x < 100"
    row = spark.sql(f"OPTIMIZE {name} WHERE {where}").first()
    assert (row.metrics.totalConsideredFiles, row.metrics.numFilesRemoved) == (2, 2)
    # The deleted row counts for the file that hides it.
    key = "`a b`" if mode == "name" else "id"
    row = spark.sql(f"OPTIMIZE {name} WHERE {key} = 1").first()
    assert row.metrics.totalConsideredFiles == 1
    assert sorted(spark.sql(f"SELECT * FROM {name}").collect()) == before
    told = spark.sql(f"DESCRIBE HISTORY {name}").collect()
    predicates = [r.operationParameters["predicate"] for r in told if r.operation == "OPTIMIZE"]
    assert "at" in predicates[-1] and "2026-01-18" in predicates[-1]


@pytest.mark.parametrize("column", ["p", "`p.q`"])
def test_where_finds_what_queries_find_of_padded_values(
    spark: SparkSession, tmp_path: Path, column: str
):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(
        f"CREATE TABLE {name} (c CHAR(5), {column} CHAR(4)) USING delta PARTITIONED BY ({column})"
    )
    for p in ("x", "x", "y", "y"):
        spark.sql(f"INSERT INTO {name} VALUES ('ab', '{p}')")
    for where, files in {
        "c = 'ab'": 4,
        "c >= 'ab   ' AND c IN ('ab')": 4,
        f"{column} = 'x'": 2,
        f"{column} IN ('x   ')": 2,
        f"{column} = 'x' AND c = 'ab '": 2,
        f"{column} = 'xx'": 0,
    }.items():
        assert spark.sql(f"SELECT 1 FROM {name} WHERE {where}").count() == files
        row = spark.sql(f"OPTIMIZE {name} WHERE {where} DRY RUN").first()
        assert row.metrics.totalConsideredFiles == files, where


def test_where_divides_a_clustered_table(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta CLUSTER BY (id)")
    for i in range(6):
        spark.range(4 * i, 4 * i + 4, 1, 1).write.format("delta").mode("append").save(
            str(tmp_path / "t")
        )
    row = spark.sql(f"OPTIMIZE {name} WHERE id >= 12").first()
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (3, 1)
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert row.metrics.numFilesRemoved >= 3
    assert spark.sql(f"SELECT id FROM {name}").count() == 24


def test_deleted_rows_stay_deleted_and_their_vectors_go(spark: SparkSession, table: TableFactory):
    t = table(enableDeletionVectors="true")
    append(spark, t, 1, 101, p="1")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id > 40")
    row = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert row.metrics.deletionVectorStats.numDeletionVectorRowsRemoved == 60
    assert (row.bins[0].tier, row.bins[0].reason) == ("splice", "deleted rows are left out")
    assert t.ids() == list(range(1, 41))
    assert ids_by_pyarrow(t.path) == list(range(1, 41))
    (added,) = t.added()
    stats = json.loads(added["stats"])
    assert (stats["numRecords"], stats["tightBounds"]) == (40, True)
    assert (stats["minValues"]["id"], stats["maxValues"]["id"]) == (1, 40)


def test_rows_deleted_meanwhile_stay_deleted_for_every_reader(
    spark: SparkSession, table: TableFactory
):
    t = table(enableDeletionVectors="true")
    for i in range(3):
        spark.range(i * 100, i * 100 + 100).selectExpr("id", "1 AS p", "'x' AS text").coalesce(
            1
        ).write.format("delta").mode("append").save(str(t.path))
    delete = f"DELETE FROM {t.sql_name} WHERE id IN (3, 107, 108, 299)"
    row = json.loads(meanwhile(spark, f"OPTIMIZE {t.sql_name}", delete))
    (found,) = row["bins"]
    assert (found["status"], found["inputFiles"]) == ("committed", 3)
    assert found["reason"] == "small row groups are merged; deleted meanwhile: 4 rows"
    assert row["metrics"]["numRowsDeletedMeanwhile"] == 4
    assert row["metrics"]["deletionVectorStats"] == {
        "numDeletionVectorsRemoved": 3,
        "numDeletionVectorRowsRemoved": 0,
    }
    expected = [i for i in range(300) if i not in (3, 107, 108, 299)]
    assert t.ids() == t.ids(version=row["version"] - 1) == expected
    if has_kernel():
        assert ids_by_kernel(spark, t.path) == expected
    (added,) = t.added()
    assert added["deletionVector"]["cardinality"] == 4
    stats = json.loads(added["stats"])
    assert (stats["numRecords"], stats["tightBounds"]) == (300, False)
    spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)")
    assert t.ids() == ids_by_pyarrow(t.path) == ids_by_duckdb(t.path) == expected


def test_a_damaged_vector_is_told_by_its_name(spark: SparkSession, table: TableFactory):
    t = table(enableDeletionVectors="true")
    append(spark, t, 1, 101, p="1")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id > 40")
    (vector,) = t.path.glob("deletion_vector*")
    content = bytearray(vector.read_bytes())
    content[-8] ^= 0xFF
    vector.write_bytes(content)
    (t.path / f".{vector.name}.crc").unlink(missing_ok=True)
    with pytest.raises(Exception, match=rf"DATA_FILE_DAMAGED.*{vector.name}"):
        spark.sql(f"OPTIMIZE {t.sql_name}")
    vector.unlink()
    with pytest.raises(Exception, match=rf"DATA_FILE_MISSING.*{vector.name}"):
        spark.sql(f"OPTIMIZE {t.sql_name}")


def test_reorg_purges_what_is_hidden_and_nothing_else(spark: SparkSession, table: TableFactory):
    t = table(
        1,
        2,
        enableDeletionVectors="true",
        **{"columnMapping.mode": "name", "enableChangeDataFeed": "true"},
    )
    append(spark, t, 11, 111, p="int(id % 2)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id IN (12, 13)")
    row = spark.sql(f"REORG TABLE {t.sql_name} WHERE p = 0 APPLY (PURGE)").first()
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (1, 1)
    assert [(b.partition, b.tier, b.reason) for b in row.bins] == [
        ("p=0", "splice", "deleted rows are left out")
    ]
    history = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()
    assert (history.operation, history.operationParameters["applyPurge"]) == ("REORG", "true")
    row = spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first()
    assert [(b.partition, b.status) for b in row.bins] == [("p=1", "committed")]
    assert t.ids() == [1, 2, 11, *range(14, 111)]
    assert spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first().version is None


@pytest.mark.skipif(not FINDS_DROPPED_COLUMNS, reason="Delta cannot find dropped columns")
def test_reorg_purges_dropped_columns(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, **{"columnMapping.mode": "name"})
    files = spark.table(t.sql_name).selectExpr("input_file_name()").distinct().count()
    spark.sql(f"ALTER TABLE {t.sql_name} DROP COLUMN text")
    row = spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first()
    assert row.metrics.numFilesRemoved == files
    assert {b.tier for b in row.bins} <= {"copy", "splice"}
    assert t.ids() == [1, 2, 3]
    # Delta 4.4 stores the partition column too.
    columns = 1 if DELTA < (4, 4) else 2
    for add in t.added():
        assert len(pq.read_schema(t.path / unquote(add["path"]))) == columns
    assert spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first().version is None


def test_reorg_keeps_the_clusters_of_a_table(spark: SparkSession, tmp_path):
    name = f"delta.`{tmp_path}/clustered`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, x INT) USING delta CLUSTER BY (id) "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    for i in range(2):
        spark.range(i * 100, i * 100 + 100).selectExpr("id", "1 AS x").coalesce(1).write.format(
            "delta"
        ).mode("append").save(f"{tmp_path}/clustered")
        spark.sql(f"OPTIMIZE {name}")
    spark.sql(f"DELETE FROM {name} WHERE id % 10 = 0")
    row = spark.sql(f"REORG TABLE {name} APPLY (PURGE)").first()
    assert row.metrics.numFilesRemoved == row.metrics.numFilesAdded >= 1
    assert {b.reason for b in row.bins} == {"deleted rows are left out"}
    assert spark.table(name).count() == 180
    log = sorted(Path(f"{tmp_path}/clustered/_delta_log").glob("*.json"))
    actions = [json.loads(line) for line in log[-1].read_text().splitlines()]
    removed = [a["remove"]["tags"] for a in actions if "remove" in a]
    added = [a["add"] for a in actions if "add" in a]
    assert sorted(map(str, removed)) == sorted(str(add["tags"]) for add in added)
    assert all(add["clusteringProvider"] == "liquid" for add in added)


def test_row_ids_survive(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, enableRowTracking="true", enableDeletionVectors="true")
    query = f"SELECT id, text, _metadata.row_id, _metadata.row_commit_version FROM {t.sql_name}"

    def compacted():
        before = sorted(spark.sql(query).collect())
        row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (verify = true)").first()
        assert {b.tier for b in row.bins} == {"splice"}
        assert sorted(spark.sql(query).collect()) == before
        assert len({row_id for _, _, row_id, _ in before}) == len(before)

    compacted()
    # Some files have columns of ids, others have none, and the rows of an update are in both.
    append(spark, t, 5, 105, p="int(id % 2)")
    spark.sql(f"UPDATE {t.sql_name} SET text = 'changed' WHERE id % 10 IN (1, 4)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id % 7 = 0")
    compacted()
    compacted_once_more = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert compacted_once_more.version is None


def test_zorder_rewrites_every_file(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    row = spark.sql(f"OPTIMIZE {t.sql_name} ZORDER BY (id, text)").first()
    assert (row.bins[0].tier, row.bins[0].reason) == ("gather", BY_COLUMNS)
    assert t.ids() == [1, 2, 3, 4]
    history = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()
    assert history.operationParameters["zOrderBy"] == '["id","text"]'


def test_clustered_table_is_clustered(spark: SparkSession, tmp_path):
    name = f"delta.`{tmp_path}/clustered`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, x INT) USING delta CLUSTER BY (id)")
    for i in range(3):
        spark.sql(f"INSERT INTO {name} VALUES ({i}, {i})")
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert row.metrics.numFilesRemoved == 3
    assert (row.bins[0].tier, row.bins[0].reason) == ("gather", BY_COLUMNS)
    assert spark.sql(f"OPTIMIZE {name}").first().version is None
    if DELTA < (3, 3):
        with pytest.raises(AnalysisException, match=r"UNSUPPORTED_DELTA.*came with Delta 3\.3"):
            spark.sql(f"OPTIMIZE {name} FULL")
    else:
        assert spark.sql(f"OPTIMIZE {name} FULL").first().dryRun is False
    assert spark.table(name).count() == 3


def test_history_and_change_feed_see_no_new_data(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, enableChangeDataFeed="true")
    spark.sql(f"OPTIMIZE {t.sql_name}")
    history = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").first()
    assert history.operation == "OPTIMIZE"
    assert history.operationMetrics["numRemovedFiles"] == "4"
    changes = spark.read.format("delta").option("readChangeFeed", "true")
    assert changes.option("startingVersion", 5).load(str(t.path)).count() == 0


@pytest.mark.parametrize(
    ("options", "bins"),
    [("targetFileSize = 1", 0), ("minFileSize = 1", 0), ("TARGETFILESIZE = '128m'", 2)],
)
def test_options_decide_what_is_small(spark: SparkSession, table: TableFactory, options, bins):
    t = table(1, 2, 3, 4)
    row = spark.sql(f"OPTIMIZE {t.sql_name} DRY RUN OPTIONS ({options})").first()
    assert row.metrics.numBins == bins


def test_python_says_the_same_as_sql(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    dry = upkeep.optimize().where("p = 1").option("targetFileSize", "128m").dryRun()
    sql = spark.sql(f"OPTIMIZE {t.sql_name} WHERE p = 1 DRY RUN OPTIONS (targetFileSize = '128m')")
    assert dry.schema == sql.schema
    assert dry.first().bins == sql.first().bins
    assert upkeep.optimize().executeCompaction().first().metrics.numBins == 2
    assert upkeep.optimize().executeZOrderBy(["id"]).first().metrics.numFilesRemoved == 2
    assert upkeep.toDF().count() == 4


def test_deltas_own_api_uses_our_engine(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    from delta.tables import DeltaTable

    row = DeltaTable.forPath(spark, str(t.path)).optimize().where("p = 0").executeCompaction()
    assert [bin.partition for bin in row.first().bins] == ["p=0"]


def test_a_bounded_run_defers_the_rest(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, 5)
    builder = UpkeepTable.forPath(spark, str(t.path)).optimize()
    planned = builder.option("maxFiles", 3).option("order", "largest").dryRun().first()
    assert {(b.partition, b.status) for b in planned.bins} == {
        ("p=1", "planned"),
        ("p=0", "deferred"),
    }
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (maxFiles = 3, order = 'largest')").first()
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (3, 1)
    assert t.ids() == [1, 2, 3, 4, 5]
    assert spark.sql(f"OPTIMIZE {t.sql_name}").first().metrics.numFilesRemoved == 2


def test_batches_commit_as_they_finish(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (maxBytesPerCommit = 1)").first()
    assert (row.metrics.numBatches, row.version) == (2, 6)
    assert t.ids() == t.ids(version=5) == t.ids(version=4) == [1, 2, 3, 4]


def test_the_table_says_how_large_files_should_be(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    key = "spark.databricks.delta.allowArbitraryProperties.enabled"
    with session_conf(spark, {key: "true"}):
        for size, bins in (("1", 0), ("1m", 2)):
            spark.sql(
                f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('delta.targetFileSize' = '{size}')"
            )
            assert spark.sql(f"OPTIMIZE {t.sql_name} DRY RUN").first().metrics.numBins == bins
        spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('delta.targetFileSize' = 'x')")
        with pytest.raises(AnalysisException, match=r"delta\.targetFileSize"):
            spark.sql(f"OPTIMIZE {t.sql_name}")


def test_new_local_files_need_no_chmod_on_sparks_own_file_system(
    spark: SparkSession, tmp_path: Path
):
    """Spark finds Hive's local file system. If its name is unknown, files start processes."""
    jvm = spark._jvm
    conf = jvm.org.apache.hadoop.conf.Configuration(False)
    conf.setBoolean("fs.file.impl.disable.cache", True)
    path = jvm.org.apache.hadoop.fs.Path(str(tmp_path / "new.parquet"))
    output = jvm.io.deltaupkeep.store.OutputFiles.of(path, conf)
    assert output.getClass().getName() == "io.deltaupkeep.store.LocalOutput"
    output.create(0).close()
    assert {file.name for file in tmp_path.iterdir()} == {"new.parquet", ".new.parquet.crc"}


def test_the_engine_can_be_switched_off(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    with session_conf(spark, {"spark.deltaUpkeep.optimize.engine": "rows"}):
        row = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert {(b.tier, b.reason) for b in row.bins} == {
        ("rows", "spark.deltaUpkeep.optimize.engine is rows")
    }
    assert t.ids() == [1, 2, 3, 4]


LEGACY = "the legacy calendar"


def insert_dates(
    spark: SparkSession, table: str, *ids: int, legacy: bool = False, day: str = "1500-01-01"
) -> None:
    """Append a file for each id. Those of the legacy calendar have to be read as rows."""
    mode = {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY" if legacy else "CORRECTED"}
    with session_conf(spark, mode):
        for i in ids:
            spark.sql(f"INSERT INTO {table} VALUES ({i}, DATE'{day}')")


@pytest.fixture
def dates(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    name = f"delta.`{tmp_path / 'dates'}`"
    spark.sql(f"CREATE TABLE {name} (id INT, d DATE) USING delta")
    # Spark 3.5 writes no such dates unless it is told how.
    with session_conf(spark, {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED"}):
        yield name


def bins_of(row) -> set[tuple[int, str, bool, str]]:
    return {(b.inputFiles, b.tier, LEGACY in b.reason, b.status) for b in row.bins}


def test_only_the_files_that_need_it_go_by_rows(spark: SparkSession, dates: str):
    insert_dates(spark, dates, 1, 2, legacy=True)
    insert_dates(spark, dates, 3, 4, 5)
    for dry_run, status in ((" DRY RUN", "planned"), ("", "committed")):
        row = spark.sql(f"OPTIMIZE {dates}{dry_run}").first()
        assert bins_of(row) == {(3, "splice", False, status), (2, "rows", True, status)}
        assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (5, 2)
    assert spark.sql(f"SELECT DISTINCT d FROM {dates}").collect()[0].d.isoformat() == "1500-01-01"
    assert sorted(row.id for row in spark.table(dates).collect()) == [1, 2, 3, 4, 5]
    assert spark.sql(f"OPTIMIZE {dates}").first().version is None


@pytest.mark.parametrize(("day", "tier"), [("1582-10-15", "splice"), ("1582-10-04", "rows")])
def test_dates_on_which_both_calendars_agree_are_spliced(
    spark: SparkSession, dates: str, day: str, tier: str
):
    insert_dates(spark, dates, 1, 2, legacy=True, day=day)
    spark.sql(f"INSERT INTO {dates} VALUES (3, NULL)")
    before = spark.table(dates).orderBy("id").collect()
    bins = spark.sql(f"OPTIMIZE {dates}").first().bins
    assert {(b.inputFiles, b.tier) for b in bins} == {(3, tier)}
    assert spark.table(dates).orderBy("id").collect() == before


def test_one_file_that_cannot_be_spliced_is_left_until_others_go_with_it(
    spark: SparkSession, dates: str
):
    insert_dates(spark, dates, 1, legacy=True)
    insert_dates(spark, dates, 2, 3)
    for dry_run, status in ((" DRY RUN", "planned"), ("", "committed")):
        row = spark.sql(f"OPTIMIZE {dates}{dry_run}").first()
        assert bins_of(row) == {(2, "splice", False, status), (1, "rows", True, "left")}
        assert row.metrics.numFilesRemoved == 2
    version = row.version
    row = spark.sql(f"OPTIMIZE {dates}").first()
    assert (row.version, bins_of(row)) == (None, {(1, "rows", True, "left")})
    insert_dates(spark, dates, 4, legacy=True)
    row = spark.sql(f"OPTIMIZE {dates}").first()
    assert (row.version, bins_of(row)) == (version + 2, {(2, "rows", True, "committed")})
    assert sorted(row.id for row in spark.table(dates).collect()) == [1, 2, 3, 4]
    assert spark.sql(f"OPTIMIZE {dates}").first().bins == []


def test_a_default_that_files_lack_stays_what_readers_see(spark: SparkSession, tmp_path: Path):
    name = f"defaults_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {name} (id INT) USING parquet LOCATION '{tmp_path}/t'")
    try:
        for i in (1, 2):
            spark.sql(f"INSERT INTO {name} VALUES ({i})")
        spark.sql(f"ALTER TABLE {name} ADD COLUMN c INT DEFAULT 42")
        spark.sql(f"CONVERT TO DELTA {name} NO STATISTICS")
        (bin,) = spark.sql(f"OPTIMIZE {name}").first().bins
        assert (bin.tier, bin.inputFiles, bin.status) == ("rows", 2, "committed")
        assert bin.reason == "column c is missing from a file, so readers supply its default"
        assert sorted(map(tuple, spark.table(name).collect())) == [(1, 42), (2, 42)]
    finally:
        spark.sql(f"DROP TABLE {name}")


NULL_STRUCTS = "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing"


@pytest.mark.parametrize("legacy", ["true", "false"])
def test_a_struct_without_its_fields_stays_what_readers_see(
    spark: SparkSession, tmp_path: Path, legacy: str
):
    with session_conf(spark, {NULL_STRUCTS: legacy}):
        name = f"delta.`{tmp_path}/t`"
        spark.sql(
            f"CREATE TABLE {name} (id INT, s STRUCT<a: INT, t: STRUCT<x: INT>>) USING delta "
            "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
        )
        for i in (1, 2):
            struct = f"named_struct('a', {i}, 't', named_struct('x', {i}))"
            spark.sql(f"INSERT INTO {name} VALUES ({i}, {struct}), ({i + 10}, NULL)")
        for change in (
            "ADD COLUMN s.b INT",
            "ADD COLUMN s.t.y INT",
            "DROP COLUMN s.a",
            "DROP COLUMN s.t.x",
        ):
            spark.sql(f"ALTER TABLE {name} {change}")
        before = spark.sql(
            f"SELECT id, s, s IS NULL, s.t IS NULL FROM {name} ORDER BY id"
        ).collect()
        assert [bin.status for bin in spark.sql(f"OPTIMIZE {name}").first().bins] == ["committed"]
        after = spark.sql(f"SELECT id, s, s IS NULL, s.t IS NULL FROM {name} ORDER BY id").collect()
        assert after == before and len(before) == 4


KINDS = {
    "d": "DECIMAL(10, 2)",
    "e": "DECIMAL(38, 10)",
    "t": "TIMESTAMP",
    "n": "TIMESTAMP_NTZ",
    "y": "DATE",
    "f": "FLOAT",
    "g": "DOUBLE",
    "s": "STRING",
    "i": "SMALLINT",
    "o": "STRUCT<d: DECIMAL(5, 1), n: TIMESTAMP_NTZ>",
}
VALUES = """id, id / 3 - 2, CAST(id AS DECIMAL(2)) * 123456789012345678.0123BD,
    timestamp_micros(id * 1234567891234 - 99),
    CAST(timestamp_micros(-id * 7777777777) AS TIMESTAMP_NTZ),
    date_add(DATE'1969-12-01', int(id) * 40), id / 7, id / 11, repeat(string(id), 20), id,
    named_struct('d', id / 9, 'n', CAST(timestamp_micros(id) AS TIMESTAMP_NTZ))"""


def stats_of(spark: SparkSession, table: Path) -> dict:
    """The statistics of the newest version's only file."""
    log = (
        table
        / "_delta_log"
        / f"{spark.sql(f'DESCRIBE HISTORY delta.`{table}`').first().version:020}.json"
    )
    (add,) = (json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line)
    return json.loads(add["stats"], parse_float=str)


@pytest.mark.parametrize("timestamps", ["INT96", "TIMESTAMP_MICROS"])
@pytest.mark.parametrize("change", ["deleted rows", "no statistics before"])
def test_new_files_have_the_statistics_that_delta_collects(
    spark: SparkSession, tmp_path: Path, timestamps: str, change: str
):
    found = []
    for engine in ("auto", "rows"):
        path = tmp_path / engine
        name = f"delta.`{path}`"
        columns = ", ".join(f"{column} {kind}" for column, kind in KINDS.items())
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, {columns}) USING delta "
            "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        )
        if change == "no statistics before":
            spark.sql(
                f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
            )
        with session_conf(spark, {"spark.sql.parquet.outputTimestampType": timestamps}):
            for start in (0, 10, 20):
                spark.sql(f"INSERT INTO {name} SELECT {VALUES} FROM range({start}, {start + 10})")
        if change == "deleted rows":
            spark.sql(f"DELETE FROM {name} WHERE id IN (0, 12, 29)")
        else:
            spark.sql(
                f"ALTER TABLE {name} UNSET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols')"
            )
        with session_conf(spark, {"spark.deltaUpkeep.optimize.engine": engine}):
            row = spark.sql(f"OPTIMIZE {name}").first()
        assert [bin.tier == "rows" for bin in row.bins] == [engine == "rows"]
        found.append(stats_of(spark, path))
    ours, deltas = found
    ours.pop("tightBounds", None)
    deltas.pop("tightBounds", None)
    assert ours == deltas
    assert len(ours["minValues"]) == len(ours["maxValues"]) == 1 + len(KINDS)


PARTITIONS = {
    "b": ("BOOLEAN", ["true", "false", "NULL"]),
    "i": ("SMALLINT", ["-1", "7"]),
    "l": ("BIGINT", ["5000000000"]),
    "f": ("DOUBLE", ["-0.0D", "0.1D", "DOUBLE('NaN')"]),
    "d": ("DATE", ["DATE'2026-01-01'", "DATE'0001-01-01'", "NULL"]),
    "t": ("TIMESTAMP", ["TIMESTAMP'2026-01-01 12:00:00.123456'", "TIMESTAMP'1700-01-01 00:00:00'"]),
    "n": ("TIMESTAMP_NTZ", ["TIMESTAMP_NTZ'2026-01-01 12:00:00'"]),
    "s": ("STRING", ["'a b/c=%'", "'\u00fc'", "NULL"]),
    "c": ("DECIMAL(9, 2)", ["-12.50"]),
    "e": ("DECIMAL(30, 4)", ["123456789012345678901234.5678", "NULL"]),
    "x": ("BINARY", ["X'616263'"]),
}


def rewritten(spark: SparkSession, table: Path, optimize: str) -> dict[str, tuple]:
    """What OPTIMIZE stores, as pyarrow reads it without the log: types and rows by partition."""
    before = set(table.rglob("*.parquet"))
    spark.sql(optimize)
    found = {}
    for file in set(table.rglob("*.parquet")) - before:
        rows = pq.ParquetFile(file).read()
        partition = rows.slice(0, 1).drop_columns(["id"])
        found[repr(partition.to_pylist())] = (
            rows.schema.types,
            repr(rows.sort_by("id").to_pylist()),
        )
    return found


def insert_partitions(spark: SparkSession, name: str) -> None:
    partitions = len(PARTITIONS["d"][1])
    for i in range(partitions):
        values = ", ".join(values[i % len(values)] for _, values in PARTITIONS.values())
        spark.sql(f"INSERT INTO {name} VALUES ({i}, {values})")


@pytest.mark.skipif(DELTA < (4, 4), reason="older Deltas store no partition columns")
def test_partition_columns_are_stored_as_delta_does(spark: SparkSession, tmp_path: Path):
    key = "delta.writePartitionColumnsToParquet"
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in PARTITIONS.items())
    ours, deltas = (tmp_path / engine for engine in ("ours", "deltas"))
    for table in (ours, deltas):
        name = f"delta.`{table}`"
        spark.sql(
            f"CREATE TABLE {name} (id INT, {columns}) USING delta "
            f"PARTITIONED BY ({', '.join(PARTITIONS)}) TBLPROPERTIES ('{key}' = 'false')"
        )
        insert_partitions(spark, name)
        # From here on they are stored: that is the default.
        spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('{key}')")
        insert_partitions(spark, name)
    rows = spark.read.format("delta").load(str(ours)).orderBy("id")
    before = rows.collect()
    bins = spark.sql(f"OPTIMIZE delta.`{ours}` DRY RUN").first().bins
    assert [(b.inputFiles, b.tier) for b in bins] == [(2, "splice")] * 3
    stored = rewritten(spark, ours, f"OPTIMIZE delta.`{ours}` OPTIONS (verify = true)")
    by_delta = {
        "spark.deltaUpkeep.optimize.engine": "rows",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    }
    with session_conf(spark, by_delta):
        assert rewritten(spark, deltas, f"OPTIMIZE delta.`{deltas}`") == stored
    assert len(stored) == 3
    assert {len(types) for types, _ in stored.values()} == {1 + len(PARTITIONS)}
    rows = spark.read.format("delta").load(str(ours)).orderBy("id")
    assert repr(rows.collect()) == repr(before)


@pytest.mark.skipif(DELTA < (4, 4), reason="older Deltas store no partition columns")
def test_partition_columns_are_left_out_if_the_table_says_so(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}`"
    spark.sql(f"CREATE TABLE {name} (p DATE, id INT) USING delta PARTITIONED BY (p)")
    for i in (1, 2):
        spark.sql(f"INSERT INTO {name} VALUES (DATE'2026-01-01', {i})")
    wanted = "'delta.writePartitionColumnsToParquet' = 'false'"
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({wanted})")
    ((_, rows),) = rewritten(spark, tmp_path, f"OPTIMIZE {name}").values()
    assert rows == "[{'id': 1}, {'id': 2}]"


def make_variants(spark: SparkSession, path: Path, *properties: str) -> str:
    name = f"delta.`{path}`"
    asked = f"TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    spark.sql(f"CREATE TABLE {name} (id INT, v VARIANT, s STRUCT<v: VARIANT>) USING delta {asked}")
    for i, value in enumerate(('{"a": 1}', '"text"', "[1, {}]", "null")):
        parsed = f"parse_json('{value}')"
        spark.sql(f"INSERT INTO {name} VALUES ({i}, {parsed}, named_struct('v', {parsed}))")
    spark.sql(f"INSERT INTO {name} VALUES (4, NULL, NULL)")
    return name


def variants_in(spark: SparkSession, name: str) -> list:
    query = f"SELECT id, to_json(v), to_json(s.v), v IS NULL FROM {name} ORDER BY id"
    return spark.sql(query).collect()


@pytest.mark.skipif(DELTA < (4, 0), reason="older Deltas know no variants")
def test_variants_are_spliced(spark: SparkSession, tmp_path: Path):
    name = make_variants(spark, tmp_path / "variants")
    before = variants_in(spark, name)
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert {(b.inputFiles, b.tier) for b in row.bins} == {(5, "splice")}
    assert variants_in(spark, name) == before
    assert len(before) == 5


@pytest.mark.skipif(
    DELTA < (4, 4) or LINE == "4.0", reason="Spark 4.0 and older Deltas do not shred variants"
)
def test_shredded_variants_are_spliced_with_those_of_one_kind(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path / 'shredded'}`"
    spark.sql(
        f"CREATE TABLE {name} (id INT, v VARIANT) USING delta TBLPROPERTIES "
        "('delta.enableVariantShredding' = 'true', 'delta.enableDeletionVectors' = 'true')"
    )

    def insert(first: int, value: str) -> None:
        rows = f"SELECT id, parse_json({value}) FROM range({first}, {first + 10}, 1, 1)"
        spark.sql(f"INSERT INTO {name} {rows}")

    for first in (0, 10):
        insert(first, "concat('{\"a\": ', id, ', \"l\": [{\"b\": ', id, '}, null]}')")
    for first in (20, 30):
        insert(first, "concat('{\"text\": \"', id, '\"}')")
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 15, 25)")
    query = f"SELECT id, to_json(v), variant_get(v, '$.a', 'int') AS a FROM {name} ORDER BY id"
    before = spark.sql(query).collect()
    bins = spark.sql(f"OPTIMIZE {name} OPTIONS (verify = true)").first().bins
    assert sorted((b.inputFiles, b.tier) for b in bins) == [(2, "rows"), (2, "splice")]
    (told,) = (b.reason for b in bins if b.tier == "rows")
    assert told == "variants of column v are shredded differently in a file"
    assert spark.sql(query).collect() == before
    assert [row.a for row in before[:18]] == [i for i in range(20) if i not in (3, 15)]


@pytest.mark.skipif(DELTA < (4, 0), reason="older Deltas know no collations")
def test_collated_strings_are_spliced_and_have_no_bounds(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "collated"
    name = f"delta.`{path}`"
    # Delta reads and writes such columns, but makes none unless it is told to.
    with session_conf(spark, {"spark.databricks.delta.schema.typeCheck.enabled": "false"}):
        spark.sql(f"CREATE TABLE {name} (s STRING COLLATE UTF8_LCASE, t STRING) USING delta")
    for text in ("b", "C", "A"):
        spark.sql(f"INSERT INTO {name} VALUES ('{text}', '{text}')")
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert {(b.inputFiles, b.tier) for b in row.bins} == {(3, "splice")}
    assert [r.s for r in spark.sql(f"SELECT s FROM {name} ORDER BY s").collect()] == ["A", "b", "C"]
    assert spark.sql(f"SELECT 1 FROM {name} WHERE s = 'a'").count() == 1
    log = path / "_delta_log" / f"{row.version:020}.json"
    (add,) = (json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line)
    stats = json.loads(add["stats"])
    assert (set(stats["minValues"]), set(stats["nullCount"])) == ({"t"}, {"s", "t"})


def test_the_row_tells_row_groups_and_tiers(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4, 5)
    for statement in (f"OPTIMIZE {t.sql_name} DRY RUN", f"OPTIMIZE {t.sql_name}"):
        row = spark.sql(statement).first()
        assert (row.metrics.numRowGroupsBefore, row.metrics.numRowGroupsAfter) == (5, 2)
        assert [(m.tier, m.files) for m in row.metrics.tiers] == [("splice", 5)]
        assert {(b.rowGroupsBefore, b.rowGroupsAfter) for b in row.bins} == {(2, 1), (3, 1)}

"""ANALYZE makes the statistics that Delta's writer makes, and commits them for the same files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from delta.tables import DeltaTable
from deltalake import DeltaTable as DeltaRsTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import Row, SparkSession, functions
from pyspark.sql.types import DecimalType, StringType, StructField, StructType

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import condition_of
from foreign.cases import CASES, SCHEMA
from foreign.checks.log_statistics import check_log_stats
from foreign.forged import add_of, forge, write_log
from foreign.table import ForeignTable
from support.logs import edit_adds, live
from support.sessions import meanwhile, session_conf

KINDS = """
    id, CAST(id AS TINYINT) AS tiny, CAST(id AS SMALLINT) AS small, CAST(id AS INT) AS int,
    CAST(id AS FLOAT) / 3 AS float, CAST(id AS DOUBLE) / 7 AS double,
    CAST(id AS DECIMAL(9, 2)) AS decimal, CAST(id AS DECIMAL(38, 10)) / 3 AS large_decimal,
    concat('text ', id) AS text, repeat(concat('ü', id), 40) AS long_text,
    id % 2 = 0 AS flag, DATE '1999-12-31' + CAST(id AS INT) AS day,
    TIMESTAMP '2020-01-01 00:00:00.123456' + make_interval(0, 0, 0, 0, CAST(id AS INT)) AS time,
    CAST(concat('bytes ', id) AS BINARY) AS bytes,
    CASE WHEN id % 3 = 0 THEN id END AS sometimes, CAST(NULL AS BIGINT) AS never,
    named_struct('a', id, 'deep', named_struct('c', concat('c', id))) AS nested,
    array(id) AS list, map('k', id) AS map, id % 2 AS p
"""
NAMES = ("plain.parquet", "a b%20+#é.parquet", "x=1;'.parquet")
FEATURES = {
    "plain": {},
    "partitions": {"partitions": "p"},
    "mapped": {"delta.columnMapping.mode": "name"},
    "few columns": {"delta.dataSkippingNumIndexedCols": "3"},
    "mapped, with capitals": {
        "delta.columnMapping.mode": "name",
        "delta.dataSkippingStatsColumns": "Id,nested.deep.c,NESTED.a",
    },
    "named columns": {"delta.dataSkippingStatsColumns": "text,nested.deep.c,never"},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "row ids": {"delta.enableRowTracking": "true"},
    "defaults": {"delta.feature.allowColumnDefaults": "supported"},
}


NO_ROWS = {"numRecords": 0, "minValues": {}, "maxValues": {}, "nullCount": {}}


def analyze(t: Table, clauses: str = "") -> Row:
    (row,) = t.spark.sql(f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS {clauses}").collect()
    return row


def written(spark: SparkSession, path: Path, features: dict[str, str]) -> Table:
    """Have Delta write a table of two files, in two commits."""
    t = Table(spark, path)
    properties = {key: value for key, value in features.items() if key != "partitions"}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    spark.sql(
        f"CREATE TABLE {t.sql_name} USING delta "
        + (f"PARTITIONED BY ({features['partitions']}) " if "partitions" in features else "")
        + (f"TBLPROPERTIES ({pairs}) " if pairs else "")
        + f"AS SELECT {KINDS} FROM range(-50, 50, 1, 1)"
    )
    if "delta.feature.allowColumnDefaults" in features:
        spark.sql(f"ALTER TABLE {t.sql_name} ADD COLUMN later INT")
        spark.sql(f"ALTER TABLE {t.sql_name} ALTER COLUMN later SET DEFAULT 5")
        spark.sql(f"INSERT INTO {t.sql_name} SELECT {KINDS}, 6 FROM range(100, 120, 1, 1)")
    else:
        spark.sql(f"INSERT INTO {t.sql_name} SELECT {KINDS} FROM range(100, 120, 1, 1)")
    return t


def statistics(t: Table) -> dict[str, Any]:
    return {
        path: json.loads(add["stats"]) if "stats" in add else None
        for path, add in live(t.log).items()
    }


def strip(t: Table, keep: tuple[str, ...] = ()) -> None:
    """Take the statistics out of the log, as if another engine had written the files."""

    def change(add: dict[str, Any]) -> None:
        stats = json.loads(add.pop("stats", "{}"))
        kept = {key: stats[key] for key in keep if key in stats}
        if kept:
            add["stats"] = json.dumps(kept)

    edit_adds(t.spark, t.log, change)


@pytest.mark.parametrize("features", FEATURES.values(), ids=list(FEATURES))
def test_the_statistics_are_those_of_deltas_writer(
    spark: SparkSession, tmp_path: Path, features: dict[str, str]
):
    t = written(spark, tmp_path / "t", features)
    before, rows = (
        statistics(t),
        sorted(map(str, spark.read.format("delta").load(str(t.path)).collect())),
    )
    assert all(before.values())
    keep = ("numRecords",) if "delta.enableRowTracking" in features else ()
    strip(t, keep)
    adds = live(t.log)
    planned = analyze(t, "DRY RUN")
    assert (planned.version, planned.filesRead, planned.filesUpdated) == (None, len(before), None)
    assert live(t.log) == adds
    done = analyze(t)
    assert (done.version, done.filesUpdated) == (t.version, len(before))
    after = statistics(t)
    for path, stats in before.items():
        # A column that is newer than a file is null in it.
        if "later" not in stats["nullCount"] and "later" in after[path]["nullCount"]:
            assert after[path]["nullCount"].pop("later") == stats["numRecords"]
    assert after == before
    # Nothing else of them has changed.
    for path, add in live(t.log).items():
        del add["stats"]
        adds[path].pop("stats", None)
        assert add == adds[path] | {"dataChange": False}
    assert sorted(map(str, spark.read.format("delta").load(str(t.path)).collect())) == rows
    again = analyze(t)
    assert (again.version, again.filesRead, again.filesUpdated) == (None, 0, 0)
    (entry,) = spark.sql(f"DESCRIBE HISTORY {t.sql_name} LIMIT 1").collect()
    assert entry.operation == "COMPUTE STATS"


@pytest.mark.one_platform
def test_the_statistics_of_other_writers_files(spark: SparkSession, tmp_path: Path):
    """Delta's writer tells what is in the same rows, one file for each file."""
    files = [file for case in CASES for file in case.files if not case.needs_row_reader]
    t = forge(spark, tmp_path / "t", SCHEMA, files, StructField("case", StringType()))
    rows = t.frame().withColumn("file", functions.input_file_name())
    rows.repartition(2, "case", "file").write.format("delta").partitionBy("case", "file").save(
        str(tmp_path / "copy")
    )
    copy = ForeignTable(spark, tmp_path / "copy")
    written = {
        Path(unquote(urlparse(add["partitionValues"]["file"]).path)).name: json.loads(add["stats"])
        for add in copy.adds().values()
    }
    t.spark.sql(f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS OPTIONS (mode = 'all')")
    t.forget()
    adds = t.adds()
    assert len(adds) == len(files)
    for path, add in adds.items():
        stats = json.loads(add["stats"])
        assert stats == written.get(Path(unquote(path)).name, NO_ROWS), path
    for add in adds.values():
        if "julian" not in add["partitionValues"]["case"]:
            check_log_stats(t, add)


def test_no_pages_are_read_where_footers_are_certain(spark: SparkSession, tmp_path: Path):
    """The pages are not even there."""
    t = Table(spark, tmp_path / "t")
    certain = "id, int, decimal, text, day, flag, sometimes, never, nested"
    for first in (0, 100):
        spark.sql(f"SELECT {KINDS} FROM range({first}, {first + 50}, 1, 1)").selectExpr(
            *certain.split(", ")
        ).write.format("delta").mode("append").save(str(t.path))
    before = statistics(t)
    strip(t)
    for name in before:
        file = t.path / name
        content = file.read_bytes()
        end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        file.write_bytes(content[:4] + bytes(end - 4) + content[end:])
        file.with_name(f".{file.name}.crc").unlink()
    assert analyze(t).filesUpdated == 2
    assert statistics(t) == before


def test_rows_that_a_vector_hides_are_counted(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t").create({"delta.enableDeletionVectors": "true"})
    spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 0, concat('t', id) FROM range(0, 10, 1, 1)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 9")
    strip(t, ("numRecords",))
    analyze(t)
    (stats,) = statistics(t).values()
    assert (stats["numRecords"], stats["tightBounds"]) == (10, False)
    assert (stats["minValues"]["id"], stats["maxValues"]["id"]) == (0, 9)
    assert t.ids() == list(range(9))


def test_a_converted_table_can_be_clustered(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "t"
    path.mkdir()
    for i in range(3):
        pq.write_table(
            pa.table({"id": [i, i + 10, math.nan], "text": ["a", None, "c"]}), path / NAMES[i]
        )
    pq.write_table(
        pa.table({"id": pa.array([], "double"), "text": pa.array([], "string")}),
        path / "empty.parquet",
    )
    with session_conf(spark, {"spark.databricks.delta.stats.collect": "false"}):
        try:
            DeltaTable.convertToDelta(spark, f"parquet.`{path}`")
        except Py4JJavaError as e:
            # Delta 4.0.0 on Spark 4.0.1
            if "NoSuchMethodError" not in str(e):
                raise
            pytest.skip("this Delta cannot convert tables on this Spark")
    t = Table(spark, path)
    assert set(statistics(t).values()) == {None}
    result = UpkeepTable.forPath(spark, str(path)).analyze().toResult()
    assert (result.filesUpdated, result.reasons[0].reason) == (4, "no statistics")
    stats = statistics(t)
    assert stats["empty.parquet"]["numRecords"] == 0
    # A bound would hide the rows with NaN from a reader that takes it for the largest number.
    assert len(stats) == 4
    for name, of_file in stats.items():
        if name != "empty.parquet":
            assert of_file["numRecords"] == 3 and of_file["nullCount"]["text"] == 1
    assert analyze(t).filesRead == 0
    frame = spark.read.format("delta").load(str(path))
    assert frame.where("id = 11").count() == 1 and frame.where("isnan(id)").count() == 3
    counted = pa.table(DeltaRsTable(path).get_add_actions(flatten=True))
    assert sum(counted["num_records"].to_pylist()) == 9


def test_where_and_limits(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    strip(t)
    only = analyze(t, "WHERE p = 1")
    assert [r.files for r in only.reasons] == [only.filesUpdated] == [2]
    first = analyze(t, "OPTIONS (maxBytes = 1)")
    assert first.filesUpdated == 1
    assert {(r.verdict, r.reason): r.files for r in first.reasons} == {
        ("read", "no statistics"): 1,
        ("keep", "left to a later run by maxBytes"): 1,
        ("keep", "has what the table asks for"): 2,
    }
    assert analyze(t).filesUpdated == 1


def test_statistics_that_are_wrong_are_found(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    right = statistics(t)
    (commit,) = [file for file in t.log.glob("*.json") if "add" in file.read_text()][:1]

    def raise_maximum(add: dict[str, Any]) -> None:
        wrong = json.loads(add["stats"])
        wrong["maxValues"]["id"] += 1
        add["stats"] = json.dumps(wrong)

    edit_adds(spark, t.log, raise_maximum, commit.name)
    assert analyze(t).filesRead == 0
    found = analyze(t, "OPTIONS (mode = 'all')")
    assert (found.filesRead, found.filesUpdated) == (3, 1)
    assert {r.reason: r.files for r in found.reasons} == {
        "its statistics were not those of its rows, or written in another way": 1,
        "its statistics are those of its rows": 2,
    }
    assert statistics(t) == right
    assert analyze(t, "OPTIONS (mode = 'all')").version is None


def test_health_names_files_whose_statistics_are_to_be_made(
    spark: SparkSession, table: TableFactory
):
    def health() -> Row:
        checks = spark.sql(f"DESCRIBE HEALTH {t.sql_name}")
        return checks.where("check = 'statistics'").first()

    def miscount(add: dict[str, Any]) -> None:
        stats = json.loads(add["stats"])
        add["stats"] = json.dumps(stats | {"numRecords": 7})

    t = table(1, 2, 3)
    assert (health().severity, health().value, health().remedy) == ("ok", 0, None)
    edit_adds(spark, t.log, lambda add: add.pop("stats"), "*2.json")
    assert (health().severity, health().value) == ("warning", 1)
    spark.sql(health().remedy)
    assert (health().severity, analyze(t).filesRead) == ("ok", 0)
    edit_adds(spark, t.log, miscount, "*3.json")
    assert (health().severity, "sample of 3 files" in health().message) == ("critical", True)
    spark.sql(health().remedy)
    assert (health().severity, t.ids()) == ("ok", [1, 2, 3])


def test_a_column_that_took_another_name(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t")
    spark.sql(f"CREATE TABLE {t.sql_name} (id BIGINT, s STRUCT<y: BIGINT>, a BIGINT) USING delta")
    for change in (
        "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', "
        "'delta.minWriterVersion' = '5')",
        "RENAME COLUMN s.y TO x",
        "RENAME COLUMN a TO b",
        "ADD COLUMN a BIGINT",
        "SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 's,a')",
    ):
        spark.sql(f"ALTER TABLE {t.sql_name} {change}")
    spark.sql(f"INSERT INTO {t.sql_name} VALUES (1, named_struct('x', 7), 2, 100)")
    strip(t)
    analyze(t)
    (stats,) = statistics(t).values()
    assert stats["nullCount"]["s"] == {"y": 0} and stats["maxValues"]["s"] == {"y": 7}
    assert [bound for bound in stats["maxValues"].values() if bound != {"y": 7}] == [100]
    assert analyze(t).filesRead == 0


def test_columns_choose_the_files(spark: SparkSession, tmp_path: Path):
    features = FEATURES["mapped"] | {"delta.dataSkippingStatsColumns": "id,nested.deep.c"}
    t = written(spark, tmp_path / "t", features)
    collected = "'delta.dataSkippingStatsColumns' = 'id,nested'"
    spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ({collected})")
    assert analyze(t, "FOR COLUMNS (id) DRY RUN").filesRead == 0
    assert analyze(t, "FOR COLUMNS (ID, Nested.Deep.C) DRY RUN").filesRead == 0
    assert analyze(t, "FOR COLUMNS (nested) DRY RUN").filesRead == 2
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    assert upkeep.analyze(columns=["nested.a"]).toResult().filesUpdated == 2
    assert analyze(t, "DRY RUN").filesRead == 0


def test_files_that_others_remove_meanwhile_are_left_out(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    strip(t)
    row = json.loads(
        meanwhile(
            spark,
            f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS",
            f"DELETE FROM {t.sql_name} WHERE id = 1",
        )
    )
    assert (row["filesRead"], row["filesUpdated"]) == (3, 2)
    assert t.ids() == [2, 3]
    assert all(statistics(t).values())


def test_a_file_that_gets_a_vector_meanwhile_is_left_out(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t").create({"delta.enableDeletionVectors": "true"})
    for first in (0, 10):
        spark.sql(
            f"INSERT INTO {t.sql_name} SELECT id, 0, 'x' FROM range({first}, {first + 5}, 1, 1)"
        )
    strip(t, ("numRecords",))
    row = json.loads(
        meanwhile(
            spark,
            f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS",
            f"DELETE FROM {t.sql_name} WHERE id = 1",
        )
    )
    assert (row["filesRead"], row["filesUpdated"], row["version"]) == (2, 1, t.version)
    (left,) = (stats for stats in statistics(t).values() if "minValues" not in stats)
    assert left["numRecords"] == 5
    assert t.ids() == [0, 2, 3, 4, *range(10, 15)]
    assert analyze(t).filesUpdated == 1


def test_one_odd_file_does_not_stop_the_others(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    strip(t)
    (first, second) = sorted(t.path.glob("p=1/*.parquet"))
    first.write_bytes(first.read_bytes()[:-20])
    first.with_name(f".{first.name}.crc").unlink()
    second.unlink()
    spark.catalog.clearCache()
    result = analyze(t)
    assert (result.filesRead, result.filesUpdated) == (4, 2)
    reasons = [r.reason for r in result.reasons if r.reason.startswith("left alone: ")]
    assert len(reasons) == 2 and all(
        any(name in reason for reason in reasons) for name in (first.name, second.name)
    )
    assert result.message.endswith(", but cannot read 2 files")


def test_a_value_beyond_its_type_does_not_stop_the_others(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "t"
    path.mkdir()
    for name, unscaled in {"ok": 2, "over": 3 * 10**20}.items():
        numbers = b"".join(n.to_bytes(16, "little") for n in (1, unscaled))
        column = pa.Array.from_buffers(pa.decimal128(20, 5), 2, [None, pa.py_buffer(numbers)])
        pq.write_table(pa.table({"n": column}), path / f"{name}.parquet")
    adds = [add_of(path, path / f"{name}.parquet", {}, 0, None) for name in ("ok", "over")]
    write_log(path, StructType([StructField("n", DecimalType(20, 5))]), [], adds)
    t = Table(spark, path)
    result = analyze(t)
    assert (result.filesRead, result.filesUpdated) == (2, 1)
    assert [r.files for r in result.reasons if "does not fit" in r.reason] == [1]


def test_times_do_not_depend_on_the_session(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t")
    parquet = "spark.sql.parquet"
    modes = {f"{parquet}.{of}RebaseModeInWrite": "CORRECTED" for of in ("datetime", "int96")}
    with session_conf(spark, modes):
        spark.sql(
            f"CREATE TABLE {t.sql_name} USING delta AS "
            "SELECT TIMESTAMP '1900-01-01 00:00:00 UTC' AS time, DATE '1500-02-28' AS day"
        )
    strip(t)
    zone = {
        "spark.sql.session.timeZone": "Europe/Paris",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
    }
    with session_conf(spark, zone):
        analyze(t)
        same = "time = TIMESTAMP '1900-01-01 00:00:00 UTC'"
        assert spark.read.format("delta").load(str(t.path)).where(same).count() == 1
    (stats,) = statistics(t).values()
    assert stats["minValues"] == {"time": "1900-01-01T00:00:00.000Z", "day": "1500-02-28"}


def test_columns_without_values(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t")
    spark.sql(f"CREATE TABLE {t.sql_name} (id BIGINT, nothing VOID) USING delta")
    spark.sql(f"INSERT INTO {t.sql_name} (id) VALUES (1), (2)")
    strip(t)
    assert analyze(t).filesUpdated == len(live(t.log))
    assert all(stats["maxValues"]["id"] in (1, 2) for stats in statistics(t).values())
    assert analyze(t).filesRead == 0


def test_variants_have_null_counts_alone(spark: SparkSession, tmp_path: Path):
    if spark.version < "4":
        pytest.skip("variants came with Spark 4.0")
    t = Table(spark, tmp_path / "t")
    spark.sql(
        f"CREATE TABLE {t.sql_name} USING delta AS "
        """SELECT 1 AS id, parse_json('{"a": 1}') AS v UNION ALL SELECT 2, NULL"""
    )
    strip(t)
    analyze(t)
    for stats in statistics(t).values():
        assert "v" not in stats["minValues"] and "v" in stats["nullCount"]
    assert spark.read.format("delta").load(str(t.path)).where("v IS NOT NULL").count() == 1


def test_what_is_asked_wrongly(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    for clauses, condition in {
        "WHERE id = 1": "NON_PARTITION_COLUMN",
        "FOR COLUMNS (other)": "COLUMN_WITHOUT_STATISTICS",
        "FOR COLUMNS (id, p)": "COLUMN_WITHOUT_STATISTICS",
        "OPTIONS (mode = 'some')": "INVALID_OPTION",
        "OPTIONS (deep = true)": "UNKNOWN_OPTION",
    }.items():
        with pytest.raises(Exception) as refused:
            analyze(t, clauses)
        assert condition in str(condition_of(refused.value)), clauses


def test_the_statement_of_spark_stays_sparks(spark: SparkSession):
    spark.sql("CREATE TABLE analyzed (id BIGINT) USING parquet")
    try:
        assert spark.sql("ANALYZE TABLE analyzed COMPUTE STATISTICS").collect() == []
    finally:
        spark.sql("DROP TABLE analyzed")

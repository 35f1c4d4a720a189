"""How well a table is clustered, as DESCRIBE HEALTH tells it."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from support.sessions import session_conf

# So that a table of a few kilobytes gets several files.
SMALL = {"spark.databricks.delta.optimize.maxFileSize": "1500"}


def clustering(spark: SparkSession, name: str) -> Row:
    return spark.sql(f"DESCRIBE HEALTH {name}").where("`check` = 'clustering'").first()


def series(row: Row, name: str) -> dict[str, int]:
    return {detail.label: detail["count"] for detail in row.details if detail.series == name}


def append(spark: SparkSession, name: str, start: int, count: int = 400) -> None:
    """Write a file whose values range over nearly all that the table has."""
    rows = spark.range(start, 4 * count, 4).selectExpr(
        "named_struct('a b', id, 'n', id % 7) AS s", "cast(id AS STRING) AS text"
    )
    rows.coalesce(1).writeTo(name).append()


def opened(spark: SparkSession, name: str) -> float:
    """How many files a query for one of some values opens on average."""
    values = range(5, 1600, 159)
    files = [len(spark.table(name).where(f"s.`a b` = {v}").inputFiles()) for v in values]
    return sum(files) / len(values)


@pytest.fixture(params=["liquid", "zorder"])
def table(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Four files that overlap, and the statement that clusters them."""
    name = f"delta.`{tmp_path / 't'}`"
    clause = "CLUSTER BY (s.`a b`)" if request.param == "liquid" else ""
    spark.sql(
        f"CREATE TABLE {name} (s STRUCT<`a b`: BIGINT, n BIGINT>, text STRING) USING delta "
        f"{clause} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for start in range(4):
        append(spark, name, start)
    return name, f"OPTIMIZE {name}" + ("" if clause else " ZORDER BY (s.`a b`)")


@pytest.mark.one_platform
@pytest.mark.takes_turns
def test_health_tells_what_a_point_query_opens(spark: SparkSession, table: tuple[str, str]):
    name, cluster = table
    before = clustering(spark, name)
    if "ZORDER" in cluster:
        assert (before.value, before.severity, before.remedy) == (None, "ok", None)
    else:
        assert (before.value, before.severity, before.remedy) == (100, "warning", cluster)
    with session_conf(spark, SMALL):
        spark.sql(cluster)
    after = clustering(spark, name)
    files = spark.table(name).inputFiles()
    assert len(files) > 3
    assert (after.severity, after.remedy) == ("ok", None)
    # Rows are in order, so no value is in two files.
    assert after.value == pytest.approx(100 / len(files))
    assert "opens up to 1.0 files" in after.message and opened(spark, name) == 1
    states = series(after, "clustered")
    assert (states["clustered"], states["not clustered"]) == (len(files), 0)
    profile = series(after, "values of s.`a b`")
    assert list(map(int, profile)) == sorted(map(int, profile))
    assert set(profile.values()) <= {1, 2}

    append(spark, name, 0)
    worse = clustering(spark, name)
    assert worse.remedy == cluster and worse.severity != "ok"
    assert series(worse, "clustered")["not clustered"] == 1
    assert "1 file of" in worse.message and "is not clustered" in worse.message
    assert "opens up to 2." in worse.message and 1.8 < opened(spark, name) < 2.5
    spark.sql(worse.remedy)
    assert clustering(spark, name).severity == "ok"


def committed(row: Row) -> list[tuple[int, str]]:
    """The bins of an OPTIMIZE: how many files each had, and the reason up to a semicolon."""
    return [(b.inputFiles, b.reason.split(";")[0]) for b in row.bins if b.status == "committed"]


def with_full(statement: str) -> str:
    return (
        statement.replace(" ZORDER", " FULL ZORDER")
        if "ZORDER" in statement
        else f"{statement} FULL"
    )


@pytest.mark.takes_turns
def test_only_what_is_new_is_put_in_order(spark: SparkSession, table: tuple[str, str]):
    name, cluster = table
    with session_conf(spark, SMALL):
        assert committed(spark.sql(cluster).first()) == [(4, "not in order yet")]
        files = set(spark.table(name).inputFiles())
        assert spark.sql(cluster).first().bins == []
        # Little, then more than that, and then more than there was.
        for start, count, expected in (
            (0, 20, [(1, "not in order yet")]),
            (1, 40, [(2, "1 Z-cube and 1 file not in order yet overlap")]),
        ):
            append(spark, name, start, count)
            assert committed(spark.sql(cluster).first()) == expected
            assert files < set(spark.table(name).inputFiles())
        append(spark, name, 2, 6000)
        rows = spark.table(name).select("s", "text").collect()
        everything = len(spark.table(name).inputFiles())
        row = spark.sql(cluster).first()
        assert committed(row) == [(everything, "2 Z-cubes and 1 file not in order yet overlap")]
        assert clustering(spark, name).severity == "ok"
        everything = len(spark.table(name).inputFiles())
        row = spark.sql(with_full(cluster)).first()
        if "ZORDER" in cluster:
            assert committed(row) == [(everything, "all files are put in order again")]
        else:
            # As Delta: they are one Z-cube already.
            assert committed(row) == []
    assert sorted(spark.table(name).select("s", "text").collect()) == sorted(rows)


def test_what_overlaps_nothing_stays_apart(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {name} (day INT, id BIGINT) USING delta CLUSTER BY (day, id)")
    for day in range(3):
        rows = spark.range(2000).selectExpr(f"cast({day} AS INT) AS day", "id")
        rows.repartition(2).writeTo(name).append()
        with session_conf(spark, SMALL):
            row = spark.sql(f"OPTIMIZE {name}").first()
        assert committed(row) == [(2, "not in order yet")]
        # Of full size: there is nothing that a query would open besides.
        assert 1 < row.metrics.numFilesAdded <= row.metrics.filesRemoved.totalSize // 1500


@pytest.mark.takes_turns
def test_files_in_order_with_deleted_rows_keep_their_place(
    spark: SparkSession, table: tuple[str, str]
):
    name, cluster = table
    spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = true, "
        "'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7')"
    )
    with session_conf(spark, SMALL):
        spark.sql(cluster)
        spark.sql(f"DELETE FROM {name} WHERE s.`a b` BETWEEN 100 AND 150")
        row = spark.sql(cluster).first()
        assert {files for files, _ in committed(row)} == {1}
        assert {b.tier for b in row.bins} <= {"splice", "copy", "transcode"}
        assert "gather" not in {tier.tier for tier in row.metrics.tiers}
        assert spark.sql(cluster).first().bins == []
    assert series(clustering(spark, name), "clustered")["not clustered"] == 0
    assert spark.table(name).where("s.`a b` BETWEEN 90 AND 160").count() == 20


@pytest.mark.takes_turns
def test_new_files_are_put_in_order_in_parts(spark: SparkSession, table: tuple[str, str]):
    name, cluster = table
    rows = spark.table(name).count()
    row = spark.sql(f"{cluster} OPTIONS (maxFiles = 3)").first()
    assert committed(row) == [(3, "not in order yet")]
    assert [b.inputFiles for b in row.bins if b.status == "deferred"] == [1]
    assert committed(spark.sql(f"{cluster} OPTIONS (maxFiles = 3)").first()) != []
    while committed(spark.sql(cluster).first()):
        pass
    assert spark.table(name).count() == rows
    assert series(clustering(spark, name), "clustered")["not clustered"] == 0


def test_compaction_leaves_files_in_zorder(spark: SparkSession, tmp_path: Path):
    """MAINTAIN would undo what ZORDER BY has done, and the other way round, for ever."""
    name = f"delta.`{tmp_path / 't'}`"
    rows = spark.range(400_000).selectExpr("id * 7919 % 400000 AS id", "uuid() AS text")
    rows.repartition(2).write.format("delta").save(str(tmp_path / "t"))
    with session_conf(spark, {"spark.databricks.delta.optimize.maxFileSize": str(4 << 20)}):
        spark.sql(f"OPTIMIZE {name} ZORDER BY (id)")
        files = set(spark.table(name).inputFiles())
        assert len(files) > 2
        assert spark.sql(f"OPTIMIZE {name}").first().bins == []
        for start in (400_000, 400_100):
            spark.range(start, start + 100).selectExpr("id", "'' AS text").writeTo(name).append()
        (done,) = spark.sql(f"OPTIMIZE {name}").first().bins
        assert done.status == "committed" and files < set(spark.table(name).inputFiles())
    assert spark.table(name).distinct().count() == 400_200


def in_order(spark: SparkSession, path: Path) -> list[tuple[int, str | None]]:
    """Read the rows as the files have them, the files by their first rows."""
    files = [
        pq.read_table(file.removeprefix("file:"), columns=["a", "b"]).to_pylist()
        for file in spark.read.format("delta").load(str(path)).inputFiles()
    ]
    rows = [[(row["a"], row["b"]) for row in file] for file in files]
    return [row for file in sorted(rows, key=lambda file: file[0][0]) for row in file]


@pytest.mark.takes_turns
@pytest.mark.parametrize("engine", ["auto", "rows"])
def test_rows_are_sorted_by_keys(spark: SparkSession, tmp_path: Path, engine: str):
    path = tmp_path / "t"
    name = f"delta.`{path}`"

    def append(start: int) -> None:
        rows = spark.range(start, 3000, 2).selectExpr(
            "cast(id * 7919 % 3000 AS INT) DIV 10 AS a",
            "if(id % 50 = 0, null, cast(id * 31 % 100 AS STRING)) AS b",
        )
        rows.repartition(3).write.format("delta").mode("append").save(str(path))

    append(0)
    conf = {**SMALL, "spark.deltaUpkeep.optimize.engine": engine}
    with session_conf(spark, conf):
        row = spark.sql(f"OPTIMIZE {name} ORDER BY (a, b DESC)").first()
        assert row.metrics.numFilesAdded > 2
        assert row.metrics.tiers[0].tier == ("gather" if engine == "auto" else "rows")
        found = in_order(spark, path)
        # Nulls are the smallest, so they come last where the largest comes first.
        by_b = sorted(found, key=lambda row: (row[1] is not None, row[1] or ""), reverse=True)
        assert found == sorted(by_b, key=lambda row: row[0])
        assert spark.sql(f"OPTIMIZE {name} ORDER BY (A, B DESC)").first().bins == []
        assert spark.sql(f"OPTIMIZE {name} ORDER BY (a, b)").first().bins != []
        append(1)
        worse = clustering(spark, name)
        assert worse.remedy == f"OPTIMIZE {name} ORDER BY (a, b)"
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('deltaUpkeep.sortOrder' = 'a, b')")
        assert clustering(spark, name).remedy == f"OPTIMIZE {name}"
        assert "ORDER BY" not in spark.sql(f"EXPLAIN OPTIMIZE {name}").first().plan
        (reason,) = [reason for _, reason in committed(spark.sql(f"OPTIMIZE {name}").first())]
        assert reason == (
            "1 Z-cube and 3 files not in order yet overlap"
            if engine == "auto"
            else "spark.deltaUpkeep.optimize.engine is rows"
        )
        assert spark.sql(f"MAINTAIN {name}").where("step = 'optimize'").first().status == "not due"
        found = in_order(spark, path)
        assert found == sorted(found, key=lambda row: (row[0], row[1] is not None, row[1] or ""))
    assert len(found) == 3000


def test_an_order_that_a_table_cannot_have(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "t"
    spark.range(3).selectExpr("id", "id AS p").write.format("delta").partitionBy("p").save(
        str(path)
    )
    name = f"delta.`{path}`"
    for clause, condition in (
        ("ORDER BY (p)", "ZORDER_COLUMN"),
        ("ORDER BY (x DESC)", "ZORDER_COLUMN"),
    ):
        with pytest.raises(AnalysisException, match=condition):
            spark.sql(f"OPTIMIZE {name} {clause}")
    for text in ("lower(id)", "gone", "p"):
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('deltaUpkeep.sortOrder' = '{text}')")
        for statement in ("OPTIMIZE", "MAINTAIN"):
            with pytest.raises(AnalysisException, match=r"INVALID_SORT_ORDER.*sortOrder"):
                spark.sql(f"{statement} {name}")
        assert clustering(spark, name).value is None


@pytest.mark.parametrize("order", ["ORDER BY (a)", "ZORDER BY (a, b)"])
def test_a_dry_run_tells_how_much_better_files_are_told_apart(
    spark: SparkSession, tmp_path: Path, order: str
):
    name = f"delta.`{tmp_path / 't'}`"
    for i in range(4):
        spark.range(20000).selectExpr(f"hash(id, {i}) AS a", f"hash(id, {i + 9}) AS b").coalesce(
            1
        ).write.format("delta").mode("append").save(str(tmp_path / "t"))
    statement = f"OPTIMIZE {name} {order}"
    options = "OPTIONS (targetFileSize = '40k')"
    planned = spark.sql(f"{statement} DRY RUN {options}").first().clustering
    keys = [key.column for key in planned]
    assert keys == ["a", "b"][: len(keys)] and len(keys) == (1 if "(a)" in order else 2)
    assert [key.openedBefore for key in planned] == [100] * len(keys)
    (plan,) = spark.sql(f"EXPLAIN {statement} {options}").first()
    assert "a query for one value of a opens up to 100% of the files, and about" in plan
    assert spark.sql(f"{statement} {options}").first().clustering == []
    again = spark.sql(f"{statement} DRY RUN {options}").first().clustering
    for key, found in zip(planned, again, strict=True):
        assert found.openedBefore == found.openedAfter < 70
        # Files do not end where the halves of a curve do.
        assert found.openedBefore / 2.5 < key.openedAfter < found.openedBefore * 1.5


@pytest.mark.parametrize("order", ["ORDER BY (a)", "ZORDER BY (a)"])
def test_a_renamed_column_keeps_its_order(spark: SparkSession, tmp_path: Path, order: str):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(
        f"CREATE TABLE {name} (a BIGINT, b BIGINT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for i in range(3):
        spark.sql(f"INSERT INTO {name} SELECT id, hash(id) FROM range({9 * i}, {9 * i + 9}, 1, 1)")

    def removed() -> int:
        return spark.sql(f"OPTIMIZE {name} {order}").first().metrics.numFilesRemoved

    assert removed() == 3
    for old, new in (("a", "t"), ("b", "a"), ("t", "b")):
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN {old} TO {new}")
    assert removed() == 1
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN a TO `x y`")
    order = order.replace("(a)", "(`X y`)")
    assert removed() == 0
    assert clustering(spark, name).value is not None


def test_health_tells_how_many_row_groups_a_query_opens(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path / 't'}`"
    rows = spark.range(0, 60000, 1, 3).selectExpr("hash(id) AS a", "CAST(id AS STRING) AS text")
    rows.write.format("delta").save(str(tmp_path / "t"))
    spark.sql(f"OPTIMIZE {name} ORDER BY (a)")
    assert "row groups" not in clustering(spark, name).message
    with session_conf(spark, {"parquet.block.size": "65536"}):
        spark.sql(f"OPTIMIZE {name} FULL ORDER BY (a)")
    (file,) = spark.read.format("delta").load(str(tmp_path / "t")).inputFiles()
    groups = pq.ParquetFile(file.removeprefix("file://")).metadata.num_row_groups
    found = re.search(r"and (\d+)% of the row groups", clustering(spark, name).message)
    assert groups > 5 and found and int(found[1]) <= 200 / groups


def test_keys_without_an_order_are_refused_before_anything_is_done(
    spark: SparkSession, tmp_path: Path
):
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, m MAP<INT, INT>) USING delta")
    for _ in range(2):
        spark.sql(f"INSERT INTO {name} SELECT id, map(1, 2) FROM range(9)")
    for clause in ("ORDER BY (m)", "ORDER BY (m) DRY RUN", "ZORDER BY (id, m)"):
        with pytest.raises(AnalysisException, match=r"ZORDER_COLUMN"):
            spark.sql(f"OPTIMIZE {name} {clause}")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('deltaUpkeep.sortOrder' = 'm')")
    with pytest.raises(AnalysisException, match=r"INVALID_SORT_ORDER.*no order"):
        spark.sql(f"OPTIMIZE {name}")


def test_zorder_tags_files_by_its_columns(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path / 't'}`"
    spark.range(10).selectExpr("id", "id % 2 AS p").write.format("delta").partitionBy("p").save(
        str(tmp_path / "t")
    )
    spark.sql(f"OPTIMIZE {name} WHERE p = 1 ZORDER BY (ID)")
    commit = (tmp_path / "t/_delta_log" / f"{1:020}.json").read_text().splitlines()
    tags = [add["tags"] for line in commit if (add := json.loads(line).get("add"))]
    assert [json.loads(tag["deltaUpkeep.zOrderBy"]) for tag in tags] == [["id"]]
    # Delta would take them for clustered if the table got CLUSTER BY.
    assert not [key for tag in tags for key in tag if "ZCUBE" in key]
    found = clustering(spark, name)
    assert (found.value, found.severity) == (100, "ok")
    assert "By the statistics of 1 file," in found.message
    assert "up to 1.0 files of a partition" in found.message
    spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
    )
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN id TO other")
    assert clustering(spark, name).value == 100


def test_tags_of_unknown_writers_are_passed_over(spark: SparkSession, tmp_path: Path):
    path = tmp_path / "t"
    spark.range(10).coalesce(1).write.format("delta").save(str(path))
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id)")
    file = path / "_delta_log" / f"{1:020}.json"
    text = file.read_text()
    for names in ('["a`b"]', "[null]", '["."]', "7", "id", ""):
        copy = tmp_path / f"copy{len(list(tmp_path.iterdir()))}"
        shutil.copytree(path, copy)
        (copy / "_delta_log" / f".{file.name}.crc").unlink(missing_ok=True)
        escaped = names.replace('"', '\\"')
        (copy / "_delta_log" / file.name).write_text(text.replace('[\\"id\\"]', escaped))
        assert escaped in (copy / "_delta_log" / file.name).read_text()
        assert clustering(spark, f"delta.`{copy}`").value is None

"""OPTIMIZE with a codec: files with another one are compressed again, page by page."""

import json
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from conftest import Table, TableFactory
from foreign.delta_rs import by_delta_rs, ids_by_delta_rs, ids_by_duckdb, ids_by_pyarrow
from foreign.kernel import has_kernel, ids_by_kernel
from support.sessions import session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

CODECS = ["zstd", "snappy", "gzip", "lz4_raw", "uncompressed"]
ARROW_NAMES = {"lz4_raw": "LZ4"}


def write(spark: SparkSession, t: Table, start: int, end: int, codec: str = "snappy") -> None:
    """Append a file to each of the two partitions, with nested columns too."""
    with session_conf(spark, {"spark.sql.parquet.compression.codec": codec}):
        spark.range(start, end).selectExpr(
            "id", "CAST(id % 2 AS INT) AS p", "concat('text ', id % 50) AS text"
        ).coalesce(1).write.format("delta").mode("append").save(str(t.path))


def live_files(t: Table) -> list[Path]:
    state = json.loads(
        t.spark.sql(f"SELECT to_json(collect_set(_metadata.file_path)) FROM {t.sql_name}").first()[
            0
        ]
    )
    return [Path(uri.removeprefix("file:").replace("///", "/")) for uri in state]


def codecs_of(t: Table) -> set[str]:
    found = set()
    for file in live_files(t):
        footer = pq.read_metadata(file)
        for group in range(footer.num_row_groups):
            for column in range(footer.num_columns):
                found.add(footer.row_group(group).column(column).compression)
    return found


def all_readers(t: Table) -> list[list[int]]:
    seen = [t.ids(), ids_by_delta_rs(t.path), ids_by_pyarrow(t.path), ids_by_duckdb(t.path)]
    return [*seen, ids_by_kernel(t.spark, t.path)] if has_kernel() else seen


@pytest.mark.parametrize("codec", CODECS)
def test_whole_files_get_the_codec_and_keep_their_rows(
    spark: SparkSession, table: TableFactory, codec: str
):
    t = table()
    write(spark, t, 0, 5000, "gzip" if codec == "snappy" else "snappy")
    rows = spark.sql(f"SELECT * FROM {t.sql_name} ORDER BY id").collect()
    statement = f"OPTIMIZE {t.sql_name} OPTIONS (codec = '{codec}')"
    row = spark.sql(statement).first()
    assert {(b.tier, b.status, b.inputFiles) for b in row.bins} == {("recompress", "committed", 1)}
    assert len(row.bins) == 2
    assert row.bins[0].reason.startswith("pages are compressed as ")
    assert row.bins[0].reason.endswith(f", not as {codec.upper()}")
    # Partition columns are made anew.
    work = {tier.tier: tier for tier in row.metrics.tiers}
    assert work["recompress"].files == 2
    assert work["recompress"].bytes > 0
    assert {tier for tier in work if work[tier].bytes} == {"recompress"}
    assert codecs_of(t) == {ARROW_NAMES.get(codec, codec.upper())}
    assert spark.sql(f"SELECT * FROM {t.sql_name} ORDER BY id").collect() == rows
    assert all_readers(t) == [list(range(5000))] * len(all_readers(t))
    assert by_delta_rs(t.path, columns="text").num_rows == 5000
    again = spark.sql(statement).first()
    assert (again.version, again.bins) == (None, [])


def test_a_dry_run_and_explain_tell_it_and_change_nothing(spark: SparkSession, table: TableFactory):
    t = table()
    write(spark, t, 0, 1000)
    before = t.all_files()
    statement = f"OPTIMIZE {t.sql_name} DRY RUN OPTIONS (codec = 'zstd', level = 3)"
    row = spark.sql(statement).first()
    assert {(b.tier, b.reason, b.status) for b in row.bins} == {
        ("recompress", "pages are compressed as SNAPPY, not as ZSTD", "planned")
    }
    assert (row.metrics.numFilesRemoved, row.metrics.numFilesAdded) == (2, 2)
    plan = spark.sql(f"EXPLAIN {statement}").first()[0]
    assert (
        "of 2 other files, those with another codec than zstd (level 3) are compressed again"
        in plan
    )
    assert t.all_files() == before


def test_deleted_rows_are_left_out_on_the_way(spark: SparkSession, table: TableFactory):
    t = table(enableDeletionVectors="true")
    write(spark, t, 0, 5000)
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id % 1000 = 4")
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first()
    assert {(b.tier, b.reason) for b in row.bins} == {
        ("splice", "pages are compressed as SNAPPY, not as ZSTD; deleted rows are left out"),
        ("recompress", "pages are compressed as SNAPPY, not as ZSTD"),
    }
    kept = [i for i in range(5000) if i % 1000 != 4]
    assert codecs_of(t) == {"ZSTD"}
    assert all_readers(t) == [kept] * len(all_readers(t))


def test_new_files_of_every_tier_have_the_codec(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    write(spark, t, 5, 1000)
    spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'gzip', level = 9)")
    assert codecs_of(t) == {"GZIP"}
    with session_conf(spark, {"spark.deltaUpkeep.optimize.engine": "rows"}):
        row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd', level = 19)").first()
    assert {b.tier for b in row.bins} == {"rows"}
    assert row.bins[0].reason == (
        "pages are compressed as GZIP, not as ZSTD; spark.deltaUpkeep.optimize.engine is rows"
    )
    assert codecs_of(t) == {"ZSTD"}
    spark.sql(f"OPTIMIZE {t.sql_name} ZORDER BY (id) OPTIONS (codec = 'lz4_raw')")
    assert codecs_of(t) == {"LZ4"}
    assert t.ids() == list(range(1, 1000))


def test_small_files_keep_their_tags_and_large_ones_stay_large(
    spark: SparkSession, table: TableFactory
):
    t = table()
    write(spark, t, 0, 1000)
    small = f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')"
    assert len(spark.sql(small).first().bins) == 2
    assert {json.dumps(add.get("tags")) for add in t.added()} <= {"null", "{}"}
    write(spark, t, 1000, 2000, "zstd")
    merged = spark.sql(small).first()
    assert {(b.inputFiles, b.tier) for b in merged.bins} == {(2, "splice")}
    large = f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'snappy', targetFileSize = 1000)"
    spark.sql(large)
    assert {add["tags"]["OPTIMIZE_TARGET_SIZE"] for add in t.added()} == {"1000"}
    assert spark.sql(large).first().version is None


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("codec = 'brotli'", "codec"),
        ("codec = 'lzo'", "codec"),
        ("codec = 'zstd', level = 23", "level"),
        ("codec = 'zstd', level = 0", "level"),
        ("codec = 'gzip', level = 10", "level"),
        ("codec = 'snappy', level = 1", "level"),
        ("level = 3", "level"),
        ("codec = 'zstd', level = 'high'", "level"),
    ],
)
def test_other_codecs_and_levels_are_refused(
    spark: SparkSession, table: TableFactory, options: str, word: str
):
    t = table(1)
    with pytest.raises(AnalysisException, match=f"for the option '{word}'") as refused:
        spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS ({options})")
    assert "INVALID_OPTION" in str(refused.value)


def test_a_clustered_table_keeps_its_clusters(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "clustered")
    spark.sql(
        f"CREATE TABLE {t.sql_name} (id BIGINT, p INT, text STRING) USING delta CLUSTER BY (id)"
    )
    write(spark, t, 0, 1000)
    spark.sql(f"OPTIMIZE {t.sql_name}")
    (before,) = t.added()
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first()
    assert {b.tier for b in row.bins} == {"recompress"}
    # It was not put in another order.
    assert row.metrics.clusteringStats.numOutputZCubes == 0
    (after,) = t.added()
    assert after["path"] != before["path"]
    assert (after["tags"], after["clusteringProvider"]) == (before["tags"], "liquid")
    assert codecs_of(t) == {"ZSTD"}
    assert spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first().version is None
    assert t.ids() == list(range(1000))


def test_row_ids_mapped_columns_and_nested_values_stay(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "tracked")
    spark.sql(
        f"CREATE TABLE {t.sql_name} "
        "(id BIGINT, s STRUCT<a: INT, l: ARRAY<STRING>>, m MAP<STRING, INT>) "
        "USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.enableRowTracking' = 'true')"
    )
    spark.range(2000).selectExpr(
        "id",
        "IF(id % 7 = 0, NULL, named_struct('a', IF(id % 11 = 0, NULL, CAST(id AS INT)), 'l', "
        "IF(id % 3 = 0, NULL, array(CAST(id AS STRING), NULL)))) AS s",
        "IF(id % 5 = 0, NULL, map('k', IF(id % 13 = 0, NULL, CAST(id AS INT)))) AS m",
    ).coalesce(1).write.format("delta").mode("append").save(str(t.path))
    query = (
        "SELECT id, s, map_entries(m) AS m, _metadata.row_id, _metadata.row_commit_version "
        f"FROM {t.sql_name} ORDER BY id"
    )
    rows = spark.sql(query).collect()
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'gzip')").first()
    assert {b.tier for b in row.bins} == {"recompress"}
    assert codecs_of(t) == {"GZIP"}
    assert spark.sql(query).collect() == rows
    assert spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'gzip')").first().version is None


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_of_other_writers_are_recompressed(spark: SparkSession, tmp_path: Path, version: str):
    t = Table(spark, tmp_path / "foreign")
    rows = pyarrow.table(
        {
            "id": pyarrow.array(range(3000), pyarrow.int64()),
            "text": [None if i % 7 == 0 else f"text {i % 90}" for i in range(3000)],
            "l": [None if i % 5 == 0 else [i, None] for i in range(3000)],
        }
    )
    file = tmp_path / "foreign" / "a.parquet"
    file.parent.mkdir()
    pq.write_table(
        rows,
        file,
        data_page_version=version,
        compression="snappy",
        write_page_index=True,
        write_page_checksum=True,
        use_dictionary=["text"],
    )
    spark.sql(f"CONVERT TO DELTA parquet.`{t.path}`")
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first()
    assert [(b.tier, b.status) for b in row.bins] == [("recompress", "committed")]
    (new,) = live_files(t)
    assert codecs_of(t) == {"ZSTD"}
    assert pq.read_table(new, page_checksum_verification=True).equals(rows)
    assert by_delta_rs(t.path).num_rows == 3000
    assert t.ids() == ids_by_duckdb(t.path) == list(range(3000))


def test_a_missing_file_does_not_stop_the_others(spark: SparkSession, table: TableFactory):
    t = table()
    write(spark, t, 0, 1000)
    sorted(live_files(t))[0].unlink()
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first()
    assert sorted(b.status for b in row.bins) == ["committed", "left"]
    assert any("does not exist" in b.reason or "No such file" in b.reason for b in row.bins)


@pytest.mark.parametrize("engine", ["auto", "rows"])
@pytest.mark.parametrize(
    "limit", ["", ", maxBytes = 1, order = 'smallest'", ", maxBytes = 1, order = 'largest'"]
)
def test_a_damaged_file_does_not_stop_the_others(
    spark: SparkSession, table: TableFactory, engine: str, limit: str
):
    t = table()
    write(spark, t, 0, 1000)
    file = sorted(live_files(t))[0]
    content = bytearray(file.read_bytes())
    for i in range(60, 160):
        content[i] ^= 0xFF
    file.write_bytes(content)
    file.with_name(f".{file.name}.crc").unlink()
    with session_conf(spark, {"spark.deltaUpkeep.optimize.engine": engine}):
        row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd'{limit})").first()
    assert {(b.status, b.inputFiles) for b in row.bins} >= {("committed", 1)}
    assert len(row.bins) == 2 and (limit or {b.status for b in row.bins} == {"committed", "left"})
    assert file.read_bytes() == content
    assert codecs_of(t) == {"ZSTD", "SNAPPY"}


def test_every_run_makes_progress(spark: SparkSession, table: TableFactory):
    """A file may be larger than all that one run rewrites."""
    t = table()
    write(spark, t, 0, 1000)
    for left in (1, 0):
        row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd', maxBytes = 1)").first()
        statuses = [b.status for b in row.bins]
        assert statuses == ["committed"] + left * ["deferred"]
    assert codecs_of(t) == {"ZSTD"}


def test_new_files_follow_the_property_of_the_table(spark: SparkSession, table: TableFactory):
    t = table()
    with session_conf(spark, {"spark.databricks.delta.allowArbitraryProperties.enabled": "true"}):
        spark.sql(
            f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES "
            "('delta.parquet.compression.codec' = 'GZIP')"
        )
    write(spark, t, 0, 1000)
    # As files that are large enough.
    assert spark.sql(f"OPTIMIZE {t.sql_name}").first().version is None
    assert codecs_of(t) == {"SNAPPY"}
    write(spark, t, 1000, 2000)
    assert spark.sql(f"OPTIMIZE {t.sql_name}").first().metrics.numFilesAdded == 2
    assert codecs_of(t) == {"GZIP"}
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd', level = 3)").first()
    assert row.metrics.numFilesAdded == 2 and codecs_of(t) == {"ZSTD"}
    assert t.ids() == list(range(2000))


def test_a_dictionary_without_entries_is_read_by_others(spark: SparkSession, tmp_path: Path):
    t = Table(spark, tmp_path / "t")
    t.path.mkdir()
    nulls = pyarrow.table({"id": [1, 2], "text": pyarrow.array([None, None], pyarrow.string())})
    pq.write_table(nulls, t.path / "a.parquet", write_page_index=True)
    spark.sql(f"CONVERT TO DELTA parquet.`{t.path}`")
    spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'lz4_raw')")
    (file,) = live_files(t)
    assert codecs_of(t) == {"LZ4"}
    assert duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE text IS NULL").fetchall() == [(2,)]


def test_a_file_whose_codec_is_unknown_is_left_with_the_reason(
    spark: SparkSession, table: TableFactory
):
    t = table()
    write(spark, t, 0, 1000)
    first = sorted(live_files(t))[0]
    content = bytearray(first.read_bytes())
    content[-4:] = b"PARE"
    first.write_bytes(content)
    first.with_name(f".{first.name}.crc").unlink()
    row = spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = 'zstd')").first()
    assert {(b.status, b.reason) for b in row.bins} == {
        ("left", "a file is encrypted"),
        ("committed", "pages are compressed as SNAPPY, not as ZSTD"),
    }


def test_levels_are_followed_and_read_by_duckdb(spark: SparkSession, table: TableFactory):
    t = table()
    words = "concat_ws(' ', id, id * id, hex(id), 'and', id % 7, 'words') AS text"
    rows = spark.range(20000).selectExpr("id", "0 AS p", words)
    rows.coalesce(1).write.format("delta").mode("append").save(str(t.path))
    sizes = {}
    for codec, level in [("zstd", 1), ("gzip", 1), ("zstd", 19), ("gzip", 9)]:
        spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = '{codec}', level = {level})")
        (file,) = live_files(t)
        sizes[codec, level] = file.stat().st_size
        found = duckdb.execute("SELECT sum(id), count(text) FROM read_parquet(?)", [str(file)])
        assert found.fetchone() == (sum(range(20000)), 20000)
    assert sizes["zstd", 19] < sizes["zstd", 1]
    assert sizes["gzip", 9] < sizes["gzip", 1]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_health_tells_what_the_table_would_take(
    spark: SparkSession, table: TableFactory, version: str
):
    t = table()
    pages = {
        "spark.sql.parquet.compression.codec": "uncompressed",
        "parquet.writer.version": version,
        "parquet.page.size": "65536",
    }
    with session_conf(spark, {key: pages[key] for key in list(pages)[:1]}):
        writer = (
            spark.range(0, 200_000, 1, 1)
            .selectExpr(
                "id",
                "CAST(id % 2 AS INT) AS p",
                "concat(id % 977, ' text ', sha1(CAST(id % 30011 AS STRING))) AS text",
            )
            .write.format("delta")
        )
        for key, value in pages.items():
            writer = writer.option(key, value)
        writer.mode("append").save(str(t.path))

    def checked() -> Row:
        return spark.sql(f"DESCRIBE HEALTH {t.sql_name}").where("`check` = 'compression'").first()

    first = checked()
    assert first.severity == "info" and "(uncompressed)" in first.message
    assert "codec = 'zstd'" in first.remedy
    estimates = {detail.label: detail.bytes for detail in first.details}
    assert set(estimates) == {"gzip", "lz4_raw", "snappy", "zstd"}
    for codec, estimate in estimates.items():
        spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (codec = '{codec}')")
        actual = sum(file.stat().st_size for file in live_files(t))
        assert estimate == pytest.approx(actual, rel=0.1), codec
    assert estimates["zstd"] < estimates["snappy"]
    last = checked()
    assert (last.severity, last.remedy) == ("ok", None) and "(zstd)" in last.message


def test_health_takes_columns_with_longer_pages_as_they_are(
    spark: SparkSession, table: TableFactory
):
    t = table()
    long_pages = {
        "parquet.enable.dictionary": "false",
        "parquet.page.size": str(1 << 30),
        "parquet.page.row.count.limit": str(1 << 30),
    }
    with session_conf(spark, long_pages):
        spark.range(0, 200_000, 1, 1).selectExpr(
            "id", "CAST(0 AS INT) AS p", "sha1(CAST(id AS STRING)) AS text"
        ).write.format("delta").mode("append").save(str(t.path))
    row = spark.sql(f"DESCRIBE HEALTH {t.sql_name}").where("`check` = 'compression'").first()
    size = sum(file.stat().st_size for file in live_files(t))
    assert (row.severity, row.remedy) == ("ok", None)
    assert all(detail.bytes > 0.8 * size for detail in row.details)

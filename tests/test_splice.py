"""OPTIMIZE keeps every row and tells the truth about it, whoever wrote the files."""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.cases import CASES, SCHEMA, Case
from foreign.checks.answers import COUNT_IN_FILE, Asked, ask_files, ask_spark, check_answers
from foreign.checks.bloom_filters import assert_no_value_excluded, bloom_filters
from foreign.checks.log_statistics import check_log_stats
from foreign.checks.optimized import optimize_and_check
from foreign.checks.parquet_statistics import check_parquet
from foreign.checks.seen import OTHERWISE, CannotRead, check_strangers, readable, same_rows
from foreign.checks.stored_types import check_types
from foreign.filters import draw_filters
from foreign.forged import ForeignFile, forge
from foreign.page_index import read_page_index
from foreign.readers import by_pyarrow
from foreign.rows import Rows, python_columns, rows_of
from foreign.strangers import strangers_of
from foreign.table import ForeignTable
from foreign.types import KEYS, LEAVES
from foreign.values import Style
from foreign.writers import DuckDB, PyArrow, Spark
from support.sessions import as_arrow, session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

EXAMPLES = int(os.environ.get("SPLICE_EXAMPLES", "10"))
# Each run draws other tables; a failure names its seed, which draws the same ones again.
SEED = int(os.environ.get("SPLICE_SEED") or time.time())
# Shrinking takes minutes: only on demand.
SHRINK = bool(os.environ.get("SPLICE_SHRINK"))
ROW_READER = {"spark.sql.parquet.enableVectorizedReader": "false"}
# Any row group is large enough to be copied.
WHOLE_ROW_GROUPS = {"parquet.block.size": "10"}
CASE_COLUMN = t.StructField("case", t.StringType())

NEED_DECODING = {
    "pyarrow-delta-binary-packed",
    "pyarrow-delta-length-byte-array",
    "pyarrow-delta-byte-array",
    "pyarrow-byte-stream-split",
    "duckdb-v2",
    "spark-v2",
    # Types that are not those of the table, or not those of the other files:
    "pyarrow-narrow-types",
    "pyarrow-milliseconds",
    "mixed-writers",
    "mixed-units",
    "mixed-widths",
    "mixed-decimals",
    "mixed-dictionaries",
    "mixed-schemas",
}
ROW_READER_CASE = next(case for case in CASES if case.needs_row_reader)
# Columns whose spellings disagree, and dates that may be of the legacy calendar.
NEED_ROWS = {
    "pyarrow-int96",
    "pyarrow-upper-case-names",
    "spark-julian-dates",
    "spark-julian-int96",
    "mixed-julian",
}
# One file needs rows, and the others do not.
ARE_SPLIT = {"mixed-timestamps": {"transcode", "rows"}}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("splice")


class CaseTable:
    """A table with one partition, so one bin, for every case: optimized once for all of them."""

    def __init__(self, spark: SparkSession, root: Path, cases: list[Case]) -> None:
        files = [file for case in cases for file in case.files]
        self.table = forge(spark, root, SCHEMA, files, CASE_COLUMN)
        self.old = self.table.adds()
        self.schema = self.table.frame().schema
        self.before = as_arrow(self.table.frame())
        self.tally: Counter[str] = Counter()
        self.strangers = {case.name: self.strangers_of(case) for case in cases}
        assert not [name for name in COUNT_IN_FILE if self.tally[f"{name}: {OTHERWISE}"]]
        rng = random.Random(SEED)
        columns = python_columns(self.before, self.schema)
        self.asked = ask_spark(self.table, draw_filters(self.schema, columns, rng, 16))
        assert self.asked
        for case in cases:
            self.asked += self.ask(case, rng)
        self.bins = spark.sql(f"OPTIMIZE {self.table.sql_name}").first().bins
        self.after = as_arrow(self.table.frame())

    def strangers_of(self, case: Case) -> dict[str, Any]:
        """Have the strangers that can read a case; of some days, Spark alone knows the meaning."""
        readers = {} if case.is_julian else strangers_of(self.table, self.schema, case.name)
        expected = dict.fromkeys(readers, self.rows_of(self.before, case.name))
        return readable(readers, expected, self.tally, [])

    def ask(self, case: Case, rng: random.Random) -> list[Asked]:
        """Have them count a few filters."""
        rows = self.before.filter(pa.compute.field("case") == case.name)
        held = t.StructType([f for f in self.schema.fields if f.name != CASE_COLUMN.name])
        drawn = draw_filters(held, python_columns(rows, held), rng, 4)
        readers = [name for name in self.strangers[case.name] if name in COUNT_IN_FILE]
        return [a for name in readers for a in ask_files(self.table, name, drawn, case.name)]

    def rows_of(self, rows: pa.Table, case: str) -> Rows:
        of_case = rows.filter(pa.compute.field("case") == case)
        return rows_of(python_columns(of_case, self.schema), self.schema)

    def new_adds(self, case: str) -> list[dict]:
        adds = self.table.adds(case)
        return [add for path, add in adds.items() if path not in self.old]


class CaseTables:
    """The table that Spark's vectorized reader reads, and the one that it cannot; made at need."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root
        self.made: dict[bool, CaseTable | Exception] = {}

    def of(self, case: Case) -> CaseTable:
        kind = case.needs_row_reader
        if kind not in self.made:
            with session_conf(self.spark, ROW_READER if kind else {}):
                cases = [c for c in CASES if c.needs_row_reader == kind]
                try:
                    self.made[kind] = CaseTable(self.spark, self.root, cases)
                except Exception as e:  # tell it for every case, but try only once
                    self.made[kind] = e
        made = self.made[kind]
        if isinstance(made, Exception):
            raise made
        return made


@pytest.fixture(scope="session")
def case_tables(spark: SparkSession, root: Path) -> CaseTables:
    return CaseTables(spark, root)


# One process makes their tables.
of_cases = pytest.mark.xdist_group("cases")


@of_cases
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_and_statistics_of_case(case_tables: CaseTables, case: Case):
    made = case_tables.of(case)
    before, after = (made.rows_of(rows, case.name) for rows in (made.before, made.after))
    assert sum(before.values()) == sum(file.rows for file in case.files)
    same_rows("Spark", before, after)
    check_strangers("OPTIMIZE", made.strangers[case.name])
    new = made.new_adds(case.name)
    assert len(new) == (1 if before else 0)
    for add in new:
        check_log_stats(made.table, add)
        check_parquet(made.table.file_of(add))


@of_cases
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tier_of_case(case_tables: CaseTables, case: Case):
    tiers = {
        b.tier
        for b in case_tables.of(case).bins
        if b.partition == f"{CASE_COLUMN.name}={case.name}"
    }
    if case.name in ARE_SPLIT:
        assert tiers == ARE_SPLIT[case.name]
    elif case.name in NEED_ROWS:
        assert tiers == {"rows"}
    elif case.name in NEED_DECODING:
        assert tiers == {"transcode"}
    else:
        assert tiers in ({"splice"}, {"copy"})


@of_cases
@pytest.mark.parametrize("case", [CASES[0], ROW_READER_CASE], ids=["vectorized", "rows"])
def test_filters_and_types_of_cases(case_tables: CaseTables, case: Case):
    made = case_tables.of(case)
    assert {a.reader for a in made.asked} == {"spark", "pyarrow", "duckdb"}, f"SPLICE_SEED={SEED}"
    with session_conf(case_tables.spark, ROW_READER if case.needs_row_reader else {}):
        try:
            check_answers(made.table, made.asked, "OPTIMIZE")
        except AssertionError as e:
            raise AssertionError(f"SPLICE_SEED={SEED}: {e}") from e
    live = made.table.adds()
    old = [made.table.file_of(add) for add in made.old.values()]
    new = [made.table.file_of(add) for path, add in live.items() if path not in made.old]
    check_types(made.table.physical_schema(), old, new)


NAMES = st.lists(
    st.sampled_from(["a", "b", "Mixed", "ünï", "a.b", "select", "_c", "value"]),
    min_size=1,
    max_size=5,
    unique=True,
)
TYPES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(
            lambda kinds: t.StructType([t.StructField(f"f{i}", k) for i, k in enumerate(kinds)])
        ),
        inner.map(t.ArrayType),
        st.tuples(st.sampled_from(KEYS), inner).map(lambda pair: t.MapType(*pair)),
    ),
    max_leaves=4,
)
WRITERS = st.one_of(
    st.builds(
        PyArrow,
        st.fixed_dictionaries(
            {
                "data_page_version": st.sampled_from(["1.0", "2.0"]),
                "use_dictionary": st.booleans(),
                "dictionary_pagesize_limit": st.sampled_from([64, 1 << 20]),
                "data_page_size": st.sampled_from([64, 1024, 1 << 20]),
                "row_group_size": st.sampled_from([50, 700, 1 << 20]),
                "compression": st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4"]),
                "write_page_index": st.booleans(),
                "store_decimal_as_integer": st.booleans(),
                "use_deprecated_int96_timestamps": st.booleans(),
                "write_statistics": st.sampled_from([True, True, False]),
            }
        ),
        st.sampled_from(
            [
                (),
                (),
                ("PLAIN",),
                ("DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY"),
                ("BYTE_STREAM_SPLIT",),
            ]
        ),
        st.sampled_from([(), ("required",), ("item_name", "bare"), ("millis",), ("extra",)]),
    ),
    st.builds(
        DuckDB,
        st.fixed_dictionaries(
            {
                "PARQUET_VERSION": st.sampled_from(["V1", "V1", "V1", "V2"]),
                "COMPRESSION": st.sampled_from(["uncompressed", "snappy", "zstd", "lz4_raw"]),
                "ROW_GROUP_SIZE": st.sampled_from(["100", "122880"]),
            }
        ),
    ),
    st.builds(
        Spark,
        st.fixed_dictionaries(
            {
                "parquet.writer.version": st.sampled_from(["v1", "v2"]),
                "parquet.enable.dictionary": st.sampled_from(["true", "false"]),
                "parquet.page.size": st.sampled_from(["128", "1048576"]),
                "parquet.block.size": st.sampled_from(["8192", "134217728"]),
                "compression": st.sampled_from(["none", "snappy", "zstd", "gzip", "lz4_raw"]),
            }
        ),
        st.fixed_dictionaries(
            {
                "spark.sql.parquet.outputTimestampType": st.sampled_from(
                    ["INT96", "TIMESTAMP_MICROS"]
                )
            }
        ),
    ),
)
OUTPUT_CONF = st.sampled_from(
    [
        {},
        {"parquet.page.row.count.limit": "37"},
        {"parquet.page.size": "256", "parquet.dictionary.page.size": "512"},
        {"parquet.block.size": "16384", "parquet.page.size": "512"},
        {"parquet.writer.version": "v2", "spark.sql.parquet.compression.codec": "zstd"},
        {"parquet.enable.dictionary": "false"},
        {"parquet.enable.dictionary": "false", "parquet.page.row.count.limit": "400"},
        {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"},
    ]
)
PARTITIONS = st.sampled_from(
    [
        (None, [None]),
        (None, [None]),
        (t.StringType(), ["a b/c=%", None]),
        (t.DateType(), ["2024-02-29"]),
        (t.IntegerType(), ["-1", "7"]),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the schema of a table, how its files are made, and how OPTIMIZE is to write."""
    schema = t.StructType([t.StructField(name, draw(TYPES)) for name in draw(NAMES)])
    kind, values = draw(PARTITIONS)
    rows = st.sampled_from([0, 1, 40, 300, 300, 1500])
    files = st.builds(
        ForeignFile,
        writer=WRITERS,
        rows=rows,
        seed=st.integers(0, 2**20),
        stats=st.sampled_from(["none", "count", "some", "full"]),
        absent=st.sets(st.sampled_from(schema.names), max_size=2).map(sorted).map(tuple),
        lacks_nested=st.booleans(),
        shuffled=st.booleans(),
        partition=st.sampled_from(values),
    )
    return {
        "schema": schema,
        "files": draw(st.lists(files, min_size=2, max_size=5)),
        "partitioned_by": kind and t.StructField("part", kind),
        "conf": draw(OUTPUT_CONF),
    }


@seed(SEED)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink][: None if SHRINK else 2],
    suppress_health_check=list(HealthCheck),
)
@given(drawn=tables())
def test_any_table(spark: SparkSession, root: Path, drawn: dict[str, Any]):
    note(f"SPLICE_SEED={SEED} SPLICE_EXAMPLES={EXAMPLES} draws it again")
    conf = drawn.pop("conf")
    if any(file.writer.needs_row_reader for file in drawn["files"]):
        conf = {**conf, **ROW_READER}
    table = forge(spark, root, **drawn)
    try:
        optimize_and_check(table, conf)
    except CannotRead:
        reject()


def test_files_that_begin_with_an_empty_page(spark: SparkSession, root: Path):
    """pyarrow writes them of one row, and loses the row when it reads them."""
    schema = t.StructType([t.StructField("flags", t.ArrayType(t.BooleanType()))])
    writer = PyArrow({"data_page_version": "2.0", "data_page_size": 64, "use_dictionary": False})
    files = [ForeignFile(writer, rows=1, seed=seed) for seed in range(3)]
    table = forge(spark, root, schema, files)
    readers = readable(strangers_of(table, schema), None, Counter(), [])
    assert readers.keys() & {"pyarrow", "duckdb"} == {"duckdb"}
    (merged,) = optimize_and_check(table).files
    assert by_pyarrow(merged).num_rows == 3


def test_uncompressed_pages_of_a_compressed_chunk_are_not_copied(spark: SparkSession, root: Path):
    """Spark misreads them in DELTA_BYTE_ARRAY where its vectored reads return slices."""
    schema = t.StructType([t.StructField("text", t.StringType())])
    options = {"data_page_version": "2.0", "compression": "gzip", "data_page_size": 64}
    writer = PyArrow(options, encodings=("DELTA_BYTE_ARRAY",))
    files = [
        ForeignFile(writer, seed=seed, styles={"text": Style("many", 0.0, 0.0, 0.0)})
        for seed in (1, 2)
    ]
    table = forge(spark, root, schema, files)
    assert optimize_and_check(table, WHOLE_ROW_GROUPS).tiers == {"transcode": 1}


def test_wide_deltas_of_duckdb_are_not_copied(spark: SparkSession, root: Path):
    """Arrow C++ does not read those of more than 32 bits, which others write as the overflow."""
    schema = t.StructType([t.StructField("n", t.IntegerType())])
    writer = DuckDB({"PARQUET_VERSION": "V2"})
    styles = {"n": Style("many", 0.0, 0.0, 0.0)}
    files = [ForeignFile(writer, seed=seed, styles=styles) for seed in (1, 2)]
    table = forge(spark, root, schema, files)
    assert "pyarrow" not in readable(strangers_of(table, schema), None, Counter(), [])
    (merged,) = optimize_and_check(table, WHOLE_ROW_GROUPS).files
    assert by_pyarrow(merged).num_rows == 2 * files[0].rows


def test_partition_column_in_some_of_the_files(spark: SparkSession, root: Path):
    """Delta 4.4 stores it in the files too, older versions and others do not."""
    files = [ForeignFile(PyArrow(), seed=seed, styles=MANY, partition="7") for seed in range(2)]
    part = t.StructField("part", t.IntegerType())
    table = forge(spark, root, NUMBERS, files, part)
    spark.sql(f"INSERT INTO {table.sql_name} VALUES (1, 7), (NULL, 7)")
    assert optimize_and_check(table).row.metrics.numFilesRemoved > 2


def test_column_mapping_by_name(spark: SparkSession, root: Path):
    path = root / "mapped"
    name = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, old STRING, s STRUCT<x: INT, y: STRING>, gone INT) "
        "USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    struct = "named_struct('x', {0}, 'y', 'y{0}')"
    spark.sql(f"INSERT INTO {name} VALUES (1, 'one', {struct.format(1)}, 10)")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN old TO `new name`")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN gone")
    spark.sql(f"INSERT INTO {name} VALUES (2, 'two', {struct.format(2)})")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (gone STRING, s.z DOUBLE)")
    spark.sql(
        f"INSERT INTO {name} VALUES (3, NULL, named_struct('x', 3, 'y', 'y3', 'z', 0.5), 'back')"
    )
    outcome = optimize_and_check(ForeignTable(spark, path))
    assert outcome.row.metrics.numFilesRemoved == 3


def test_column_mapping_by_id(spark: SparkSession, root: Path):
    path = root / "mapped_by_id"
    name = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, old STRING, gone INT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'id')"
    )
    spark.sql(f"INSERT INTO {name} VALUES (1, 'one', 10)")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN old TO text")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN gone")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (gone STRING)")
    spark.sql(f"INSERT INTO {name} VALUES (2, 'two', 'back')")
    before = sorted(spark.table(name).collect())
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert [(b.tier, b.inputFiles) for b in row.bins] == [("splice", 2)]
    assert sorted(spark.table(name).collect()) == before == [(1, "one", None), (2, "two", "back")]


@pytest.mark.parametrize(
    "writer", [PyArrow({"use_dictionary": False}), Spark({"parquet.enable.dictionary": "false"})]
)
def test_large_plain_pages_are_kept_as_they_are(
    spark: SparkSession, root: Path, writer: PyArrow | Spark
):
    files = [ForeignFile(writer, seed=seed, styles=MANY) for seed in range(3)]
    layout = {"parquet.enable.dictionary": "false", "parquet.page.row.count.limit": "500"}
    (file,) = optimize_and_check(forge(spark, root, NUMBERS, files), layout).files
    ((index,),) = read_page_index(file)
    assert index.first_rows == [0, 300, 600]


NUMBERS = t.StructType([t.StructField("n", t.LongType())])
MANY = {"n": Style("many", 0.1, 0.0, 0.0)}


def test_small_files_become_several_of_the_size_asked(spark: SparkSession, root: Path):
    files = [ForeignFile(PyArrow(), rows=400, seed=seed, styles=MANY) for seed in range(6)]
    table = forge(spark, root, NUMBERS, files)
    size = max(add["size"] for add in table.adds().values())
    options = f"OPTIONS (targetFileSize = {2 * size + 1})"
    assert len(optimize_and_check(table, options=options).files) > 1


def test_bloom_filter_that_was_asked_for_is_there_and_excludes_nothing(
    spark: SparkSession, root: Path
):
    # parquet-java writes none for a chunk that is all dictionary.
    asked = {"parquet.bloom.filter.enabled#n": "true", "parquet.enable.dictionary": "false"}
    files = [ForeignFile(Spark(asked), seed=seed, styles=MANY) for seed in range(2)]
    (file,) = optimize_and_check(forge(spark, root, NUMBERS, files), asked).files
    assert bloom_filters(file) == {"n"}
    assert_no_value_excluded(file, "n")


BROTLI = [ForeignFile(PyArrow({"compression": "brotli"}), seed=seed) for seed in range(2)]


def test_codec_that_spark_lacks(spark: SparkSession, root: Path):
    table = forge(spark, root, NUMBERS, BROTLI)
    files = {file: file.stat().st_size for file in table.path.rglob("*")}
    (left,) = spark.sql(f"OPTIMIZE {table.sql_name}").first().bins
    assert left.status == "left"
    assert re.search(r"foreign-\d\.parquet.*BrotliCodec was not found", left.reason)
    assert {file: file.stat().st_size for file in table.path.rglob("*")} == files


def test_chunks_of_a_codec_that_spark_lacks_are_copied(spark: SparkSession, root: Path):
    """A copy decodes nothing; Spark cannot verify it, but others read it."""
    table = forge(spark, root, NUMBERS, BROTLI)
    old = table.adds()
    strangers = readable(strangers_of(table, NUMBERS), None, Counter(), [])
    assert strangers.keys() >= {"pyarrow", "duckdb"}
    with session_conf(spark, {**WHOLE_ROW_GROUPS, "spark.deltaUpkeep.optimize.verify": "false"}):
        row = spark.sql(f"OPTIMIZE {table.sql_name}").first()
    assert [b.tier for b in row.bins] == ["copy"]
    check_strangers("OPTIMIZE", strangers)
    ((path, add),) = table.adds().items()
    assert path not in old
    groups = pq.ParquetFile(table.file_of(add)).metadata
    codecs = [groups.row_group(g).column(0).compression for g in range(groups.num_row_groups)]
    assert codecs == ["BROTLI", "BROTLI"]

"""One case for every feature of every writer: what the files of one partition look like."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import types as t

from foreign.forged import FAR, ForeignFile
from foreign.types import LEAVES
from foreign.values import Style
from foreign.writers import DuckDB, PyArrow, Spark, Writer

POINT = t.StructType([t.StructField("x", t.IntegerType()), t.StructField("y", t.StringType())])
DEEP = t.StructType(
    [
        t.StructField("m", t.MapType(t.IntegerType(), POINT)),
        t.StructField("ll", t.ArrayType(t.ArrayType(t.ShortType()))),
        t.StructField("s", t.StructType([t.StructField("p", POINT)])),
    ]
)
SCHEMA = t.StructType(
    [
        *(t.StructField(f"{kind.typeName()}_{i}", kind) for i, kind in enumerate(LEAVES)),
        t.StructField("point", POINT),
        t.StructField("tags", t.ArrayType(t.StringType())),
        t.StructField("points", t.ArrayType(POINT)),
        t.StructField("by_name", t.MapType(t.StringType(), t.ArrayType(t.DoubleType()))),
        t.StructField("deep", DEEP),
    ]
)
NAMES = [f.name for f in SCHEMA.fields]


def every(nulls: float, spread: str) -> dict[str, Style]:
    """Give every column the same style."""
    return dict.fromkeys(NAMES, Style(spread, nulls, extreme=0.0, nan=0.0, far=FAR))


@dataclass(frozen=True)
class Case:
    """The files of one partition."""

    name: str
    files: tuple[ForeignFile, ...]

    @property
    def is_julian(self) -> bool:
        """Tell whether only Spark knows which days the files mean."""
        return "julian" in self.name

    @property
    def needs_row_reader(self) -> bool:
        return any(file.writer.needs_row_reader for file in self.files)


def case(name: str, writer: Writer, **features: object) -> Case:
    """Make two files alike, the statistics of one in the log and of the other not."""
    seed = sum(name.encode())
    first = ForeignFile(writer, rows=100, seed=seed, partition=name)
    first = replace(first, **features)  # type: ignore[arg-type]
    stats = ("none", "count", "some", "full")[seed % 4]
    return Case(name, (first, replace(first, seed=seed + 1, stats=stats)))


def _arrow(
    name: str, encodings: tuple[str, ...] = (), variants: tuple[str, ...] = (), **options: object
) -> Case:
    return case(f"pyarrow-{name}", PyArrow(options, encodings, variants))


def _duckdb(name: str, **options: str) -> Case:
    return case(f"duckdb-{name}", DuckDB(options))


def _spark(name: str, options: dict[str, str] | None = None, **conf: str) -> Case:
    prefixed = {f"spark.sql.parquet.{key}": value for key, value in conf.items()}
    # Their dates are to differ from one calendar to the other.
    styles = {"styles": every(0.1, "many")} if "julian" in name else {}
    made = case(f"spark-{name}", Spark(options or {}, prefixed), **styles)
    return Case(made.name, (made.files[0], replace(made.files[1], seed=made.files[0].seed)))


def _mixed(name: str, *writers: Writer) -> Case:
    """Make one file by each writer, all in one bin."""
    cases = [case(name, writer) for writer in writers]
    return Case(name, tuple(replace(c.files[i % 2], seed=i) for i, c in enumerate(cases)))


PLAIN = PyArrow()

PYARROW = [
    _arrow("page-v1"),
    _arrow("page-v2", data_page_version="2.0"),
    _arrow("page-v2-plain", data_page_version="2.0", use_dictionary=False, data_page_size=256),
    _arrow("plain", use_dictionary=False),
    _arrow("dictionary-of-some", variants=("mixed_dictionary",)),
    _arrow("dictionary-then-fallback", dictionary_pagesize_limit=64, data_page_size=128),
    _arrow("small-pages", data_page_size=64, write_batch_size=16),
    _arrow("small-row-groups", row_group_size=7),
    _arrow("page-index", write_page_index=True, data_page_size=64, write_batch_size=16),
    _arrow("page-checksums", write_page_checksum=True),
    _arrow("no-statistics", write_statistics=False),
    _arrow("old-version", version="1.0"),
    *(_arrow(codec, compression=codec) for codec in ("none", "snappy", "gzip", "zstd", "lz4")),
    _arrow("v2-zstd-pages", compression="zstd", data_page_version="2.0", data_page_size=64),
    _arrow("plain-encoding", ("PLAIN",)),
    _arrow("delta-binary-packed", ("DELTA_BINARY_PACKED",)),
    _arrow("delta-length-byte-array", ("DELTA_LENGTH_BYTE_ARRAY",)),
    _arrow("delta-byte-array", ("DELTA_BYTE_ARRAY",)),
    _arrow("rle-boolean", ("RLE",), data_page_version="2.0"),
    _arrow("byte-stream-split", ("BYTE_STREAM_SPLIT",)),
    _arrow("int96", use_deprecated_int96_timestamps=True),
    _arrow("integer-decimals", store_decimal_as_integer=True),
    _arrow("list-named-item", variants=("item_name",)),
    _arrow("unannotated", variants=("bare",)),
    _arrow("narrow-types", variants=("narrow",)),
    _arrow("milliseconds", variants=("millis",)),
    _arrow("upper-case-names", variants=("upper",)),
    _arrow("column-not-in-table", variants=("extra",)),
    case("pyarrow-required", PyArrow(variants=("required",)), styles=every(0.0, "many")),
    case("pyarrow-one-value", PLAIN, styles=every(0.0, "one")),
    case("pyarrow-few-values", PLAIN, styles=every(0.3, "few")),
    case("pyarrow-all-null", PLAIN, styles=every(1.0, "many")),
    case("pyarrow-sorted", PyArrow({"data_page_size": 64}), styles=every(0.1, "sorted")),
    case("pyarrow-empty", PLAIN, rows=0),
    case("pyarrow-one-row", PLAIN, rows=1),
    case("pyarrow-other-order", PLAIN, shuffled=True),
    case("pyarrow-nested-field-missing", PLAIN, lacks_nested=True),
    case("pyarrow-columns-missing", PLAIN, absent=tuple(NAMES[::2])),
]
DUCKDB = [
    _duckdb("v1", PARQUET_VERSION="V1"),
    *(_duckdb(c, COMPRESSION=c) for c in ("uncompressed", "gzip", "zstd", "lz4_raw")),
    _duckdb("row-groups", ROW_GROUP_SIZE="50"),
    _duckdb("v2", PARQUET_VERSION="V2"),
]
SPARK = [
    _spark("micros", outputTimestampType="TIMESTAMP_MICROS"),
    _spark("int96", outputTimestampType="INT96"),
    _spark("v2", {"parquet.writer.version": "v2"}, outputTimestampType="TIMESTAMP_MICROS"),
    _spark("small-pages", {"parquet.page.size": "64", "parquet.page.row.count.limit": "13"}),
    _spark("plain-zstd", {"parquet.enable.dictionary": "false", "compression": "zstd"}),
    _spark("small-row-groups", {"parquet.block.size": "4096", "compression": "lz4_raw"}),
    _spark("dictionary-then-fallback", {"parquet.dictionary.page.size": "64"}),
    _spark("legacy-lists", writeLegacyFormat="true"),
    _spark(
        "julian-dates",
        datetimeRebaseModeInWrite="LEGACY",
        int96RebaseModeInWrite="LEGACY",
        outputTimestampType="TIMESTAMP_MICROS",
    ),
    _spark("julian-int96", int96RebaseModeInWrite="LEGACY", outputTimestampType="INT96"),
    _spark("bloom", {"parquet.bloom.filter.enabled#long_4": "true"}),
]
NEWER = PyArrow({"data_page_version": "2.0", "compression": "zstd"})
MIXED = [
    _mixed("mixed-writers", PLAIN, DuckDB(), Spark(), NEWER),
    _mixed("mixed-codecs", *(PyArrow({"compression": c}) for c in ("none", "gzip", "zstd", "lz4"))),
    _mixed("mixed-timestamps", PyArrow({"use_deprecated_int96_timestamps": True}), PLAIN, Spark()),
    _mixed("mixed-units", PyArrow(variants=("millis",)), PLAIN),
    _mixed("mixed-widths", PyArrow(variants=("narrow", "bare")), PLAIN),
    _mixed("mixed-decimals", PyArrow({"store_decimal_as_integer": True}), PLAIN),
    _mixed("mixed-list-names", PyArrow(variants=("item_name",)), PLAIN),
    _mixed("mixed-dictionaries", PyArrow({"use_dictionary": False}), PLAIN, DuckDB()),
    _mixed("mixed-julian", SPARK[8].files[0].writer, PLAIN),
    Case(
        "mixed-required",
        (
            replace(PYARROW[32].files[0], partition="mixed-required"),
            ForeignFile(PLAIN, 100, seed=5, partition="mixed-required"),
        ),
    ),
    Case(
        "mixed-schemas",
        (
            ForeignFile(PLAIN, 100, 1, absent=tuple(NAMES[1::2]), partition="mixed-schemas"),
            ForeignFile(PLAIN, 100, 2, lacks_nested=True, partition="mixed-schemas"),
            ForeignFile(PLAIN, 0, 3, partition="mixed-schemas"),
            ForeignFile(PLAIN, 100, 4, shuffled=True, partition="mixed-schemas"),
        ),
    ),
]
CASES = [*PYARROW, *DUCKDB, *SPARK, *MIXED]

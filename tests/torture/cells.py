"""The cells of the matrix: every writer, with every codec, page version and encoding it has."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import ColumnProperties, WriterProperties, write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.cases import SCHEMA
from foreign.types import LEAVES
from foreign.values import Style, arrow_table
from foreign.writers import DuckDB, Polars, PyArrow, Spark, Writer, vary
from torture.avro_writer import Avro, takes
from torture.java_writer import LISTS, MAPS, Java
from torture.writers import ENCODINGS

# Beside the types of every case of the splice: leaves as elements, keys and values.
MORE = {
    "list_of_lists": t.ArrayType(t.ArrayType(t.DoubleType())),
    "map_of_maps": t.MapType(t.StringType(), t.MapType(t.IntegerType(), t.StringType())),
    "map_of_structs": t.MapType(t.StringType(), SCHEMA["point"].dataType),
    "times": t.ArrayType(t.TimestampType()),
    "amounts": t.ArrayType(t.DecimalType(38, 10)),
    "bits": t.ArrayType(t.BooleanType()),
    "day_by_number": t.MapType(t.LongType(), t.DateType()),
    "blobs": t.StructType([t.StructField("held", t.ArrayType(t.BinaryType()))]),
}
WIDE = t.StructType(
    [
        t.StructField("id", t.LongType()),
        *SCHEMA.fields,
        *(t.StructField(name, kind) for name, kind in MORE.items()),
    ]
)
# Of columns with as many rows as make pages of more than 256 KiB.
LONG = t.StructType(
    [
        t.StructField("id", t.LongType()),
        t.StructField("n", t.LongType()),
        t.StructField("x", t.DoubleType()),
        t.StructField("amount", t.DecimalType(38, 10)),
        t.StructField("text", t.StringType()),
        t.StructField("numbers", t.ArrayType(t.LongType())),
    ]
)
LONG_ROWS = 18_000  # of each file
LARGE_PAGES = {"parquet.page.size": str(8 << 20), "parquet.page.row.count.limit": "1000000"}
HUGE = 300_000  # bytes of a value
# Spark's `lz4` is Hadoop's; that of pyarrow and polars is Spark's `lz4_raw`.
RAW = {"lz4": "lz4_raw", "uncompressed": "none"}


@dataclass(frozen=True)
class DeltaRs:
    """The files that delta-rs writes."""

    codec: str
    encoding: str | None

    needs_row_reader = False

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        column = ColumnProperties(
            dictionary_enabled=self.encoding is None,
            encoding=self.encoding,  # type: ignore[arg-type]
        )
        properties = WriterProperties(
            compression=self.codec,  # type: ignore[arg-type]
            default_column_properties=column,
            data_page_row_count_limit=50,
            write_batch_size=10,
        )
        with tempfile.TemporaryDirectory() as scratch:
            write_deltalake(scratch, rows, writer_properties=properties)
            (part,) = Path(scratch).glob("*.parquet")
            shutil.move(part, path)


@dataclass(frozen=True)
class Given:
    """Writes rows that were drawn before."""

    writer: Writer
    rows: pa.Table

    @property
    def needs_row_reader(self) -> bool:
        return self.writer.needs_row_reader

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        self.writer.write(spark, self.rows, schema, path)


@dataclass(frozen=True)
class Cell:
    """A table whose files are alike, and how OPTIMIZE is to write."""

    name: str
    writer: Writer
    codec: str  # as Spark names it
    version: str
    dictionary: bool
    times: str = "micros"
    schema: t.StructType = WIDE

    @property
    def is_long(self) -> bool:
        return self.schema is LONG

    @property
    def is_brotli(self) -> bool:
        return self.codec == "brotli"

    def conf(self, rng: random.Random) -> dict[str, str]:
        """Have OPTIMIZE write as the files are written, with more pages or fewer."""
        layout = {
            "parquet.page.row.count.limit": rng.choice(["11", "50", "20000"]),
            "parquet.page.size": rng.choice(["512", "1048576"]),
        }
        kind = "INT96" if self.times == "int96" else "TIMESTAMP_MICROS"
        return {
            "spark.sql.parquet.outputTimestampType": kind,
            "spark.sql.parquet.compression.codec": "snappy" if self.is_brotli else self.codec,
            "parquet.writer.version": self.version,
            "parquet.enable.dictionary": str(self.dictionary).lower(),
            **(LARGE_PAGES if self.is_long else layout),
        }

    def rows(
        self, count: int, first_id: int, rng: random.Random, huge: bool = False, ages: bool = False
    ) -> pa.Table:
        """Draw rows with ids, which this writer can hold without a loss; of all `ages` if asked."""
        styles = {f.name: Style.draw(rng, extreme=ages) for f in self.schema.fields}
        styles = {
            name: replace(style, spread="many") if style.spread == "huge" else style
            for name, style in styles.items()
        }
        if self.is_long:
            styles = dict.fromkeys(styles, Style("many", 0.02, 0.0, 0.01))
        rows = arrow_table(self.schema, styles, count, rng)
        if huge:
            blobs = [rng.randbytes(HUGE) for _ in range(count)]
            texts = [rng.choice("aé語") * (HUGE // 2) + str(n) for n in range(count)]
            rows = _with(rows, "binary_11", pa.array(blobs))
            rows = _with(rows, "string_10", pa.array(texts))
        rows = _with(rows, "id", pa.array(range(first_id, first_id + count), pa.int64()))
        if self.times == "millis":
            kinds = [(f.name, vary(f.type, ("millis",))) for f in rows.schema]
            rows = rows.cast(pa.schema(kinds), safe=False).cast(rows.schema)
        return rows


def _with(rows: pa.Table, name: str, column: pa.Array) -> pa.Table:
    at = rows.schema.get_field_index(name)
    return rows.set_column(at, rows.schema.field(at), column) if at >= 0 else rows


def _pyarrow() -> Iterator[Cell]:
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
    cases = product(codecs, ("v1", "v2"), ((), *ENCODINGS))
    for n, (codec, version, encodings) in enumerate(cases):
        times = ("micros", "millis", "micros", "int96")[n % 4]
        options: dict[str, Any] = {
            "compression": codec,
            "data_page_version": f"{version[1]}.0",
            "store_decimal_as_integer": n % 2 == 0,
            "use_deprecated_int96_timestamps": times == "int96",
            "data_page_size": (256, 1 << 20)[n // 2 % 2],
            "write_batch_size": 16,
            "write_page_index": n % 3 > 0,
        }
        variants = ("millis",) if times == "millis" else ()
        writer = PyArrow(options, encodings, variants)
        form = "+".join(encodings) or "dictionary"
        name = f"pyarrow-{codec}-{version}-{form}"
        yield Cell(name, writer, RAW.get(codec, codec), version, not encodings, times)


def _spark() -> Iterator[Cell]:
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw")
    for n, (codec, version, dictionary) in enumerate(product(codecs, ("v1", "v2"), (True, False))):
        times = ("micros", "int96", "millis")[n % 3]
        kind = "INT96" if times == "int96" else f"TIMESTAMP_{times.upper()}"
        options = {
            "compression": codec,
            "parquet.writer.version": version,
            "parquet.enable.dictionary": str(dictionary).lower(),
            "parquet.page.row.count.limit": ("20", "20000")[n % 2],
        }
        conf = {
            "spark.sql.parquet.outputTimestampType": kind,
            "spark.sql.parquet.writeLegacyFormat": ("false", "true")[n // 2 % 2],
        }
        form = "dictionary" if dictionary else "plain"
        name = f"spark-{codec}-{version}-{form}"
        yield Cell(name, Spark(options, conf), codec, version, dictionary, times)


def _java() -> Iterator[Cell]:
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw")
    maps = [form for form in MAPS if form[0] == "MAP"]  # which DuckDB reads
    for n, (codec, version, dictionary) in enumerate(product(codecs, ("v1", "v2"), (True, False))):
        times = ("micros", "millis", "int96")[n % 3]
        decimals = ("binary", "number", "fixed", "long")[n % 4]
        kind = "UNCOMPRESSED" if codec == "none" else codec.upper()
        lists = LISTS[0] if n % 2 else LISTS[n // 2 % 4]  # that have a place for nulls
        writer = Java(
            lists, maps[n % 3], times.upper(), decimals, n % 5 == 0,
            kind, version, dictionary, (64, 1 << 20)[n // 4 % 2], (1000, 1 << 27)[n // 3 % 2],
        )  # fmt: skip
        form = "dictionary" if dictionary else "plain"
        name = f"java-{codec}-{version}-{form}-{decimals}"
        yield Cell(name, writer, codec, version, dictionary, times)


def _duckdb() -> Iterator[Cell]:
    codecs = ("uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli")
    for codec, version in product(codecs, ("v1", "v2")):
        options = {"COMPRESSION": codec, "PARQUET_VERSION": version.upper()}
        yield Cell(
            f"duckdb-{codec}-{version}", DuckDB(options), RAW.get(codec, codec), version, True
        )


def _polars() -> Iterator[Cell]:
    schema = _without("map", WIDE)
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"):
        writer = Polars({"compression": codec, "data_page_size": 256})
        yield Cell(f"polars-{codec}", writer, RAW.get(codec, codec), "v1", True, schema=schema)


def _delta_rs() -> Iterator[Cell]:
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw", "brotli")
    for codec, encoding in product(codecs, (None, "PLAIN")):
        form = "plain" if encoding else "dictionary"
        writer = DeltaRs("UNCOMPRESSED" if codec == "none" else codec.upper(), encoding)
        yield Cell(f"delta-rs-{codec}-{form}", writer, codec, "v1", not encoding)


def _avro() -> Iterator[Cell]:
    kept = [f for f in WIDE.fields if takes(t.StructType([f]))]
    for two_levels in (False, True):
        # Which have no place for nulls in lists.
        schema = t.StructType(kept) if not two_levels else _without("array", t.StructType(kept))
        writer = Avro(two_levels, True, 1 << 27, "SNAPPY", 1 << 20)
        levels = "two" if two_levels else "three"
        yield Cell(f"avro-{levels}-levels", writer, "snappy", "v1", True, schema=schema)


def _without(kind: str, schema: t.StructType) -> t.StructType:
    return t.StructType([f for f in schema.fields if f'"{kind}"' not in f.dataType.json()])


def _long() -> Iterator[Cell]:
    """Have OPTIMIZE write pages of more than 256 KiB, which Hadoop's codecs cut.

    The inputs have another codec, since readers that cannot read them would be left out.
    """
    codecs = ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw")
    for codec, version, dictionary in product(codecs, ("v1", "v2"), (True, False)):
        options = {
            "compression": "none",
            "parquet.writer.version": version,
            "parquet.enable.dictionary": str(dictionary).lower(),
            **LARGE_PAGES,
        }
        micros = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
        form = "dictionary" if dictionary else "plain"
        name = f"long-{codec}-{version}-{form}"
        writer = Spark(options, micros)
        yield Cell(name, writer, codec, version, dictionary, schema=LONG)


CELLS = [
    cell
    for make in (_pyarrow, _spark, _java, _duckdb, _polars, _delta_rs, _avro, _long)
    for cell in make()
]
assert len({cell.name for cell in CELLS}) == len(CELLS)
assert {f.dataType for f in WIDE.fields} >= set(LEAVES)

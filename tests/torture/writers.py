"""Draws who writes a file, and how."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import types as t

from foreign.writers import DuckDB, Polars, PyArrow, Spark, Writer
from torture.avro_writer import Avro, takes
from torture.java_writer import Java

PLAIN = PyArrow({"store_schema": False})
# In bytes; Hadoop's LZ4 codec takes 256 KB at a time. Spark has no codec for brotli.
PAGE_SIZES = (1024, 300_000, 1 << 20, 4 << 20)
ENCODINGS = (
    ("PLAIN",),
    ("DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY"),
    ("DELTA_LENGTH_BYTE_ARRAY", "RLE"),
    ("BYTE_STREAM_SPLIT",),
)
VARIANTS = (("required",), ("item_name", "bare"), ("millis",), ("extra",), ("upper",), ("narrow",))


def draw_writer(rng: random.Random, schema: t.StructType, raw: bool) -> Writer:
    """Draw a writer that can hold the schema, and texts that are `raw` bytes."""
    text = schema.json()
    drawers: list[Callable[[random.Random], Writer]]
    drawers = [_pyarrow, _pyarrow, _spark, Java.draw, Java.draw]
    if takes(schema):
        drawers += [Avro.draw, Avro.draw]
    if not raw:
        drawers.append(_duckdb)
    if '"map"' not in text and not raw:
        drawers.append(_polars)
    return rng.choice(drawers)(rng)


def draw_mixed(rng: random.Random, schema: t.StructType, raw: bool) -> Writer:
    """Draw a writer for one file of a table whose files store times and decimals in many types."""
    drawers: list[Callable[[random.Random], Writer]] = [_java_mixed] * 4 + [_pyarrow_mixed] * 2
    drawers += [_spark, *([Avro.draw] if takes(schema) else [])]
    return rng.choice(drawers)(rng)


def _java_mixed(rng: random.Random) -> Writer:
    decimals = rng.choice(["number", "number", "long", "fixed", "binary"])
    return replace(Java.draw(rng), decimals=decimals, lists=("list", "element"))


def _pyarrow_mixed(rng: random.Random) -> Writer:
    options = {
        "use_deprecated_int96_timestamps": rng.random() < 0.4,
        "store_decimal_as_integer": rng.random() < 0.5,
        "compression": rng.choice(["none", "snappy", "zstd"]),
        "row_group_size": rng.choice([13, 200, 1 << 20]),
        "use_dictionary": rng.random() < 0.7,
    }
    return PyArrow(options, variants=rng.choice([(), (), ("millis",)]))


def _pyarrow(rng: random.Random) -> Writer:
    options = {
        "version": rng.choice(["1.0", "2.4", "2.6"]),
        "data_page_version": rng.choice(["1.0", "1.0", "2.0"]),
        "use_dictionary": rng.random() < 0.7,
        "dictionary_pagesize_limit": rng.choice([64, 1 << 20, 1 << 20]),
        "data_page_size": rng.choice([64, 1024, *PAGE_SIZES]),
        "write_batch_size": rng.choice([7, 1024]),
        "row_group_size": rng.choice([3, 13, 200, 1 << 20, 1 << 20]),
        "compression": rng.choice(["none", "snappy", "gzip", "zstd", "lz4"]),
        "write_page_index": rng.random() < 0.5,
        "write_page_checksum": rng.random() < 0.5,
        "write_statistics": rng.random() < 0.8,
        "store_decimal_as_integer": rng.random() < 0.2,
        "store_schema": rng.random() < 0.5,
        "use_compliant_nested_type": rng.random() < 0.7,
        "use_deprecated_int96_timestamps": rng.random() < 0.1,
    }
    encodings = rng.choice(ENCODINGS) if rng.random() < 0.25 else ()
    variants = rng.choice(VARIANTS) if rng.random() < 0.4 else ()
    return PyArrow(options, encodings, variants)


def _duckdb(rng: random.Random) -> Writer:
    codecs = ["uncompressed", "snappy", "zstd", "lz4_raw", "gzip"]
    return DuckDB(
        {
            "PARQUET_VERSION": rng.choice(["V1", "V1", "V2"]),
            "COMPRESSION": rng.choice(codecs),
            "ROW_GROUP_SIZE": rng.choice(["10", "100", "122880"]),
        }
    )


def _polars(rng: random.Random) -> Writer:
    some = {name: rng.random() < 0.7 for name in ("min", "max", "null_count", "distinct_count")}
    return Polars(
        {
            "compression": rng.choice(["uncompressed", "snappy", "zstd", "lz4", "gzip"]),
            "statistics": rng.choice([True, True, False, "full", some]),
            "row_group_size": rng.choice([None, None, 7, 100]),
            "data_page_size": rng.choice([None, 100, *PAGE_SIZES]),
        }
    )


def _spark(rng: random.Random) -> Writer:
    options = {
        "parquet.writer.version": rng.choice(["v1", "v1", "v2"]),
        "parquet.enable.dictionary": rng.choice(["true", "true", "false"]),
        "parquet.dictionary.page.size": rng.choice(["64", "1048576"]),
        "parquet.page.size": str(rng.choice([64, 64, *PAGE_SIZES])),
        "parquet.page.row.count.limit": rng.choice(["7", "20000"]),
        "parquet.block.size": rng.choice(["1", "4096", "134217728"]),
        "parquet.page.size.row.check.min": "1",
        "parquet.page.write-checksum.enabled": rng.choice(["true", "false"]),
        "parquet.block.size.row.check.min": rng.choice(["1", "100"]),
        "compression": rng.choice(["none", "snappy", "zstd", "gzip", "lz4_raw", "lz4"]),
    }
    conf = {
        "spark.sql.parquet.writeLegacyFormat": rng.choice(["true", "false", "false"]),
        "spark.sql.parquet.outputTimestampType": rng.choice(["INT96", "TIMESTAMP_MICROS"]),
    }
    return Spark(options, conf)

"""Tables that are small as files and large as rows: too large to compare outside of Spark."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as fn

from foreign.checks import Broken
from torture.statements import short


def try_large(spark: SparkSession, folder: Path, rng: random.Random, notes: list[str]) -> None:
    """Compact a table whose values are read as gigabytes, and compare a hash of its rows."""
    path = str(folder / "table")
    rows = rng.choice([_one_value_many_times, _one_beside_many, _lists_of_nulls])(rng, notes)
    options = {
        "use_dictionary": rng.random() < 0.8,
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "compression": "zstd",
        "row_group_size": rng.choice([500, 1 << 20]),
    }
    files = rng.choice([2, 6])
    notes.append(f"{files} files of large values by pyarrow with {options}")
    source = folder / "source"
    source.mkdir()
    for n in range(files):
        pq.write_table(rows, source / f"{n}.parquet", **options)
    spark.sql(f"CONVERT TO DELTA parquet.`{source}`")
    source.rename(path)
    before = digest(spark.read.format("delta").load(path))
    try:
        (done,) = spark.sql(f"OPTIMIZE delta.`{path}`").collect()
    except Exception as e:
        raise Broken(f"OPTIMIZE of large values fails: {short(e)}") from e
    notes.append(f"OPTIMIZE with {[(b.tier, b.reason) for b in done.bins]}")
    after = digest(spark.read.format("delta").load(path))
    if before != after:
        raise Broken(f"OPTIMIZE of large values changes them: {before} became {after}")


def digest(frame: DataFrame) -> Row:
    """Sum a hash of each row; the order does not matter."""
    hashes = fn.xxhash64(*frame.columns).cast("decimal(38,0)")
    (row,) = frame.agg(fn.count(fn.lit(1)), fn.sum(hashes)).collect()
    return row


def _one_value_many_times(rng: random.Random, notes: list[str]) -> pa.Table:
    size, count = rng.choice([(200_000, 5000), (20_000, 50_000), (2_000_000, 300)])
    notes.append(f"a text of {size} bytes {count} times in each file")
    values = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), ["x" * size])
    return pa.table({"text": values, "n": range(count)})


def _one_beside_many(rng: random.Random, notes: list[str]) -> pa.Table:
    size, count = rng.choice([1_000_000, 8_000_000]), 50_000
    notes.append(f"a text of {size} bytes beside {count} small ones")
    at = rng.randrange(count)
    return pa.table({"text": ["y" * size if i == at else str(i) for i in range(count)]})


def _lists_of_nulls(rng: random.Random, notes: list[str]) -> pa.Table:
    length, count = rng.choice([(1_000_000, 10), (20_000, 500)])
    notes.append(f"{count} lists of {length} nulls")
    offsets = pa.array(range(0, length * count + 1, length), pa.int32())
    nulls = pa.nulls(length * count, pa.int32())
    return pa.table({"list": pa.ListArray.from_arrays(offsets, nulls)})

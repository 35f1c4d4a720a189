"""The tables to compact. Each is the same on every machine: rows follow from ids and a fixed seed.

A new case is a function that writes a table and an entry of `CASES`.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from bench.paths import TABLES

SEED = 42
LINEITEM_FILES = 200
LINEITEM_KEYS = 6_000_000
TINY_FILES, TINY_ROWS = 2_000, 1_000
DAYS, FILES_PER_DAY, DAY_ROWS = 365, 8, 2_000
WIDE_COLUMNS, WIDE_FILES, WIDE_ROWS = 500, 50, 2_000
STRING_FILES, STRING_ROWS = 40, 50_000
NESTED_FILES, NESTED_ROWS = 100, 10_000
LARGE_FILES, LARGE_ROWS = 6, 1_400_000
# Deletion vectors come when rows are hidden, and the change feed after the first rows.
EVERYTHING = {
    "delta.checkpointPolicy": "v2",
    "delta.columnMapping.mode": "name",
    "delta.enableRowTracking": "true",
    "delta.enableTypeWidening": "true",
}


@dataclass(frozen=True)
class Case:
    """A table to compact.

    Attributes:
        name: Its name in `BENCH_CASES` and in the results.
        what: One line for the reader of the results.
        write: Writes it with a session, at a path, for a scale factor.
        narrow: The condition, for a scale factor, that keeps about a thousandth of the rows.
    """

    name: str
    what: str
    write: Callable[[SparkSession, Path, float], None]
    narrow: Callable[[float], str]

    def table(self, scale: float) -> Path:
        """Where the table is kept between runs."""
        return TABLES / f"{self.name}-sf{scale:g}"


def scaled(count: int, scale: float, least: int = 2) -> int:
    """Scale a count: 200 at 0.1 is 20, and never fewer than `least`."""
    return max(least, round(count * scale))


def write_small(spark: SparkSession, path: Path, scale: float) -> None:
    """Write lineitem in files of about 1 MB."""
    save(lineitem(spark, scale, scaled(LINEITEM_FILES, scale)), path)


def write_dv_all(spark: SparkSession, path: Path, scale: float) -> None:
    """Write `small`, and hide a hundredth of the rows of every file."""
    write_small(spark, path, scale)
    hide(spark, path, "true")


def write_dv_some(spark: SparkSession, path: Path, scale: float) -> None:
    """Write `small`, and hide a hundredth of the rows of every tenth file."""
    write_small(spark, path, scale)
    keys_of_file = LINEITEM_KEYS * scale / scaled(LINEITEM_FILES, scale)
    hide(spark, path, f"pmod(floor(l_orderkey / {keys_of_file:.0f}), 10) = 3")


def write_rowtrack(spark: SparkSession, path: Path, scale: float) -> None:
    """Write `small` with row ids: of files that were never rewritten, each has a first one."""
    rows = lineitem(spark, scale, scaled(LINEITEM_FILES, scale))
    save(rows, path, properties={"delta.enableRowTracking": "true"})


def write_everything(spark: SparkSession, path: Path, scale: float) -> None:
    """Write `small` with all features at once; the second half after a type was widened."""
    rows = lineitem(spark, scale, scaled(LINEITEM_FILES, scale))
    is_early = f.col("l_orderkey") <= int(LINEITEM_KEYS * scale / 2)
    save(rows.where(is_early), path, properties=EVERYTHING)
    name = f"delta.`{path}`"
    # Delta refuses a first commit with rows, column mapping and a change feed.
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN l_linenumber TYPE BIGINT")
    late = rows.where(~is_early).withColumn("l_linenumber", f.col("l_linenumber").cast("long"))
    late.write.format("delta").mode("append").save(str(path))
    hide(spark, path, "true")


def hide(spark: SparkSession, path: Path, where: str) -> None:
    """Delete a hundredth of some rows by deletion vectors."""
    name = f"delta.`{path}`"
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(
        f"DELETE FROM {name} WHERE {where} AND pmod(xxhash64(l_orderkey, l_linenumber), 100) = 0"
    )


def write_tiny(spark: SparkSession, path: Path, scale: float) -> None:
    """Write the start of lineitem in files of a thousand rows."""
    files = scaled(TINY_FILES, scale)
    save(lineitem(spark, scale, files, rows=files * TINY_ROWS), path)


def write_partitioned(spark: SparkSession, path: Path, scale: float) -> None:
    """Write a partition for each day, of several files each."""
    days = scaled(DAYS, scale)
    rows_per_day = FILES_PER_DAY * DAY_ROWS
    rows = numbered(spark, days * FILES_PER_DAY, DAY_ROWS).select(
        "id",
        f.date_add(f.lit("2025-01-01").cast("date"), (f.col("id") / rows_per_day).cast("int"))
        .cast("string")
        .alias("day"),
        remainder("customer", 100_000).alias("customer"),
        f.concat(f.lit("product-"), remainder("product", 500)).alias("product"),
        (remainder("price", 1_000_000) / 100).cast("decimal(12,2)").alias("price"),
        f.timestamp_seconds(1_735_689_600 + f.col("id")).alias("at"),
        chance("note", 0.1, f.sha1(f.col("id").cast("string"))).alias("note"),
    )
    save(rows, path, partition_by=["day"])


def write_wide(spark: SparkSession, path: Path, scale: float) -> None:
    """Write many columns of every simple type, every other one with nulls."""
    columns = [wide_column(i).alias(f"c{i:03}") for i in range(WIDE_COLUMNS - 1)]
    save(numbered(spark, scaled(WIDE_FILES, scale), WIDE_ROWS).select("id", *columns), path)


def wide_column(i: int) -> Column:
    """Make the column of a number: its type goes by the number."""
    name = f"c{i}"
    kinds: Sequence[Callable[[], Column]] = (
        lambda: remainder(name, 1_000).cast("int"),
        lambda: random_long(name),
        lambda: remainder(name, 1_000_000) / f.lit(7.0),
        lambda: f.concat(f.lit("value-"), remainder(name, 200)),
        lambda: remainder(name, 2) == 0,
        lambda: (remainder(name, 1_000_000) / 100).cast("decimal(12,2)"),
        lambda: f.date_add(f.lit("2020-01-01").cast("date"), remainder(name, 2_000).cast("int")),
    )
    value = kinds[i % len(kinds)]()
    return value if i % 2 else chance(name, 0.8, value)


def write_strings(spark: SparkSession, path: Path, scale: float) -> None:
    """Write strings that hardly ever repeat."""
    text = f.md5(f.concat(f.lit(f"{SEED}-"), f.col("id").cast("string")))
    uuid = f.concat_ws("-", *(text.substr(at, n) for at, n in _UUID_PARTS))
    rows = numbered(spark, scaled(STRING_FILES, scale), STRING_ROWS).select(
        "id",
        uuid.alias("uuid"),
        f.sha2(f.concat(text, f.lit("sha")), 256).alias("sha"),
        f.concat(f.lit("https://example.org/item/"), f.hex(random_long("url"))).alias("url"),
    )
    save(rows, path)


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


def write_nested(spark: SparkSession, path: Path, scale: float) -> None:
    """Write structs, arrays and maps, each with nulls and empty ones."""
    items = f.transform(
        f.sequence(f.lit(1), (remainder("items", 4) + 1).cast("int")),
        lambda i: f.struct(
            i.alias("line"),
            f.xxhash64(f.col("id"), i).alias("sku"),
            f.when(f.col("id") % 3 != 0, f.concat(f.lit("size-"), i)).alias("size"),
        ),
    )
    tags = f.map_from_arrays(
        f.array(f.lit("colour"), f.lit("source"), f.lit("trace")),
        f.array(
            f.concat(f.lit("colour-"), remainder("colour", 12)),
            f.when(f.col("id") % 2 == 0, f.concat(f.lit("source-"), remainder("source", 90))),
            f.hex(random_long("trace")),
        ),
    )
    address = f.struct(
        f.concat(f.lit("town-"), remainder("town", 3_000)).alias("town"),
        chance("geo", 0.7, f.struct(number("x").alias("x"), number("y").alias("y"))).alias("geo"),
    )
    empty = f.filter(items, lambda _: f.lit(False))
    rows = numbered(spark, scaled(NESTED_FILES, scale), NESTED_ROWS).select(
        "id",
        chance("address", 0.9, address).alias("address"),
        chance("items", 0.9, f.when(f.col("id") % 10 == 0, empty).otherwise(items)).alias("items"),
        chance("tags", 0.8, tags).alias("tags"),
    )
    save(rows, path)


def write_large_groups(spark: SparkSession, path: Path, scale: float) -> None:
    """Write few files, each with row groups that are already large."""
    numbers = [number(f"n{i}").alias(f"n{i}") for i in range(10)]
    rows = numbered(spark, LARGE_FILES, scaled(LARGE_ROWS, scale)).select(
        "id", *numbers, f.concat(f.lit("tag-"), remainder("tag", 50)).alias("tag")
    )
    save(rows, path)


def lineitem(spark: SparkSession, scale: float, files: int, rows: int | None = None) -> DataFrame:
    """Read TPC-H lineitem in its own order, in partitions of equal size.

    Args:
        spark: The session.
        scale: Scale factor of TPC-H.
        files: How many partitions, each of which makes a file.
        rows: Of its start only; all of them otherwise.
    """
    source = pq.ParquetFile(generate_lineitem(scale))
    total = min(rows or source.metadata.num_rows, source.metadata.num_rows)
    parts = TABLES / f"lineitem-sf{scale:g}-in-{files}.parquet"
    number_parts(source, parts, total, math.ceil(total / files))
    # Spark 3.5 partitions by hashes alone: a key for each part, whose hash is the part.
    part = f.pmod(f.hash("id"), f.lit(files)).alias("part")
    keys = spark.range(64 * files).select("id", part).groupBy("part").agg(f.min("id").alias("key"))
    return (
        spark.read.parquet(str(parts))
        .join(f.broadcast(keys), "part")
        .repartition(files, "key")
        .sortWithinPartitions("l_orderkey", "l_linenumber")
        .drop("part", "key")
    )


def generate_lineitem(scale: float) -> Path:
    """Make TPC-H's lineitem as one Parquet file, once."""
    directory = TABLES / f"tpch-sf{scale:g}"
    if not directory.exists():
        unfinished = directory.with_suffix(".tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        tool = Path(sys.executable).with_name("tpchgen-cli")
        arguments = ["parquet", f"-s{scale:g}", "--tables=lineitem", f"--output-dir={unfinished}"]
        subprocess.run([tool, *arguments], check=True, stdout=subprocess.DEVNULL)
        unfinished.rename(directory)
    return directory / "lineitem.parquet"


def number_parts(source: pq.ParquetFile, target: Path, rows: int, rows_per_part: int) -> None:
    """Copy the first rows of a file, with the part that each belongs to as one more column."""
    schema = source.schema_arrow.append(pa.field("part", pa.int32()))
    done = 0
    with pq.ParquetWriter(target, schema) as writer:
        for batch in source.iter_batches():
            kept = batch.slice(0, rows - done)
            parts = [(done + i) // rows_per_part for i in range(kept.num_rows)]
            columns = [*kept.columns, pa.array(parts, pa.int32())]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            done += kept.num_rows
            if done == rows:
                break


def numbered(spark: SparkSession, files: int, rows_per_file: int) -> DataFrame:
    """Make ids from 0, in order, with a partition for each file."""
    return spark.range(0, files * rows_per_file, 1, files)


def random_long(name: str) -> Column:
    """Make a number that follows from the row's id and a name, and looks random."""
    return f.xxhash64(f.col("id"), f.lit(f"{SEED}-{name}"))


def remainder(name: str, count: int) -> Column:
    """Make one of `count` numbers from 0."""
    return f.pmod(random_long(name), f.lit(count))


def number(name: str) -> Column:
    """Make a floating point number that hardly ever repeats."""
    return random_long(name) / f.lit(1e9)


def chance(name: str, share: float, value: Column) -> Column:
    """Keep a value in a share of the rows, and make it null in the others."""
    return f.when(remainder(f"{name}-null", 1_000) < int(share * 1_000), value)


def save(
    rows: DataFrame,
    path: Path,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
) -> None:
    """Write a Delta table that all engines can write to, but for what its properties ask."""
    writer = rows.write.format("delta").option("delta.enableDeletionVectors", "false")
    writer.options(**(properties or {})).partitionBy(*partition_by).save(str(path))


def lineitem_keys(scale: float) -> str:
    """Choose the keys of a thousandth of the rows, from two fifths on."""
    return between("l_orderkey", LINEITEM_KEYS * scale)


def tiny_keys(scale: float) -> str:
    """Choose as `lineitem_keys`, from the rows that the case has."""
    rows = scaled(TINY_FILES, scale) * TINY_ROWS
    return between("l_orderkey", rows)


def ids(files: int, rows: int) -> Callable[[float], str]:
    """Choose a thousandth of the ids of a table whose number of files scales."""
    return lambda scale: between("id", scaled(files, scale) * rows)


def between(column: str, count: float) -> str:
    """Choose a thousandth: of 1,000,000 it is from 400,000 to 401,000."""
    return f"{column} BETWEEN {int(count * 0.4)} AND {int(count * 0.401)}"


CASES = (
    Case("small", "TPC-H lineitem, files of 1 MB", write_small, lineitem_keys),
    Case("tiny", "lineitem, files of 1,000 rows", write_tiny, tiny_keys),
    Case("dv_all", "small, 1 % of each file deleted", write_dv_all, lineitem_keys),
    Case("dv_some", "small, 1 % of every tenth file deleted", write_dv_some, lineitem_keys),
    Case("rowtrack", "small, with row ids", write_rowtrack, lineitem_keys),
    Case(
        "everything",
        "dv_all, row ids, a widened type, change feed, column mapping, v2 checkpoints",
        write_everything,
        lineitem_keys,
    ),
    Case(
        "partitioned",
        f"{FILES_PER_DAY} files in each partition",
        write_partitioned,
        lambda scale: between("id", scaled(DAYS, scale) * FILES_PER_DAY * DAY_ROWS),
    ),
    Case("wide", f"{WIDE_COLUMNS} columns", write_wide, ids(WIDE_FILES, WIDE_ROWS)),
    Case("strings", "strings that never repeat", write_strings, ids(STRING_FILES, STRING_ROWS)),
    Case("nested", "structs, arrays, maps, nulls", write_nested, ids(NESTED_FILES, NESTED_ROWS)),
    Case(
        "large_groups",
        "row groups already large",
        write_large_groups,
        lambda scale: between("id", LARGE_FILES * scaled(LARGE_ROWS, scale)),
    ),
)
CASE_OF = {case.name: case for case in CASES}

"""Tables of every origin: a log by hand, CONVERT, Delta on Spark, delta-rs."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from delta.tables import DeltaTable
from deltalake import WriterProperties, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from foreign.forged import add_of, write_log
from foreign.stats import stats_of
from foreign.table import ForeignTable
from foreign.types import STORED, arrow_type
from support.sessions import session_conf
from torture.draft import Draft, Part
from torture.partitions import column_of, hive_folder, text_of
from torture.sql_text import ddl, quoted

MAPPING = "delta.columnMapping.mode"


class DraftedTable(ForeignTable):
    """A table that was drawn: later rows and columns are drawn from its draft."""

    def __init__(self, spark: SparkSession, path: Path, draft: Draft) -> None:
        super().__init__(spark, path)
        self.draft = draft

    def has_grown_since(self, version: int) -> bool:
        """Tell whether the commits after a version made the files of any partition larger."""
        grown: Counter[str] = Counter()
        for later in range(version + 1, self.version() + 1):
            for line in (self.path / "_delta_log" / f"{later:020}.json").read_text().splitlines():
                ((kind, action),) = json.loads(line).items()
                if kind in ("add", "remove"):
                    size = action["size"] if kind == "add" else -action["size"]
                    grown[json.dumps(action["partitionValues"], sort_keys=True)] += size
        return any(size > 0 for size in grown.values())

    def allows_v2(self) -> bool:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {self.sql_name}").collect()
        return "v2Checkpoint" in detail.tableFeatures

    def is_mapped(self) -> bool:
        return bool(self.metadata()["configuration"].get(MAPPING, "none") != "none")

    def append(self, part: Part) -> None:
        """Append by Spark."""
        with_partition(self.spark, self.draft, part, self.path.parent).write.format("delta").mode(
            "append"
        ).option("mergeSchema", "true").save(str(self.path))


def with_partition(spark: SparkSession, draft: Draft, part: Part, scratch: Path) -> DataFrame:
    """Give the rows of a part to Spark, with the columns of its partition."""
    source = scratch / f"rows-{uuid.uuid4().hex}.parquet"
    pq.write_table(part.rows, source, store_schema=False)
    frame = spark.read.schema(part.schema).parquet(str(source)).coalesce(1)
    for f, value in zip(draft.partitions.fields, part.partition, strict=True):
        frame = frame.withColumn(f.name, column_of(value, f.dataType))
    return frame


def forged(spark: SparkSession, path: Path, draft: Draft) -> DraftedTable:
    """Write files and the one commit that adds them."""
    adds = [_add(spark, path, draft, n, part) for n, part in enumerate(draft.parts())]
    partitions = draft.partitions.fieldNames()
    write_log(path, draft.declared, partitions, adds, _configuration(draft.rng))
    return DraftedTable(spark, path, draft)


def _add(spark: SparkSession, path: Path, draft: Draft, n: int, part: Part) -> dict[str, Any]:
    rng = draft.rng
    values = partition_texts(draft, part)
    hive = hive_folder(list(values), list(values.values()))
    folder = rng.choice(["", hive, hive, "a b%20=#ü"])
    if max(map(len, folder.split("/"))) > 100:
        folder = ""
    target = path / folder / f"foreign-{n}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    draft.write(spark, part, target)
    absolute = rng.random() < 0.1
    how = rng.choice(["none", "none", "count", "full", "full"])
    draft.notes.append(f"{target.relative_to(path)} statistics {how} partition {values}")
    stats = None if how == "none" else stats_of(part.rows, part.schema, how)
    return add_of(path, target, values, n, stats, absolute)


def partition_texts(draft: Draft, part: Part) -> dict[str, str | None]:
    return {
        f.name: text_of(value, f.dataType, draft.rng)
        for value, f in zip(part.partition, draft.partitions.fields, strict=True)
    }


def _configuration(rng: random.Random) -> dict[str, str]:
    pool = {
        "delta.checkpoint.writeStatsAsStruct": rng.choice(["true", "false"]),
        "delta.checkpoint.writeStatsAsJson": rng.choice(["true", "false"]),
        "delta.dataSkippingNumIndexedCols": rng.choice(["-1", "0", "1", "2"]),
    }
    return {key: value for key, value in pool.items() if rng.random() < 0.3}


def converted(spark: SparkSession, path: Path, draft: Draft) -> DraftedTable:
    """Write a directory of Parquet files, and CONVERT it."""
    names = draft.partitions.fieldNames()
    for n, part in enumerate(draft.parts()):
        texts = partition_texts(draft, part)
        target = path / hive_folder(names, list(texts.values())) / f"part-{n}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write(spark, part, target)
    partitions = draft.partitions if names else None
    with session_conf(
        spark, {"spark.databricks.delta.stats.collect": draft.rng.choice(["true", "false"])}
    ):
        if draft.defaults:
            _convert_from_catalog(spark, path, draft)
        else:
            DeltaTable.convertToDelta(spark, f"parquet.`{path}`", partitions)
    return DraftedTable(spark, path, draft)


def _convert_from_catalog(spark: SparkSession, path: Path, draft: Draft) -> None:
    """Convert a Parquet table of the catalog, to which columns with defaults were added."""
    name = f"converted_{uuid.uuid4().hex}"
    columns = [f for f in draft.schema if f.name not in draft.defaults]
    declared = ", ".join(f"{quoted(f.name)} {ddl(f.dataType)}" for f in columns)
    spark.sql(f"CREATE TABLE {name} ({declared}) USING parquet LOCATION '{path}'")
    try:
        for f in draft.schema:
            if f.name in draft.defaults:
                added = f"{quoted(f.name)} {ddl(f.dataType)} DEFAULT {draft.defaults[f.name]}"
                spark.sql(f"ALTER TABLE {name} ADD COLUMN ({added})")
        spark.sql(f"CONVERT TO DELTA {name}")
    finally:
        spark.sql(f"DROP TABLE {name}")


def by_delta(spark: SparkSession, path: Path, draft: Draft) -> DraftedTable:
    """Create the table by Delta on Spark, with features; append, alter and delete."""
    rng = draft.rng
    properties = _features(draft)
    draft.notes.append(f"properties {properties}")
    table = DraftedTable(spark, path, draft)
    path.parent.mkdir(parents=True, exist_ok=True)
    for n, part in enumerate(draft.parts()):
        if n == 0:
            frame = with_partition(spark, draft, part, path.parent)
            writer = frame.write.format("delta").partitionBy(*draft.partitions.fieldNames())
            writer.options(**properties).save(str(path))
        else:
            table.append(part)
        if rng.random() < 0.2:
            change(table, properties.get(MAPPING, "none") != "none")
    return table


def _features(draft: Draft) -> dict[str, str]:
    rng = draft.rng
    found = {}
    if not draft.tame or rng.random() < 0.3:
        found[MAPPING] = rng.choice(["name", "id"])
    for key, values in {
        "delta.enableDeletionVectors": ["true"],
        "delta.enableRowTracking": ["true"],
        "delta.checkpointPolicy": ["v2", "classic"],
        "delta.enableInCommitTimestamps": ["true"],
        "delta.dataSkippingNumIndexedCols": ["0", "1"],
        "delta.checkpoint.writeStatsAsStruct": ["true", "false"],
        "delta.checkpointInterval": ["2"],
    }.items():
        if rng.random() < 0.25:
            found[key] = rng.choice(values)
    return found


def change(table: DraftedTable, is_mapped: bool) -> None:
    """Delete rows, or change the schema."""
    draft, rng = table.draft, table.draft.rng
    name = table.sql_name
    columns = draft.schema.fieldNames()
    kinds = ["delete", "add"] + (["rename", "drop"] if is_mapped and len(columns) > 1 else [])
    kind = rng.choice(kinds)
    column = quoted(rng.choice(columns))
    nested = any(
        isinstance(f.dataType, (t.MapType, t.StructType, t.ArrayType)) for f in draft.schema
    )
    some = f"{column} IS NULL" if nested else f"pmod(hash({column}), 3) = 0"
    statement = {
        "delete": f"DELETE FROM {name} WHERE {some}",
        "add": f"ALTER TABLE {name} ADD COLUMNS (added{rng.randrange(10**6)} STRING)",
        "rename": f"ALTER TABLE {name} RENAME COLUMN {column} TO renamed{rng.randrange(10**6)}",
        "drop": f"ALTER TABLE {name} DROP COLUMN {column}",
    }[kind]
    draft.notes.append(statement)
    table.spark.sql(statement)


def delete_by_vectors(table: DraftedTable) -> None:
    """Have Delta hide some rows of every kind of file, by one column or by another.

    The rows of some tables get ids.
    """
    rng = table.draft.rng
    name = table.sql_name
    features = ["delta.enableDeletionVectors", *rng.choice([[], ["delta.enableRowTracking"]])]
    for feature in features:
        table.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{feature}' = 'true')")
    hashable = [
        f.name
        for f in table.frame().schema
        if "map" not in f.dataType.simpleString() and "variant" not in f.dataType.simpleString()
    ]
    for column in rng.sample(hashable, min(len(hashable), rng.choice([1, 1, 2]))):
        remainder = f"pmod(xxhash64({quoted(column)}), {rng.choice([2, 3, 10])})"
        statement = f"DELETE FROM {name} WHERE {remainder} = 0"
        table.draft.notes.append(statement)
        table.spark.sql(statement)


def by_delta_rs(spark: SparkSession, path: Path, draft: Draft) -> DraftedTable:
    """Let delta-rs write the table."""
    rng = draft.rng
    codec = rng.choice(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW"])
    page_size = rng.choice([1024, 300_000, 1 << 20, 4 << 20])
    properties = WriterProperties(compression=codec, data_page_size_limit=page_size)
    draft.notes.append(f"by delta-rs with {codec} and pages of {page_size} bytes")
    for part in draft.parts():
        rows = part.rows
        for f, value in zip(draft.partitions.fields, part.partition, strict=True):
            stored = pa.array([value] * rows.num_rows, arrow_type(f.dataType, STORED))
            rows = rows.append_column(f.name, stored.cast(arrow_type(f.dataType)))
        write_deltalake(
            path,
            rows,
            mode="append",
            partition_by=draft.partitions.fieldNames() or None,
            schema_mode="merge",
            writer_properties=properties,
        )
    return DraftedTable(spark, path, draft)


ORIGINS = {
    "forged": forged,
    "converted": converted,
    "delta": by_delta,
    "delta-rs": by_delta_rs,
}

"""Tables of every origin: a log by hand, CONVERT, Delta on Spark, delta-rs."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from delta.tables import DeltaTable
from deltalake import WriterProperties, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from foreign.stats import stats_of
from foreign.types import STORED, arrow_type
from support.sessions import session_conf
from torture.defaults import FEATURE
from torture.draft import Draft, Part
from torture.partitions import column_of, hive_folder, text_of
from torture.sql_text import ddl, quoted

NTZ = '"timestamp_ntz"'


@dataclass
class Table:
    """A table at a path, and what was drawn for it."""

    spark: SparkSession
    path: Path
    draft: Draft

    @property
    def sql_name(self) -> str:
        return f"delta.`{self.path}`"

    def frame(self, version: int | None = None) -> DataFrame:
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return reader.load(str(self.path))

    def version(self) -> int:
        """Give the newest version that the log names, not what a session remembers."""
        names = (file.name for file in (self.path / "_delta_log").iterdir())
        return max(int(name[:20]) for name in names if re.fullmatch(r"\d{20}\.json", name))

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

    def forget(self) -> None:
        """Have the session read the log again."""
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def has_vectors(self) -> bool:
        """Tell whether a live file has a deletion vector, by Delta."""
        self.forget()
        log = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(
            self.spark._jsparkSession, str(self.path)
        )
        files = log.unsafeVolatileSnapshot().allFiles().toDF()
        return not files.filter("deletionVector IS NOT NULL").isEmpty()

    def files(self) -> list[str]:
        """List the live files, by Delta."""
        make = self.spark._jvm.org.apache.hadoop.fs.Path
        return [make(file).toUri().getPath() for file in self.frame().inputFiles()]

    def partition_columns(self) -> list[str]:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {self.sql_name}").collect()
        return list(detail.partitionColumns)

    def allows_v2(self) -> bool:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {self.sql_name}").collect()
        return "v2Checkpoint" in detail.tableFeatures

    def tracks_rows(self) -> bool:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {self.sql_name}").collect()
        return bool(detail.properties.get("delta.enableRowTracking") == "true")

    def is_mapped(self) -> bool:
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {self.sql_name}").collect()
        return bool(detail.properties.get("delta.columnMapping.mode", "none") != "none")

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


def forged(spark: SparkSession, path: Path, draft: Draft) -> Table:
    """Write files and the one commit that adds them."""
    rng = draft.rng
    (path / "_delta_log").mkdir(parents=True)
    adds = [_add(spark, path, draft, n, part) for n, part in enumerate(draft.parts())]
    actions = [_protocol(draft.declared), _metadata(draft, rng), *adds]
    commit = path / "_delta_log" / f"{0:020}.json"
    commit.write_text("\n".join(json.dumps(action) for action in actions) + "\n")
    return Table(spark, path, draft)


def _add(spark: SparkSession, path: Path, draft: Draft, n: int, part: Part) -> dict[str, Any]:
    rng = draft.rng
    names = draft.partitions.fieldNames()
    texts = [
        text_of(value, f.dataType, rng)
        for value, f in zip(part.partition, draft.partitions.fields, strict=True)
    ]
    folder = rng.choice(["", hive_folder(names, texts), hive_folder(names, texts), "a b%20=#ü"])
    if max(map(len, folder.split("/"))) > 100:
        folder = ""
    target = path / folder / f"foreign-{n}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    draft.write(spark, part, target)
    where = target.as_uri() if rng.random() < 0.1 else quote(str(target.relative_to(path)))
    add = {
        "path": where,
        "partitionValues": dict(zip(names, texts, strict=True)),
        "size": target.stat().st_size,
        "modificationTime": 1_700_000_000_000 + n,
        "dataChange": True,
    }
    how = rng.choice(["none", "none", "count", "full", "full"])
    draft.notes.append(f"{where} statistics {how} partition {texts}")
    if how != "none":
        add["stats"] = json.dumps(stats_of(part.rows, part.schema, how))
    return {"add": add}


def _protocol(schema: t.StructType) -> dict[str, Any]:
    text = schema.json()
    has_times, has_defaults = NTZ in text, "EXISTS_DEFAULT" in text
    if not has_times and not has_defaults:
        return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    readers = {"readerFeatures": ["timestampNtz"]} if has_times else {}
    features = ["appendOnly", "invariants", *([FEATURE] if has_defaults else [])]
    return {
        "protocol": {
            "minReaderVersion": 3 if has_times else 1,
            "minWriterVersion": 7,
            **readers,
            "writerFeatures": [*features, *readers.get("readerFeatures", [])],
        }
    }


def _metadata(draft: Draft, rng: random.Random) -> dict[str, Any]:
    return {
        "metaData": {
            "id": str(uuid.UUID(int=rng.getrandbits(128))),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": draft.declared.json(),
            "partitionColumns": draft.partitions.fieldNames(),
            "configuration": _configuration(rng),
            "createdTime": 0,
        }
    }


def _configuration(rng: random.Random) -> dict[str, str]:
    pool = {
        "delta.checkpoint.writeStatsAsStruct": rng.choice(["true", "false"]),
        "delta.checkpoint.writeStatsAsJson": rng.choice(["true", "false"]),
        "delta.dataSkippingNumIndexedCols": rng.choice(["-1", "0", "1", "2"]),
    }
    return {key: value for key, value in pool.items() if rng.random() < 0.3}


def converted(spark: SparkSession, path: Path, draft: Draft) -> Table:
    """Write a directory of Parquet files, and CONVERT it."""
    names = draft.partitions.fieldNames()
    for n, part in enumerate(draft.parts()):
        texts = [
            text_of(value, f.dataType, draft.rng)
            for value, f in zip(part.partition, draft.partitions.fields, strict=True)
        ]
        target = path / hive_folder(names, texts) / f"part-{n}.parquet"
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
    return Table(spark, path, draft)


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


def by_delta(spark: SparkSession, path: Path, draft: Draft) -> Table:
    """Create the table by Delta on Spark, with features; append, alter and delete."""
    rng = draft.rng
    properties = _features(draft)
    draft.notes.append(f"properties {properties}")
    table = Table(spark, path, draft)
    path.parent.mkdir(parents=True, exist_ok=True)
    for n, part in enumerate(draft.parts()):
        if n == 0:
            frame = with_partition(spark, draft, part, path.parent)
            writer = frame.write.format("delta").partitionBy(*draft.partitions.fieldNames())
            writer.options(**properties).save(str(path))
        else:
            table.append(part)
        if rng.random() < 0.2:
            change(table, properties.get("delta.columnMapping.mode", "none") != "none")
    return table


def _features(draft: Draft) -> dict[str, str]:
    rng = draft.rng
    found = {}
    if not draft.tame or rng.random() < 0.3:
        found["delta.columnMapping.mode"] = rng.choice(["name", "id"])
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


def change(table: Table, is_mapped: bool) -> None:
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


def delete_by_vectors(table: Table) -> None:
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


def by_delta_rs(spark: SparkSession, path: Path, draft: Draft) -> Table:
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
    return Table(spark, path, draft)


ORIGINS = {
    "forged": forged,
    "converted": converted,
    "delta": by_delta,
    "delta-rs": by_delta_rs,
}

"""A Delta table of files that others wrote: its log by hand, its rows by three readers."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from foreign.readers import by_duckdb, by_pyarrow
from foreign.rows import Rows, python_columns, rows_of
from foreign.stats import stats_of
from foreign.types import without_last_fields
from foreign.values import Style, arrow_table
from foreign.writers import Writer
from support.sessions import as_arrow

FAR = 0.05  # the share of far dates


class Unread(Exception):
    """A reader cannot read a file."""


@dataclass(frozen=True)
class ForeignFile:
    """How one file of a table is made."""

    writer: Writer
    rows: int = 300
    seed: int = 0
    styles: dict[str, Style] = field(default_factory=dict)  # of other columns it is drawn
    stats: str = "full"  # none, count, some, full
    absent: tuple[str, ...] = ()  # columns added to the table later
    lacks_nested: bool = False  # fields added to its structs later
    shuffled: bool = False  # the columns stand in another order
    partition: str | None = None

    def given(self, schema: t.StructType) -> pa.Table:
        """Draw its rows."""
        rng = random.Random(self.seed)
        styles = dict(self.styles)
        for f in schema.fields:
            style = Style.draw(rng)
            # Checks in Python take minutes for megabytes of text.
            spread = "many" if style.spread == "huge" else style.spread
            styles.setdefault(f.name, replace(style, spread=spread, far=FAR))
        return arrow_table(schema, styles, self.rows, rng)

    def schema(self, table: t.StructType) -> t.StructType:
        """Give the part of the table's schema that this file holds."""
        fields = [f for f in table.fields if f.name not in self.absent] or table.fields[:1]
        if self.shuffled:
            random.Random(self.seed).shuffle(fields)
        kept = t.StructType(fields)
        if not self.lacks_nested:
            return kept
        return t.StructType(
            [t.StructField(f.name, without_last_fields(f.dataType)) for f in kept.fields]
        )


class ForeignTable:
    """A table at a path: its log is read from the JSON of its commits."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark = spark
        self.path = path
        self.sql_name = f"delta.`{path}`"

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        root: Path,
        schema: t.StructType,
        files: Iterable[ForeignFile],
        partitioned_by: t.StructField | None = None,
    ) -> ForeignTable:
        """Write the files and the one commit that adds them."""
        path = root / f"t{uuid.uuid4().hex[:8]}"
        (path / "_delta_log").mkdir(parents=True)
        whole = t.StructType([*schema.fields, *([partitioned_by] if partitioned_by else [])])
        adds = [
            _add(spark, path, schema, file, number, partitioned_by)
            for number, file in enumerate(files)
        ]
        actions = [_protocol(whole), _metadata(whole, partitioned_by), *adds]
        commit = path / "_delta_log" / f"{0:020}.json"
        commit.write_text("\n".join(json.dumps(action) for action in actions) + "\n")
        return cls(spark, path)

    def actions(self) -> list[tuple[int, dict[str, Any]]]:
        """List the actions of every commit, with its version."""
        found = []
        for commit in sorted((self.path / "_delta_log").glob("*.json")):
            lines = commit.read_text().splitlines()
            found += [(int(commit.stem), json.loads(line)) for line in lines]
        return found

    def adds(self, partition: str | None = None) -> dict[str, dict[str, Any]]:
        """Give the live files, of one partition or all: the add action of each path."""
        live: dict[str, dict[str, Any]] = {}
        for _, action in self.actions():
            if "add" in action:
                live[action["add"]["path"]] = action["add"]
            elif "remove" in action:
                live.pop(action["remove"]["path"], None)
        if partition is None:
            return live
        return {p: add for p, add in live.items() if partition in add["partitionValues"].values()}

    def _metadata(self) -> dict[str, Any]:
        return [action["metaData"] for _, action in self.actions() if "metaData" in action][-1]

    def physical_schema(self) -> t.StructType:
        """Give the schema of the data files, under the names that they use."""
        metadata = self._metadata()
        whole = t.StructType.fromJson(json.loads(metadata["schemaString"]))
        kept = [f for f in whole.fields if f.name not in metadata["partitionColumns"]]
        return _physical(t.StructType(kept))

    def file_of(self, add: dict[str, Any]) -> str:
        return str(self.path / unquote(add["path"]))

    def frame(self) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.path))

    def rows_by_spark(self) -> Rows:
        frame = self.frame()
        return canonical_rows(as_arrow(frame), frame.schema, {})

    def rows_by_pyarrow(self, partition: str | None = None) -> Rows:
        return self._rows_by(by_pyarrow, partition)

    def rows_by_duckdb(self, partition: str | None = None) -> Rows:
        return self._rows_by(by_duckdb, partition)

    def _rows_by(self, read: Callable[[str], pa.Table], partition: str | None) -> Rows:
        schema = self.physical_schema()
        found: Rows = Counter()
        for add in self.adds(partition).values():
            try:
                rows = read(self.file_of(add))
            except (pa.ArrowException, duckdb.Error, OSError) as e:
                raise Unread(str(e)) from e
            found += canonical_rows(rows, schema, add["partitionValues"])
        return found


def canonical_rows(rows: pa.Table, schema: t.StructType, partition: dict[str, Any]) -> Rows:
    """Count the rows, each with its partition values."""
    suffix = sorted(partition.items())
    found = rows_of(python_columns(rows, schema), schema)
    return Counter({f"{row} {suffix}": count for row, count in found.items()})


def _add(
    spark: SparkSession,
    path: Path,
    schema: t.StructType,
    file: ForeignFile,
    number: int,
    partitioned_by: t.StructField | None,
) -> dict[str, Any]:
    folder, values = path, {}
    if partitioned_by:
        value = file.partition
        hive = "__HIVE_DEFAULT_PARTITION__" if value is None else quote(value, safe="")
        folder, values = path / f"{partitioned_by.name}={hive}", {partitioned_by.name: value}
        folder.mkdir(exist_ok=True)
    target = folder / f"foreign-{number}.parquet"
    held = file.schema(schema)
    file.writer.write(spark, file.given(held), held, target)
    add = {
        "path": quote(str(target.relative_to(path))),
        "partitionValues": values,
        "size": target.stat().st_size,
        "modificationTime": int(target.stat().st_mtime * 1000) + number,
        "dataChange": True,
    }
    if file.stats != "none":
        try:
            written = by_pyarrow(str(target))
        except (pa.ArrowException, OSError):  # pyarrow cannot read all that it writes
            return {"add": add}
        kept = t.StructType(held.fields[:1]) if file.stats == "some" else held
        add["stats"] = json.dumps(stats_of(written, kept, file.stats))
    return {"add": add}


def _protocol(schema: t.StructType) -> dict[str, Any]:
    if "timestamp_ntz" not in schema.json():
        return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    return {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["timestampNtz"],
            "writerFeatures": ["timestampNtz", "appendOnly", "invariants"],
        }
    }


def _metadata(schema: t.StructType, partitioned_by: t.StructField | None) -> dict[str, Any]:
    return {
        "metaData": {
            "id": str(uuid.uuid4()),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema.json(),
            "partitionColumns": [partitioned_by.name] if partitioned_by else [],
            "configuration": {},
            "createdTime": 0,
        }
    }


def _physical(kind: t.DataType) -> Any:
    if isinstance(kind, t.StructType):
        return t.StructType(
            [
                t.StructField(
                    f.metadata.get("delta.columnMapping.physicalName", f.name),
                    _physical(f.dataType),
                )
                for f in kind.fields
            ]
        )
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(_physical(kind.elementType))
    if isinstance(kind, t.MapType):
        return t.MapType(_physical(kind.keyType), _physical(kind.valueType))
    return kind

"""Tables of files that others wrote, whose log is written by hand."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.readers import by_pyarrow
from foreign.stats import stats_of
from foreign.table import ForeignTable
from foreign.types import without_last_fields
from foreign.values import Style, arrow_table
from foreign.writers import Writer

FAR = 0.05  # the share of far dates
DEFAULTS = "allowColumnDefaults"
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


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


def forge(
    spark: SparkSession,
    root: Path,
    schema: t.StructType,
    files: Iterable[ForeignFile],
    partitioned_by: t.StructField | None = None,
) -> ForeignTable:
    """Write the files and the one commit that adds them, to a new directory below `root`."""
    path = root / f"t{uuid.uuid4().hex[:8]}"
    partitions = [partitioned_by] if partitioned_by else []
    adds = []
    for number, file in enumerate(files):
        values = {f.name: file.partition for f in partitions}
        folder = path
        if partitioned_by:
            hive = HIVE_NULL if file.partition is None else quote(file.partition, safe="")
            folder = path / f"{partitioned_by.name}={hive}"
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"foreign-{number}.parquet"
        held = file.schema(schema)
        file.writer.write(spark, file.given(held), held, target)
        adds.append(add_of(path, target, values, number, _stats(file, held, target)))
    whole = t.StructType([*schema.fields, *partitions])
    write_log(path, whole, [f.name for f in partitions], adds)
    return ForeignTable(spark, path)


def _stats(file: ForeignFile, held: t.StructType, target: Path) -> dict[str, Any] | None:
    if file.stats == "none":
        return None
    try:
        written = by_pyarrow(str(target))
    except (pa.ArrowException, OSError):  # pyarrow cannot read all that it writes
        return None
    kept = t.StructType(held.fields[:1]) if file.stats == "some" else held
    return stats_of(written, kept, file.stats)


def add_of(
    table: Path,
    file: Path,
    partition: Mapping[str, str | None],
    number: int,
    stats: dict[str, Any] | None,
    absolute: bool = False,
) -> dict[str, Any]:
    """Make the action that adds a file."""
    found = {
        "path": file.as_uri() if absolute else quote(str(file.relative_to(table))),
        "partitionValues": partition,
        "size": file.stat().st_size,
        "modificationTime": 1_700_000_000_000 + number,
        "dataChange": True,
    }
    return {"add": found if stats is None else {**found, "stats": json.dumps(stats)}}


def write_log(
    table: Path,
    schema: t.StructType,
    partition_columns: list[str],
    adds: Iterable[dict[str, Any]],
    configuration: Mapping[str, str] | None = None,
) -> None:
    """Write the one commit of a table."""
    metadata = {
        "id": str(uuid.uuid4()),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema.json(),
        "partitionColumns": partition_columns,
        "configuration": configuration or {},
        "createdTime": 0,
    }
    actions = [{"protocol": _protocol(schema)}, {"metaData": metadata}, *adds]
    log = table / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))


def _protocol(schema: t.StructType) -> dict[str, Any]:
    text = schema.json()
    of_readers = ["timestampNtz"] if '"timestamp_ntz"' in text else []
    of_writers = [DEFAULTS] if "EXISTS_DEFAULT" in text else []
    if not of_readers and not of_writers:
        return {"minReaderVersion": 1, "minWriterVersion": 2}
    return {
        "minReaderVersion": 3 if of_readers else 1,
        "minWriterVersion": 7,
        **({"readerFeatures": of_readers} if of_readers else {}),
        "writerFeatures": ["appendOnly", "invariants", *of_writers, *of_readers],
    }

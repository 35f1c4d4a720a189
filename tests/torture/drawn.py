"""What a seed draws of a table before anything is written."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign_writers import Writer
from torture.partitions import TYPES, draw_pool, print_alike
from torture.pools import Names, draw_mixed_type
from torture.values import Style, arrow_table
from torture.writers import PLAIN, draw_mixed, draw_writer

MIXED = 0.15  # the share of tables whose files store one column in several types


@dataclass(frozen=True)
class Part:
    """One file, or one append: its rows without the partition columns, and their values."""

    rows: pa.Table
    schema: t.StructType
    partition: tuple[Any, ...]
    writer: Writer


class Draft:
    """The columns and the parts of a table, and notes of all that was drawn."""

    def __init__(self, rng: random.Random, tame: bool, most_rows: int = 2000) -> None:
        self.rng = rng
        self.tame = tame
        names = Names(rng, tame)
        width = rng.choice([1, 1, 2, 3, 5])
        deep = rng.choice([0, 0, 1, 2, 3])
        partitions = rng.choice([0, 0, 1, 1, 2, 2, 3])
        found = names.draw(width + partitions)
        self.schema = t.StructType([t.StructField(n, names.type(deep)) for n in found[partitions:]])
        kinds = [rng.choice(TYPES) for _ in range(partitions)]
        self.partitions = t.StructType(
            [t.StructField(n, k) for n, k in zip(found[:partitions], kinds, strict=True)]
        )
        self.notes = [f"schema {self.schema.simpleString()}"]
        if partitions:
            self.notes.append(f"partitions {self.partitions.simpleString()}")
        self.most_rows = most_rows
        self.pools = [draw_pool(k, found[:partitions], rng) for k in kinds]
        self.same = draw_writer(rng, self.schema) if rng.random() < 0.6 else None
        self.mixed = rng.random() < MIXED
        if self.mixed:
            self.same = None
            self.schema = t.StructType(
                [t.StructField(f.name, draw_mixed_type(rng)) for f in self.schema.fields]
            )
            self.notes.append(f"files of mixed types, schema {self.schema.simpleString()}")
        self.extreme = rng.random() < 0.15

    @property
    def whole(self) -> t.StructType:
        return t.StructType([*self.schema.fields, *self.partitions.fields])

    def parts(self, count: int | None = None) -> list[Part]:
        number = count or self.rng.choice([2, 2, 3, 5, 8])
        return [self.part() for _ in range(number)]

    def part(self, partition: tuple[Any, ...] | None = None) -> Part:
        rng = self.rng
        schema = self.schema
        if len(schema.fields) > 1 and rng.random() < 0.15:  # added to the table later
            schema = t.StructType(rng.sample(schema.fields, len(schema.fields) - 1))
        sizes = [0, 1, 2, 7, 50, 50, 300, 300, self.most_rows]
        count = min(rng.choice(sizes), self.most_rows)
        styles = {f.name: Style.draw(rng, self.extreme) for f in schema.fields}
        if any(style.spread == "huge" for style in styles.values()):
            count = min(count, 60)
        if partition is None:
            alike = print_alike(self.partitions.fields)
            if alike and rng.random() < 0.5:
                partition = rng.choice(alike)
            else:
                partition = tuple(rng.choice(pool) for pool in self.pools)
        draw = draw_mixed if self.mixed else draw_writer
        writer = self.same or draw(rng, schema)
        self.notes.append(f"{count} rows of {styles} in {partition} by {writer}")
        return Part(arrow_table(schema, styles, count, rng), schema, partition, writer)

    def write(self, spark: SparkSession, part: Part, path: Path) -> None:
        """Write a file; by pyarrow where the writer that was drawn cannot."""
        try:
            part.writer.write(spark, part.rows, part.schema, path)
        except Exception as e:
            self.notes.append(f"{path.name} by pyarrow instead, since {str(e)[:100]!r}")
            PLAIN.write(spark, part.rows, part.schema, path)

"""What a seed draws of a table before anything is written."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.recased import Case, draw_case, recased_schema, with_names
from foreign.types import arrow_type
from foreign.values import Style, arrow_table
from foreign.writers import Writer
from torture.defaults import draw_defaults, with_defaults
from torture.partitions import TYPES, draw_pool, print_alike
from torture.plan import Plan
from torture.pools import Names, draw_mixed_type
from torture.writers import PLAIN, draw_mixed, draw_writer

MIXED = 0.15  # the share of tables whose files store one column in several types


@dataclass(frozen=True)
class Part:
    """One file, or one append: its rows without the partition columns, and their values."""

    rows: pa.Table
    schema: t.StructType
    partition: tuple[Any, ...]
    writer: Writer
    case: Case | None = None  # in which the file spells names


class Draft:
    """The columns and the parts of a table, and notes of all that was drawn."""

    def __init__(self, rng: random.Random, plan: Plan, most_rows: int = 2000) -> None:
        self.rng = rng
        self.plan = plan
        self.tame = plan.tame
        names = Names(rng, plan.tame)
        width = rng.choice([1, 1, 2, 3, 5])
        deep = rng.choice([0, 0, 1, 2, 3])
        partitions = rng.choice([0, 0, 1, 1, 2, 2, 3])
        if plan.defaults and plan.origin == "converted":  # for which the catalog knows none
            partitions = 0
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
        self.mixed = rng.random() < MIXED
        if self.mixed:
            self.schema = t.StructType(
                [t.StructField(f.name, draw_mixed_type(rng)) for f in self.schema.fields]
            )
            self.notes.append(f"files of mixed types, schema {self.schema.simpleString()}")
        for kind in wanted_types(names, plan):
            name = names.draw_beside(found)
            self.schema = t.StructType([*self.schema.fields, t.StructField(name, kind)])
            found.append(name)
        self.defaults: dict[str, str] = {}
        if plan.defaults:
            drawn = draw_defaults(names, found, by_rows=plan.by_rows)
            self.schema = t.StructType([*self.schema.fields, *(f for f, _ in drawn)])
            self.defaults = {f.name: sql for f, sql in drawn}
            self.notes.append(f"defaults {self.defaults}")
        is_same = not self.mixed and rng.random() < 0.6
        self.same = self._writer(self.schema) if is_same else None

    @property
    def declared(self) -> t.StructType:
        """The schema with the defaults of its columns."""
        return with_defaults(self.whole, self.defaults)

    def _writer(self, schema: t.StructType) -> Writer:
        draw = draw_mixed if self.mixed else draw_writer
        return draw(self.rng, schema, self.plan.raw)

    @property
    def whole(self) -> t.StructType:
        return t.StructType([*self.schema.fields, *self.partitions.fields])

    def _without_last(self) -> t.StructType:
        """Leave out the last columns, for which Spark takes defaults row by row."""
        held = len(self.schema.fields)
        while held > 1 and self.schema[held - 1].name in self.defaults and self.rng.random() < 0.6:
            held -= 1
        return t.StructType(self.schema.fields[:held])

    def parts(self, count: int | None = None) -> list[Part]:
        number = count or self.rng.choice([2, 2, 3, 5, 8])
        return [self.part() for _ in range(number)]

    def part(self, partition: tuple[Any, ...] | None = None) -> Part:
        rng = self.rng
        schema = self.schema
        if self.defaults and self.plan.by_rows:
            schema = self._without_last()
        elif len(schema.fields) > 1 and rng.random() < (0.5 if self.defaults else 0.15):
            schema = t.StructType(rng.sample(schema.fields, len(schema.fields) - 1))
        sizes = [0, 1, 2, 7, 50, 50, 300, 300, self.most_rows]
        if self.plan.bulky:
            sizes = [50, 300, self.most_rows, self.most_rows]
        count = min(rng.choice(sizes), self.most_rows)
        plan = self.plan
        styles = {
            f.name: Style.draw(rng, plan.extreme, plan.raw, plan.bulky) for f in schema.fields
        }
        if any(style.spread == "huge" for style in styles.values()):
            count = min(count, 60)
        if partition is None:
            alike = print_alike(self.partitions.fields)
            if alike and rng.random() < 0.5:
                partition = rng.choice(alike)
            else:
                partition = tuple(rng.choice(pool) for pool in self.pools)
        writer = self.same or self._writer(schema)
        case = draw_case(rng) if self.plan.recased and rng.random() < 0.5 else None
        told = " in another case" if case else ""
        self.notes.append(f"{count} rows of {styles} in {partition} by {writer}{told}")
        return Part(arrow_table(schema, styles, count, rng), schema, partition, writer, case)

    def write(self, spark: SparkSession, part: Part, path: Path) -> None:
        """Write a file; by pyarrow where the writer that was drawn cannot."""
        rows, schema = part.rows, part.schema
        if part.case is not None:
            schema = recased_schema(schema, part.case)
            rows = with_names(
                rows, schema.fieldNames(), [arrow_type(f.dataType) for f in schema.fields]
            )
        try:
            part.writer.write(spark, rows, schema, path)
        except Exception as e:
            self.notes.append(f"{path.name} by pyarrow instead, since {str(e)[:100]!r}")
            PLAIN.write(spark, rows, schema, path)


def wanted_types(names: Names, plan: Plan) -> list[t.DataType]:
    """Give the types without which a plan comes to nothing."""
    rng = names.rng
    found: list[t.DataType] = []
    if plan.evolved and rng.random() < 0.6:
        inner = names.struct(1)
        outer = [t.StructField(n, inner) for n in names.draw(1)]
        element = t.StructType(outer)
        found.append(rng.choice([t.ArrayType(element), t.MapType(t.StringType(), element)]))
    if plan.raw or plan.bulky:
        found.append(t.StringType())
    if plan.origin == "delta-rs" and rng.random() < 0.4:
        precision = rng.choice([19, 28, 38])
        found.append(t.DecimalType(precision, rng.choice([0, 0, 2])))
    return found

"""Parquet writers that Delta Upkeep does not know, each with the options that change the bytes."""

from __future__ import annotations

import io
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from support.sessions import session_conf

ENCODABLE = {
    "PLAIN": {"INT32", "INT64", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY", "BOOLEAN"},
    "RLE": {"BOOLEAN"},
    "DELTA_BINARY_PACKED": {"INT32", "INT64"},
    "DELTA_LENGTH_BYTE_ARRAY": {"BYTE_ARRAY"},
    "DELTA_BYTE_ARRAY": {"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"},
    "BYTE_STREAM_SPLIT": {"INT32", "INT64", "FLOAT", "DOUBLE", "FIXED_LEN_BYTE_ARRAY"},
}


class Writer(Protocol):
    """Writes rows of a schema to one Parquet file."""

    @property
    def needs_row_reader(self) -> bool:
        """Tell whether Spark's vectorized reader cannot read the file, but its other one can."""
        ...

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        """Write the file."""
        ...


@dataclass(frozen=True)
class PyArrow:
    """pyarrow: `options` go to `write_table`; the rest makes a file's types differ."""

    options: dict[str, Any] = field(default_factory=dict)
    encodings: tuple[str, ...] = ()  # for every column that can have one of them
    variants: tuple[str, ...] = ()  # see `vary`, and: required, upper, extra, mixed_dictionary

    @property
    def needs_row_reader(self) -> bool:
        return "BYTE_STREAM_SPLIT" in self.encodings

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        rows = self._as_this_writer_types(rows)
        options: dict[str, Any] = {"store_schema": False, **self.options}
        if self.encodings:
            options |= {
                "use_dictionary": False,
                "column_encoding": self._encoding_of(rows, options),
            }
        elif "mixed_dictionary" in self.variants:
            options["use_dictionary"] = _leaf_paths(rows.schema, options)[::2]
        pq.write_table(rows, path, **options)

    def _as_this_writer_types(self, rows: pa.Table) -> pa.Table:
        if "extra" in self.variants:
            rows = rows.add_column(0, "not_in_table", pa.array(range(rows.num_rows), pa.int64()))
        fields = [
            pa.field(
                f.name.upper() if "upper" in self.variants else f.name,
                vary(f.type, self.variants),
            )
            for f in rows.schema
        ]
        rows = pa.Table.from_arrays(
            [
                column.cast(f.type, safe=False)
                for column, f in zip(rows.columns, fields, strict=True)
            ],
            schema=pa.schema(fields),
        )
        return _require(rows) if "required" in self.variants else rows

    def _encoding_of(self, rows: pa.Table, options: dict[str, Any]) -> dict[str, str]:
        chosen = {}
        for path, physical in _leaves(rows.schema, options):
            for encoding in self.encodings:
                if physical in ENCODABLE[encoding]:
                    chosen[path] = encoding
        return chosen


def _leaves(schema: pa.Schema, options: dict[str, Any]) -> list[tuple[str, str]]:
    """List the paths and physical types that pyarrow gives the leaves of a schema."""
    typed = ("store_decimal_as_integer", "use_deprecated_int96_timestamps", "version")
    sink = io.BytesIO()
    pq.write_table(schema.empty_table(), sink, **{k: options[k] for k in typed if k in options})
    found = pq.ParquetFile(sink).metadata.schema
    columns = [found.column(i) for i in range(len(found.names))]
    return [(column.path, column.physical_type) for column in columns]


def _leaf_paths(schema: pa.Schema, options: dict[str, Any]) -> list[str]:
    return [path for path, _ in _leaves(schema, options)]


def vary(kind: pa.DataType, variants: tuple[str, ...]) -> pa.DataType:
    """Give a type as another writer, or an older schema, would have stored it."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, vary(f.type, variants)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(vary(kind.key_type, variants), vary(kind.item_type, variants))
    if pa.types.is_list(kind):
        name = "item" if "item_name" in variants else "element"
        return pa.list_(pa.field(name, vary(kind.value_type, variants)))
    if "bare" in variants:  # without the annotation
        kind = {pa.int8(): pa.int32(), pa.int16(): pa.int32(), pa.string(): pa.binary()}.get(
            kind, kind
        )
    if "narrow" in variants:  # as before the type was widened
        kind = {pa.int64(): pa.int32(), pa.float64(): pa.float32()}.get(kind, kind)
    if "millis" in variants and pa.types.is_timestamp(kind):
        kind = pa.timestamp("ms", kind.tz)
    return kind


def _require(rows: pa.Table) -> pa.Table:
    """Declare every column that has no null REQUIRED."""
    fields = [
        f.with_nullable(column.null_count > 0)
        for f, column in zip(rows.schema, rows.columns, strict=True)
    ]
    return pa.Table.from_arrays(rows.columns, schema=pa.schema(fields))


@dataclass(frozen=True)
class DuckDB:
    """DuckDB's COPY, with its options."""

    options: dict[str, str] = field(default_factory=dict)

    @property
    def needs_row_reader(self) -> bool:
        return self.options.get("PARQUET_VERSION") == "V2"

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        pairs = "".join(f", {key} {value}" for key, value in self.options.items())
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("rows_to_copy", rows)
            connection.execute(f"COPY rows_to_copy TO '{path}' (FORMAT parquet{pairs})")


@dataclass(frozen=True)
class Spark:
    """parquet-java behind `df.write`, with its options and configuration."""

    options: dict[str, str] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    needs_row_reader: bool = False

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch, session_conf(spark, self.conf):
            source, target = Path(scratch, "rows.parquet"), Path(scratch, "written")
            pq.write_table(rows, source, store_schema=False)
            frame = spark.read.schema(schema).parquet(str(source)).coalesce(1)
            frame.write.options(**self.options).parquet(str(target))
            (part,) = target.glob("part-*.parquet")
            shutil.move(part, path)


@dataclass(frozen=True)
class Polars:
    """polars, by its own writer."""

    options: dict[str, Any] = field(default_factory=dict)

    needs_row_reader = False

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        frame = polars.from_arrow(rows)
        assert isinstance(frame, polars.DataFrame)
        frame.write_parquet(path, **self.options)

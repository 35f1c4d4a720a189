"""parquet-avro's writer: its rows go over as Avro's own bytes."""

from __future__ import annotations

import io
import itertools
import json
import random
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.extremes import WIDE
from foreign.raw_texts import utf8
from foreign.rows import python_columns

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Avro:
    """An `AvroParquetWriter`: with lists of two levels, which is its default, or of three."""

    two_levels: bool
    dictionary: bool
    row_group_size: int
    codec: str
    page_size: int

    needs_row_reader = False

    @classmethod
    def draw(cls, rng: random.Random) -> Avro:
        return cls(
            rng.random() < 0.7,
            rng.random() < 0.6,
            rng.choice([1, 1000, 1 << 27]),
            rng.choice(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "LZ4_RAW"]),
            rng.choice([1024, 300_000, 1 << 20, 4 << 20]),
        )

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        jvm = spark._jvm
        avro = jvm.org.apache.avro
        codecs = jvm.org.apache.parquet.hadoop.metadata.CompressionCodecName
        text = json.dumps(Schemas(self.two_levels).of(schema))
        parsed = getattr(avro, "Schema$Parser")().parse(text)
        conf = jvm.org.apache.hadoop.conf.Configuration()
        conf.set("parquet.avro.write-old-list-structure", str(self.two_levels).lower())
        writer = (
            jvm.org.apache.parquet.avro.AvroParquetWriter.builder(
                jvm.org.apache.hadoop.fs.Path(str(path))
            )
            .withSchema(parsed)
            .withConf(conf)
            .withDictionaryEncoding(self.dictionary)
            .withRowGroupSize(self.row_group_size)
            .withCompressionCodec(codecs.valueOf(self.codec))
            .withPageSize(self.page_size)
            .build()
        )
        out = io.BytesIO()
        for row in zip(*python_columns(rows, schema), strict=True):
            self._fields(zip(schema.fields, row, strict=True), out)
        decoder = avro.io.DecoderFactory.get().binaryDecoder(bytearray(out.getvalue()), None)
        reader = avro.generic.GenericDatumReader(parsed)
        for _ in range(rows.num_rows):
            writer.write(reader.read(None, decoder))
        writer.close()

    def _fields(self, items: Any, out: io.BytesIO) -> None:
        for f, value in items:
            self._optional(f.dataType, value, out)

    def _optional(self, kind: t.DataType, value: Any, out: io.BytesIO) -> None:
        _long(0 if value is None else 1, out)
        if value is not None:
            self._value(kind, value, out)

    def _value(self, kind: t.DataType, value: Any, out: io.BytesIO) -> None:
        if isinstance(kind, t.StructType):
            self._fields(((f, value[f.name]) for f in kind.fields), out)
        elif isinstance(kind, t.ArrayType):
            put = self._value if self.two_levels else self._optional
            kept = [v for v in value if v is not None] if self.two_levels else value
            self._block(kept, lambda item: put(kind.elementType, item, out), out)
        elif isinstance(kind, t.MapType):

            def put_pair(pair: Any) -> None:
                _bytes(utf8(pair[0]), out)
                self._optional(kind.valueType, pair[1], out)

            self._block(value, put_pair, out)
        else:
            _leaf(kind, value, out)

    def _block(self, items: list[Any], put: Any, out: io.BytesIO) -> None:
        if items:
            _long(len(items), out)
            for item in items:
                put(item)
        _long(0, out)


def _leaf(kind: t.DataType, value: Any, out: io.BytesIO) -> None:
    if isinstance(kind, t.BooleanType):
        out.write(b"\x01" if value else b"\x00")
    elif isinstance(kind, t.FloatType):
        out.write(struct.pack("<f", value))
    elif isinstance(kind, t.DoubleType):
        out.write(struct.pack("<d", value))
    elif isinstance(kind, t.DecimalType):
        unscaled = int(value.scaleb(kind.scale, WIDE))
        _bytes(unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True), out)
    elif isinstance(value, (str, bytes)):
        _bytes(utf8(value) if isinstance(value, str) else value, out)
    else:
        _long(value, out)


def _long(value: int, out: io.BytesIO) -> None:
    zigzag = (value << 1) ^ (value >> 63)
    while zigzag > 127:
        out.write(bytes([zigzag & 127 | 128]))
        zigzag >>= 7
    out.write(bytes([zigzag]))


def _bytes(raw: bytes, out: io.BytesIO) -> None:
    _long(len(raw), out)
    out.write(raw)


class Schemas:
    """Avro's schema of a Spark type; every record has a name of its own."""

    def __init__(self, two_levels: bool) -> None:
        self.two_levels = two_levels
        self.numbers = itertools.count()

    def of(self, kind: t.DataType) -> Any:
        if isinstance(kind, t.StructType):
            fields = [{"name": f.name, "type": self._optional(f.dataType)} for f in kind.fields]
            return {"type": "record", "name": f"r{next(self.numbers)}", "fields": fields}
        if isinstance(kind, t.ArrayType):
            make = self.of if self.two_levels else self._optional
            return {"type": "array", "items": make(kind.elementType)}
        if isinstance(kind, t.MapType):
            return {"type": "map", "values": self._optional(kind.valueType)}
        if isinstance(kind, t.DecimalType):
            size = {"precision": kind.precision, "scale": kind.scale}
            return {"type": "bytes", "logicalType": "decimal", **size}
        return LEAVES[type(kind)]

    def _optional(self, kind: t.DataType) -> Any:
        return ["null", self.of(kind)]


LEAVES: dict[type[t.DataType], Any] = {
    t.BooleanType: "boolean",
    t.ByteType: "int",
    t.ShortType: "int",
    t.IntegerType: "int",
    t.LongType: "long",
    t.FloatType: "float",
    t.DoubleType: "double",
    t.StringType: "string",
    t.BinaryType: "bytes",
    t.DateType: {"type": "int", "logicalType": "date"},
    t.TimestampType: {"type": "long", "logicalType": "timestamp-micros"},
    t.TimestampNTZType: {"type": "long", "logicalType": "local-timestamp-micros"},
}


def takes(kind: t.DataType) -> bool:
    """Tell whether Avro has such names, and such keys of maps."""
    if isinstance(kind, t.StructType):
        return all(NAME.fullmatch(f.name) and takes(f.dataType) for f in kind.fields)
    if isinstance(kind, t.MapType):
        return isinstance(kind.keyType, t.StringType) and takes(kind.valueType)
    return not isinstance(kind, t.ArrayType) or takes(kind.elementType)

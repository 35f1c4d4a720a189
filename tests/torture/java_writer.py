"""parquet-java's own writer, with every layout of lists and maps that has ever been in use."""

from __future__ import annotations

import io
import random
import struct
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.extremes import WIDE
from foreign.raw_texts import utf8
from foreign.rows import python_columns

# Of a list: the name of the repeated field, and of what it holds; None if it is the element.
LISTS: tuple[tuple[str, str | None], ...] = (
    ("list", "element"),
    ("list", "item"),
    ("bag", "array_element"),
    ("list", "array"),
    ("array", None),
    ("array", None),
    ("element", None),
    ("{}_tuple", None),
    ("bag", None),
)
MAPS = (
    ("MAP", "key_value", "key", "value"),
    ("MAP", "map", "key", "value"),
    ("MAP_KEY_VALUE", "map", "key", "value"),
    ("MAP", "entries", "k", "v"),
)
JULIAN_1970 = 2_440_588
DAY = 86_400_000_000


@dataclass(frozen=True)
class Java:
    """A `ParquetWriter` that gets its rows call by call."""

    lists: tuple[str, str | None]
    maps: tuple[str, str, str, str]
    times: str  # MICROS, MILLIS or INT96
    decimals: str  # number (the shortest), long, fixed or binary
    is_bare: bool  # small integers and strings have no annotation
    codec: str
    version: str
    dictionary: bool
    page_size: int
    row_group_size: int

    needs_row_reader = False

    @classmethod
    def draw(cls, rng: random.Random) -> Java:
        return cls(
            rng.choice(LISTS),
            rng.choice(MAPS),
            rng.choice(["MICROS", "MICROS", "MILLIS", "INT96"]),
            rng.choice(["number", "fixed", "binary"]),
            rng.random() < 0.2,
            rng.choice(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "LZ4_RAW"]),
            rng.choice(["v1", "v1", "v2"]),
            rng.random() < 0.6,
            rng.choice([64, 64, 1024, 300_000, 1 << 20, 4 << 20]),
            rng.choice([1, 1000, 1 << 27]),
        )

    def write(self, spark: SparkSession, rows: pa.Table, schema: t.StructType, path: Path) -> None:
        out = Calls(self)
        for row in zip(*python_columns(rows, schema), strict=True):
            out.group(zip(schema.fields, row, strict=True))
            out.end_message()
        nodes = Nodes(spark, self)
        message = nodes.message(schema)
        settings = [getattr(self, f.name) for f in fields(self)][5:]
        spark._jvm.io.deltaupkeep.ForeignParquet.write(
            str(path), message, *settings, rows.num_rows, out.bytes()
        )


class Nodes:
    """Builds the schema of a file in the JVM."""

    def __init__(self, spark: SparkSession, how: Java) -> None:
        self.how = how
        self.jvm = spark._jvm
        self.schema = spark._jvm.org.apache.parquet.schema

    def message(self, schema: t.StructType) -> Any:
        nodes = self._list(self.node(f.name, f.dataType) for f in schema.fields)
        return self.schema.MessageType("spark_schema", nodes)

    def _list(self, nodes: Any) -> Any:
        found = self.jvm.java.util.ArrayList()
        for node in nodes:
            found.add(node)
        return found

    def _group(self, repetition: str, name: str, annotation: str | None, nodes: Any) -> Any:
        before = [self._enum("Type$Repetition", repetition), name]
        if annotation:
            before.append(self._enum("OriginalType", annotation))
        return self.schema.GroupType(*before, self._list(nodes))

    def _enum(self, name: str, value: str) -> Any:
        return getattr(self.schema, name).valueOf(value)

    def node(self, name: str, kind: t.DataType, repetition: str = "OPTIONAL") -> Any:
        if isinstance(kind, t.StructType):
            inner = [self.node(f.name, f.dataType) for f in kind.fields]
            return self._group(repetition, name, None, inner)
        if isinstance(kind, t.ArrayType):
            middle, element = self.how.lists
            middle = middle.format(name)
            if element is None:
                repeated = self.node(middle, kind.elementType, "REPEATED")
            else:
                held = self.node(element, kind.elementType)
                repeated = self._group("REPEATED", middle, None, [held])
            return self._group(repetition, name, "LIST", [repeated])
        if isinstance(kind, t.MapType):
            annotation, middle, key, value = self.how.maps
            pair = [self.node(key, kind.keyType, "REQUIRED"), self.node(value, kind.valueType)]
            return self._group(
                repetition, name, annotation, [self._group("REPEATED", middle, None, pair)]
            )
        return self._primitive(name, kind, repetition)

    def _primitive(self, name: str, kind: t.DataType, repetition: str) -> Any:
        physical, annotation, length = self._physical(kind)
        builder = self.schema.Types.primitive(
            self._enum("PrimitiveType$PrimitiveTypeName", physical),
            self._enum("Type$Repetition", repetition),
        )
        if length:
            builder = builder.length(length)
        if annotation is not None:
            builder = getattr(builder, "as")(annotation)
        return builder.named(name)

    def _physical(self, kind: t.DataType) -> tuple[str, Any, int]:
        types = self.schema.LogicalTypeAnnotation
        if isinstance(kind, t.DecimalType):
            physical, length = decimal_layout(kind, self.how.decimals)
            return physical, types.decimalType(kind.scale, kind.precision), length
        if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
            is_utc = isinstance(kind, t.TimestampType)
            if self.how.times == "INT96" and is_utc:
                return "INT96", None, 0
            unit = self._enum("LogicalTypeAnnotation$TimeUnit", time_unit(self.how))
            return "INT64", types.timestampType(is_utc, unit), 0
        if isinstance(kind, t.DateType):
            return "INT32", types.dateType(), 0
        physical = PHYSICAL[type(kind)]
        if self.how.is_bare:
            return physical, None, 0
        if isinstance(kind, (t.ByteType, t.ShortType)):
            return physical, types.intType(8 if isinstance(kind, t.ByteType) else 16, True), 0
        return physical, types.stringType() if isinstance(kind, t.StringType) else None, 0


PHYSICAL: dict[type[t.DataType], str] = {
    t.BooleanType: "BOOLEAN",
    t.ByteType: "INT32",
    t.ShortType: "INT32",
    t.IntegerType: "INT32",
    t.LongType: "INT64",
    t.FloatType: "FLOAT",
    t.DoubleType: "DOUBLE",
    t.StringType: "BINARY",
    t.BinaryType: "BINARY",
}


def time_unit(how: Java) -> str:
    return "MILLIS" if how.times == "MILLIS" else "MICROS"


def decimal_layout(kind: t.DecimalType, how: str) -> tuple[str, int]:
    if how in ("number", "long") and kind.precision <= 18:
        return ("INT32" if kind.precision <= 9 and how == "number" else "INT64"), 0
    if how == "binary":
        return "BINARY", 0
    return "FIXED_LEN_BYTE_ARRAY", (10**kind.precision).bit_length() // 8 + 1


class Calls:
    """The calls of a `RecordConsumer`, in bytes."""

    def __init__(self, how: Java) -> None:
        self.how = how
        self.out = io.BytesIO()

    def bytes(self) -> bytearray:
        return bytearray(self.out.getvalue())

    def end_message(self) -> None:
        self.out.write(b"e")

    def group(self, items: Any) -> None:
        """Write the fields of a group that are not null."""
        for index, (f, value) in enumerate(items):
            if value is not None:
                self._field(f.name, index, f.dataType, [value])

    def _field(self, name: str, index: int, kind: t.DataType, values: list[Any]) -> None:
        if not values:
            return
        raw = name.encode()
        mark = struct.pack(">H", len(raw)) + raw + struct.pack(">i", index)
        self.out.write(b"<" + mark)
        for value in values:
            self._value(kind, value, name)
        self.out.write(b">" + mark)

    def _value(self, kind: t.DataType, value: Any, name: str) -> None:
        if isinstance(kind, t.StructType):
            self.out.write(b"(")
            self.group((f, value[f.name]) for f in kind.fields)
            self.out.write(b")")
        elif isinstance(kind, t.ArrayType):
            middle, element = self.how.lists
            self.out.write(b"(")
            if element is None:  # which has no place for a null
                kept = [item for item in value if item is not None]
                self._field(middle.format(name), 0, kind.elementType, kept)
            else:
                holder = t.StructType([t.StructField(element, kind.elementType)])
                self._field(middle.format(name), 0, holder, [{element: item} for item in value])
            self.out.write(b")")
        elif isinstance(kind, t.MapType):
            _, middle, key, item = self.how.maps
            holder = t.StructType(
                [t.StructField(key, kind.keyType), t.StructField(item, kind.valueType)]
            )
            self.out.write(b"(")
            self._field(middle, 0, holder, [{key: k, item: v} for k, v in value])
            self.out.write(b")")
        else:
            self.out.write(self._leaf(kind, value))

    def _leaf(self, kind: t.DataType, value: Any) -> bytes:
        if isinstance(kind, t.DecimalType):
            return self._decimal(kind, int(value.scaleb(kind.scale, WIDE)))
        if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
            if self.how.times == "INT96" and isinstance(kind, t.TimestampType):
                days, rest = divmod(value, DAY)
                return _binary(struct.pack("<qi", rest * 1000, days + JULIAN_1970))
            return b"l" + struct.pack(">q", value // (1000 if self.how.times == "MILLIS" else 1))
        if isinstance(value, (str, bytes)):
            return _binary(utf8(value) if isinstance(value, str) else value)
        call, form = {
            t.BooleanType: (b"b", ">?"),
            t.LongType: (b"l", ">q"),
            t.FloatType: (b"f", ">f"),
            t.DoubleType: (b"d", ">d"),
        }.get(type(kind), (b"i", ">i"))
        return call + struct.pack(form, value)

    def _decimal(self, kind: t.DecimalType, unscaled: int) -> bytes:
        physical, length = decimal_layout(kind, self.how.decimals)
        if physical in ("INT32", "INT64"):
            form = b"i", ">i"
            call, layout = form if physical == "INT32" else (b"l", ">q")
            return call + struct.pack(layout, unscaled)
        size = length or (unscaled.bit_length() // 8 + 1)
        return _binary(unscaled.to_bytes(size, "big", signed=True))


def _binary(raw: bytes) -> bytes:
    return b"s" + struct.pack(">i", len(raw)) + raw

"""Texts whose bytes are no UTF-8, as Python holds them: each odd byte is a lone surrogate."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

# Cut short, too long, a surrogate, beyond Unicode, and bytes that begin nothing.
ODD = (
    b"\x80", b"\xff", b"\xff\xff\xff", b"\xc3", b"\xe8\xaa", b"\xf0\x9f\x98", b"\xed\xa0\x80",
    b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x00\xff", b"\xef\xbf\xbd\xff",
)  # fmt: skip


def draw_raw(rng: random.Random) -> str:
    """Draw a text with odd bytes at its start, in the middle, or where statistics cut it."""
    odd = rng.choice(ODD)
    number = str(rng.randrange(1000)).encode()
    found = rng.choice([odd, odd + number, b"text" + odd, b"a" * 31 + odd * 2 + number, odd * 40])
    return text_of_bytes(found)


def is_raw(text: str) -> bool:
    return any("\udc80" <= c <= "\udcff" for c in text)


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def text_of_bytes(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def as_delta_prints(text: str) -> str:
    """Give what the log says of a text: odd bytes become U+FFFD."""
    return utf8(text).decode("utf-8", "replace")


def to_arrow(values: list[Any], kind: t.DataType, stored: pa.DataType) -> pa.Array:
    """Make an array, whatever the bytes of its texts."""
    try:
        return pa.array(values, stored)
    except UnicodeEncodeError:
        encoded = [_changed(value, kind, utf8) for value in values]
        return pa.array(encoded, with_binary(stored)).cast(stored, safe=False)


def to_python(column: pa.ChunkedArray, kind: t.DataType) -> list[Any]:
    """Give the values of an array, whatever the bytes of its texts."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raw = column.cast(with_binary(column.type)).to_pylist()
        return [_changed(value, kind, text_of_bytes) for value in raw]


def with_binary(kind: pa.DataType) -> pa.DataType:
    """Give a type whose texts are bytes."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, with_binary(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, with_binary(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(with_binary(kind.key_type), with_binary(kind.item_type))
    return pa.binary() if pa.types.is_string(kind) else kind


def _changed(value: Any, kind: t.DataType, change: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, t.StructType):
        return {f.name: _changed(value[f.name], f.dataType, change) for f in kind.fields}
    if isinstance(kind, t.ArrayType):
        return [_changed(item, kind.elementType, change) for item in value]
    if isinstance(kind, t.MapType):
        return [
            (_changed(k, kind.keyType, change), _changed(v, kind.valueType, change))
            for k, v in value
        ]
    return change(value) if isinstance(kind, t.StringType) else value

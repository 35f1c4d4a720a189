"""Names, types and values as Spark's SQL spells them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import types as t

from foreign.raw_texts import utf8
from foreign.types import EPOCH


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def dotted(path: Iterable[str]) -> str:
    return ".".join(map(quoted, path))


def ddl(kind: t.DataType) -> str:
    """Spell a type; unlike `simpleString`, names may hold anything."""
    if isinstance(kind, t.StructType):
        return f"STRUCT<{', '.join(f'{quoted(f.name)}: {ddl(f.dataType)}' for f in kind.fields)}>"
    if isinstance(kind, t.ArrayType):
        return f"ARRAY<{ddl(kind.elementType)}>"
    if isinstance(kind, t.MapType):
        return f"MAP<{ddl(kind.keyType)}, {ddl(kind.valueType)}>"
    return kind.simpleString()


def sql_of(value: Any, kind: t.DataType) -> str:
    """Spell a value as a constant of its type."""
    return f"CAST({_constant(value, kind)} AS {ddl(kind)})"


def _constant(value: Any, kind: t.DataType) -> str:
    if value is None:
        return "NULL"
    if isinstance(kind, t.StructType):
        pairs = [f"{_text(f.name)}, {sql_of(value[f.name], f.dataType)}" for f in kind.fields]
        return f"named_struct({', '.join(pairs)})"
    if isinstance(kind, t.ArrayType):
        return f"array({', '.join(sql_of(item, kind.elementType) for item in value)})"
    if isinstance(kind, t.MapType):
        pairs = [f"{sql_of(k, kind.keyType)}, {sql_of(v, kind.valueType)}" for k, v in value]
        return f"map({', '.join(pairs)})"
    if isinstance(kind, t.DateType):
        return f"DATE'{(EPOCH + timedelta(days=value)).date().isoformat()}'"
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType)):
        moment = (EPOCH + timedelta(microseconds=value)).isoformat(sep=" ")
        if isinstance(kind, t.TimestampNTZType):
            return f"TIMESTAMP_NTZ'{moment}'"
        return f"TIMESTAMP'{moment}+00:00'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        return _text(value)
    return f"'{value:f}'" if isinstance(value, Decimal) else f"'{value}'"


def _text(value: str) -> str:
    if value.isascii() and value.isprintable():
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return f"CAST(X'{utf8(value).hex()}' AS STRING)"

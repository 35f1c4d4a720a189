"""parquet-java's own reader, without Spark: its rows come as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.extremes import WIDE
from foreign.filters import Filter


class JavaReader:
    """Reads by `ParquetReader`, whose filters go by row group, dictionary and column index."""

    def __init__(self, spark: SparkSession) -> None:
        self.gateway = spark.sparkContext._gateway
        self.rows = spark._jvm.io.deltaupkeep.ForeignRows

    def _list(self, texts: Sequence[str]) -> Any:
        found = self.gateway.jvm.java.util.ArrayList()
        for text in texts:
            found.add(text)
        return found

    def columns(self, file: str, schema: t.StructType) -> list[list[Any]]:
        """Give the values of every column, as `python_columns` does."""
        rows = json.loads(self.rows.read(file, self._list(schema.fieldNames())))
        kinds = [f.dataType for f in schema.fields]
        return [[_value(row[i], kind) for row in rows] for i, kind in enumerate(kinds)]

    def count(self, file: str, f: Filter) -> int | None:
        found: int = self.rows.count(file, self._list(f.path), f.operator, _text(f))
        return None if found < 0 else found

    def forms(self, file: str) -> list[str]:
        return list(self.rows.forms(file))


def _value(value: Any, kind: t.DataType) -> Any:
    if value is None:
        return None
    if isinstance(kind, t.StructType):
        return {f.name: _value(value[f.name], f.dataType) for f in kind.fields}
    if isinstance(kind, t.ArrayType):
        return [_value(item, kind.elementType) for item in value]
    if isinstance(kind, t.MapType):
        return [(_value(k, kind.keyType), _value(v, kind.valueType)) for k, v in value]
    if isinstance(kind, t.DecimalType):
        return Decimal(value).scaleb(-kind.scale, WIDE)
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        return float(value)
    if isinstance(kind, (t.StringType, t.BinaryType)):
        raw = value.encode("latin-1")
        return raw if isinstance(kind, t.BinaryType) else raw.decode()
    return value


def _text(f: Filter) -> str | None:
    if f.value is None:
        return None
    if isinstance(f.kind, t.DecimalType):
        return str(int(f.value.scaleb(f.kind.scale, WIDE)))
    if isinstance(f.value, float):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(
            str(f.value), str(f.value)
        )
    if isinstance(f.value, (str, bytes)):
        raw = f.value.encode() if isinstance(f.value, str) else f.value
        return raw.decode("latin-1")
    return str(f.value)

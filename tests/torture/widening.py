"""Has Delta widen types of columns, between the files of one type and those of the other."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pyspark.sql import types as t

from torture.sql_text import dotted
from torture.tables import DraftedTable

Path = tuple[str, ...]
INTEGERS = (t.ByteType(), t.ShortType(), t.IntegerType(), t.LongType())
# Wide enough for all 32 bits, and for all 64.
DECIMALS_OF_INT = (t.DecimalType(10, 0), t.DecimalType(12, 2), t.DecimalType(38, 10))
DECIMALS_OF_LONG = (t.DecimalType(20, 0), t.DecimalType(24, 4), t.DecimalType(38, 18))


def widen(table: DraftedTable) -> None:
    """Widen one or a few types, each once or twice, and append by Spark after each time."""
    draft, rng = table.draft, table.draft.rng
    property_ = "'delta.enableTypeWidening' = 'true'"
    table.spark.sql(f"ALTER TABLE {table.sql_name} SET TBLPROPERTIES ({property_})")
    for _ in range(rng.choice([1, 1, 2])):
        partitions = set(table.partition_columns())
        held = [f for f in table.frame().schema if f.name not in partitions]
        leaves = [leaf for f in held for leaf in leaves_of(f.dataType, (f.name,))]
        choices = [(path, wider_types(kind, rng)) for path, kind in leaves]
        choices = [(path, wider) for path, wider in choices if wider]
        for path, wider in rng.sample(choices, min(len(choices), rng.choice([1, 1, 2]))):
            kind = rng.choice(wider)
            wanted = f"{dotted(path)} TYPE {kind.simpleString()}"
            statement = f"ALTER TABLE {table.sql_name} ALTER COLUMN {wanted}"
            draft.notes.append(statement)
            table.spark.sql(statement)
            draft.schema = t.StructType(
                [
                    t.StructField(f.name, replaced(f.dataType, path[1:], kind))
                    if f.name == path[0]
                    else f
                    for f in draft.schema.fields
                ]
            )
        table.append(draft.part())


def can_be_widened(table: DraftedTable) -> bool:
    """Tell whether a column, or what it holds, has a type that Delta widens."""
    partitions = set(table.partition_columns())
    held = [f for f in table.frame().schema if f.name not in partitions]
    leaves = [kind for f in held for _, kind in leaves_of(f.dataType, (f.name,))]
    return any(wider_types(kind, random.Random(0)) for kind in leaves)


def leaves_of(kind: t.DataType, path: Path) -> Iterator[tuple[Path, t.DataType]]:
    """Name every leaf as ALTER TABLE does."""
    nested = (t.StructType, t.ArrayType, t.MapType)
    return (found for found in types_of(kind, path) if not isinstance(found[1], nested))


def types_of(kind: t.DataType, path: Path) -> Iterator[tuple[Path, t.DataType]]:
    """Name a type and every type in it as ALTER TABLE does."""
    yield path, kind
    if isinstance(kind, t.StructType):
        for f in kind.fields:
            yield from types_of(f.dataType, (*path, f.name))
    elif isinstance(kind, t.ArrayType):
        yield from types_of(kind.elementType, (*path, "element"))
    elif isinstance(kind, t.MapType):
        yield from types_of(kind.keyType, (*path, "key"))
        yield from types_of(kind.valueType, (*path, "value"))


def replaced(kind: t.DataType, path: Path, leaf: t.DataType) -> t.DataType:
    """Put another type at a path; a path that is not there changes nothing."""
    if not path:
        return leaf
    first, rest = path[0], path[1:]
    if isinstance(kind, t.StructType):
        return t.StructType(
            [
                t.StructField(f.name, replaced(f.dataType, rest, leaf)) if f.name == first else f
                for f in kind.fields
            ]
        )
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(replaced(kind.elementType, rest, leaf))
    if isinstance(kind, t.MapType):
        key = replaced(kind.keyType, rest, leaf) if first == "key" else kind.keyType
        value = replaced(kind.valueType, rest, leaf) if first == "value" else kind.valueType
        return t.MapType(key, value)
    return kind


def wider_types(kind: t.DataType, rng: random.Random) -> list[t.DataType]:
    """List what Delta widens a type to (protocol, 'Type Widening')."""
    if isinstance(kind, t.LongType):
        return list(DECIMALS_OF_LONG)
    if isinstance(kind, (t.ByteType, t.ShortType, t.IntegerType)):
        later = list(INTEGERS[INTEGERS.index(kind) + 1 :])
        return [*later, *later, t.DoubleType(), rng.choice(DECIMALS_OF_INT)]
    if isinstance(kind, t.FloatType):
        return [t.DoubleType()]
    if isinstance(kind, t.DateType):
        return [t.TimestampNTZType()]
    if isinstance(kind, t.DecimalType) and kind.precision < 38:
        more = rng.randint(1, 38 - kind.precision)
        after_point = rng.choice([0, 0, more, rng.randint(0, more)])
        return [t.DecimalType(kind.precision + more, kind.scale + after_point)]
    return []

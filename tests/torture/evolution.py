"""Alters the schema of a table at every depth, between the files of one schema and of the next."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from pyspark.sql import types as t

from torture.pools import Names
from torture.sql_text import ddl, dotted, quoted
from torture.tables import DraftedTable
from torture.widening import Path, leaves_of, types_of, wider_types

# Shares of evolved tables:
MAPPED = 0.5  # that may drop and rename
WIDENED = 0.3  # some of whose types are widened too
MOST_LEAVES = 40


def evolve(table: DraftedTable, tally: Counter[str]) -> None:
    """Alter the schema a few times, and append by Spark after some of them."""
    rng = table.draft.rng
    is_mapped = table.is_mapped()
    if not is_mapped and rng.random() < MAPPED:
        is_mapped = _set(table, "delta.columnMapping.mode", "name", tally)
    may_widen = rng.random() < WIDENED and _set(table, "delta.enableTypeWidening", "true", tally)
    for _ in range(rng.choice([1, 2, 2, 3])):
        statement, kind = draw_alteration(table, is_mapped, may_widen)
        table.draft.notes.append(statement)
        try:
            table.spark.sql(statement)
        except Exception as e:  # what Delta does not alter stays as it is
            table.draft.notes.append(f"not altered: {e!s:.200}")
            tally[f"evolution: {kind} refused by Delta"] += 1
            continue
        tally[f"evolution: {kind}"] += 1
        _follow(table)
        if rng.random() < 0.4:
            table.append(table.draft.part())


def _set(table: DraftedTable, key: str, value: str, tally: Counter[str]) -> bool:
    try:
        table.spark.sql(f"ALTER TABLE {table.sql_name} SET TBLPROPERTIES ('{key}' = '{value}')")
    except Exception:
        tally[f"evolution: {key} refused by Delta"] += 1
        return False
    return True


def _follow(table: DraftedTable) -> None:
    """Let later rows have the columns that the table has now."""
    partitions = set(table.partition_columns())
    held = [f for f in table.frame().schema if f.name not in partitions]
    table.draft.schema = t.StructType([t.StructField(f.name, f.dataType) for f in held])
    table.draft.mixed = False


def draw_alteration(table: DraftedTable, is_mapped: bool, may_widen: bool) -> tuple[str, str]:
    """Draw a statement, and the name of its kind."""
    draft, rng = table.draft, table.draft.rng
    partitions = set(table.partition_columns())
    schema = t.StructType([f for f in table.frame().schema if f.name not in partitions])
    structs = list(structs_of(schema))
    several = [(path, struct) for path, struct in structs if len(struct.fields) > 1]
    kinds = ["add"] * 3
    if several:
        kinds += ["move"] + (["drop", "rename"] if is_mapped else [])
    elif is_mapped:
        kinds += ["rename"]
    leaves = [(path, wider_types(leaf, rng)) for path, leaf in leaves_of(schema, ())]
    leaves = [(path, wider) for path, wider in leaves if wider]
    kinds += ["widen"] if may_widen and leaves else []
    kind = rng.choice(kinds)
    if kind == "widen":
        path, wider = rng.choice(leaves)
        wanted = f"{dotted(path)} TYPE {ddl(rng.choice(wider))}"
        return f"ALTER TABLE {table.sql_name} ALTER COLUMN {wanted}", "widen"
    path, struct = _deep_first(structs if kind in ("add", "rename") else several, rng)
    depth = "of a field" if path else "of a column"
    alter = f"ALTER TABLE {table.sql_name}"
    chosen = (*path, rng.choice(struct.fieldNames()))
    if kind == "add":
        name = free_name(schema, struct, rng, draft.tame, partitions if not path else set())
        deep = rng.choice([0, 0, 0, 1, 2]) if len(structs) < MOST_LEAVES else 0
        added = ddl(Names(rng, draft.tame).type(deep))
        place = rng.choice(["", "", " FIRST", f" AFTER {quoted(chosen[-1])}"])
        return f"{alter} ADD COLUMN ({dotted((*path, name))} {added}{place})", f"add {depth}"
    if kind == "move":
        others = [name for name in struct.fieldNames() if name != chosen[-1]]
        place = rng.choice(["FIRST", f"AFTER {quoted(rng.choice(others))}"])
        return f"{alter} ALTER COLUMN {dotted(chosen)} {place}", f"move {depth}"
    if kind == "drop":
        return f"{alter} DROP COLUMN {dotted(chosen)}", f"drop {depth}"
    name = free_name(schema, struct, rng, draft.tame, partitions if not path else set())
    return f"{alter} RENAME COLUMN {dotted(chosen)} TO {quoted(name)}", f"rename {depth}"


def structs_of(kind: t.DataType, path: Path = ()) -> Iterator[tuple[Path, t.StructType]]:
    """Name every struct as ALTER TABLE does; the table itself is the first."""
    for inner, found in types_of(kind, path):
        if isinstance(found, t.StructType):
            yield inner, found


def _deep_first(
    structs: list[tuple[Path, t.StructType]], rng: random.Random
) -> tuple[Path, t.StructType]:
    nested = [found for found in structs if found[0]]
    return rng.choice(nested if nested and rng.random() < 0.85 else structs)


def free_name(
    schema: t.StructType, struct: t.StructType, rng: random.Random, tame: bool, others: set[str]
) -> str:
    """Draw a name that the struct has not: often one of another depth, in any case."""
    taken = {name.lower() for name in [*struct.fieldNames(), *others]}
    whose = struct if rng.random() < 0.7 else schema
    elsewhere = [name for _, found in structs_of(whose) for name in found.fieldNames()]
    elsewhere += [name.swapcase() for name in elsewhere if name.isascii()]
    elsewhere = [name for name in elsewhere if name.lower() not in taken]
    if elsewhere and rng.random() < 0.75:
        return rng.choice(elsewhere)
    return Names(rng, tame).draw_beside(taken)

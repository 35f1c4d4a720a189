"""Whether others read what OPTIMIZE writes as they read its inputs: `python -m torture.matrix`."""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from foreign.checks.answers import Asked
from foreign.filters import Drawn, draw_filters
from foreign.forged import ForeignFile, forge
from foreign.readers import OF_ONE_BLOCK
from foreign.rows import python_columns
from foreign.strangers import panics
from foreign.table import ForeignTable, forget
from support.sessions import session_conf
from torture.cells import CELLS, LONG, LONG_ROWS, WIDE, Cell, Given
from torture.java_reader import JavaReader
from torture.reading import Place, Reader, Texts, read_columns, readers_of, texts_of
from torture.run import KEPT, READABLE
from torture.session import new_session
from torture.statements import short
from torture.writers import PLAIN

CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "LZ4_RAW", "BROTLI")
ENCODINGS_OF_COPIES = (
    "PLAIN",
    "RLE",
    "RLE_DICTIONARY",
    "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
    "BYTE_STREAM_SPLIT",
)
# What each bin is for. One whose largest file holds nearly all is left alone.
REWRITTEN = (
    ("spliced", "splice"),
    ("spliced", "transcode"),
    ("mixed", "transcode"),
    ("huge", "splice"),
    ("copied", "copy"),
    ("long", "splice"),
    ("long", "transcode"),
)
BIN = t.StructField("bin", t.StringType())
FILTERS = 8  # of each bin
LARGE = {"huge": {"string_10", "binary_11"}, "long": {*LONG.names}}
# Shares of tables:
CONVERTED = 0.3  # whose log is Delta's own
OF_ALL_AGES = 0.2  # with times far from today
# Any row group is large enough to be copied.
WHOLE_ROW_GROUPS = {"parquet.block.size": "10"}
ROW_READER = {"spark.sql.parquet.enableVectorizedReader": "false"}
NOT_VERIFIED = {
    "spark.deltaUpkeep.optimize.verify": "false",
    "spark.deltaUpkeep.optimize.spotCheck": "-1",
}


@dataclass
class SeenByReader:
    """What one reader saw of the inputs of a bin."""

    texts: Texts
    asked: list[Asked] = field(default_factory=list)


class Matrix:
    """Tries one cell after the other, and counts what was read."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root
        self.tally: Counter[str] = Counter()
        self.java = JavaReader(spark)
        self.readers = readers_of(self.java)

    def one(self, cell: Cell, seed: int) -> str | None:
        """Try a cell; give the report of what is wrong, whose table is kept."""
        folder = self.root / cell.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        forget(self.spark)
        try:
            problems = Trial(self, cell, seed, folder).run()
        except Exception:  # of the harness itself: as bad
            problems = [traceback.format_exc()]
        if not problems:
            shutil.rmtree(folder)
            return None
        self.tally["broken cells"] += 1
        again = (
            f"PYTHONPATH=tests {sys.executable} -m torture.matrix --seed {seed} --cells {cell.name}"
        )
        lines = [f"CELL {cell.name}: {len(problems)} problems", *(p[:1500] for p in problems[:20])]
        report = "\n  ".join([*lines, f"table kept below {folder}; again: {again}"])
        (folder / "report.txt").write_text(report)
        return report

    def gaps(self) -> list[str]:
        """Name what no cell has tried, once all are through."""
        wanted = [f"{reader} reads {name}" for reader in self.readers for name in WIDE.names]
        wanted += [f"new chunk: {codec} {v}" for codec, v in product(CODECS, ("v1", "v2"))]
        wanted += [f"bin bin={name}: {tier}" for name, tier in REWRITTEN]
        wanted += [f"encoding {encoding}" for encoding in ENCODINGS_OF_COPIES]
        return [name for name in wanted if not any(found.startswith(name) for found in self.tally)]


class Trial:
    """One cell: its table before and after OPTIMIZE."""

    def __init__(self, matrix: Matrix, cell: Cell, seed: int, folder: Path) -> None:
        self.matrix = matrix
        self.cell = cell
        self.folder = folder
        self.rng = random.Random(f"{seed} {cell.name}")
        self.tally = matrix.tally
        self.next_id = 0
        self.bins = self._bins()
        self.drawn: dict[str, list[pa.Table]] = {}
        self.problems: list[str] = []
        self.by_rows: set[str] = set()  # bins that Spark wrote

    def run(self) -> list[str]:
        try:
            table = self._make()
        except Exception as e:
            self.tally[f"{self.cell.name}: not written: {e!s:.100}"] += 1
            return []
        names = list(self.drawn)
        before = {name: self._see(table, name) for name in names}
        self._optimize(table)
        for name in names:
            self._compare(table, name, before[name])
        return self.problems

    def _make(self) -> ForeignTable:
        cell, rng = self.cell, self.rng
        files = []
        # INT96 is nanoseconds to some, which end in 2262.
        ages = cell.times != "int96" and rng.random() < OF_ALL_AGES
        for name, writers in self.bins.items():
            rows = []
            for writer, count in writers:
                of = replace(writer, schema=cell.schema)
                in_range = ages and writer.times != "int96"
                rows.append(of.rows(count, self._ids(count), rng, name == "huge", in_range))
            self.drawn[name] = rows
            for (writer, _), some in zip(writers, rows, strict=True):
                how = rng.choice(["none", "count", "full"])
                given = Given(writer.writer, some)
                files.append(ForeignFile(given, rows=0, stats=how, partition=name))
        table = forge(self.matrix.spark, self.folder, cell.schema, files, BIN)
        if rng.random() < CONVERTED:
            self._convert(table)
        return table

    def _convert(self, table: ForeignTable) -> None:
        """Let Delta write the log, where it finds one schema in all files."""
        log, aside = table.path / "_delta_log", self.folder / "log"
        log.rename(aside)
        try:
            DeltaTable.convertToDelta(table.spark, f"parquet.`{table.path}`", f"{BIN.name} STRING")
        except Exception:
            shutil.rmtree(log, ignore_errors=True)
            aside.rename(log)
            self.tally["tables not converted"] += 1
        else:
            self.tally["tables converted"] += 1

    def _reads(self, table: ForeignTable, conf: dict[str, str], where: str = "true") -> bool:
        """Tell whether Spark reads the rows of a table."""
        try:
            with session_conf(self.matrix.spark, READABLE | conf):
                table.frame().where(where).write.format("noop").mode("overwrite").save()
        except Exception:
            return False
        return True

    def _ids(self, count: int) -> int:
        first = self.next_id
        self.next_id += count
        return first

    def _bins(self) -> dict[str, list[tuple[Cell, int]]]:
        """Say who writes how many rows of each file."""
        cell = self.cell
        if cell.is_long:
            return {"long": [(cell, LONG_ROWS), (cell, LONG_ROWS)]}
        copied = {"copied": [(cell, 40), (cell, 30)]}
        if cell.is_brotli:
            return copied
        # Large pages of Hadoop's own LZ4 are read by few: these come from others.
        plain = replace(cell, writer=PLAIN) if cell.codec == "lz4" else cell
        others = [c for c in CELLS if c.schema is WIDE and not c.is_brotli]
        return {
            "spliced": [(cell, 40), (cell, 1), (cell, 60)],
            "mixed": [(cell, 30), (self.rng.choice(others), 30), (cell, 20)],
            "huge": [(plain, 4), (plain, 3)],
            **copied,
        }

    def _place(self, table: ForeignTable, name: str) -> Place:
        files = sorted(table.file_of(add) for add in table.adds(name).values())
        return Place(table.path, table.version(), name, tuple(files))

    def _see(self, table: ForeignTable, name: str) -> dict[str, SeenByReader]:
        """Read by all; a reader that reads no column, or not as it was written, leaves it out."""
        schema = self.cell.schema
        place = self._place(table, name)
        drawn = python_columns(pa.concat_tables(self.drawn[name]), schema)
        truth = texts_of(drawn, schema)
        filters = draw_filters(schema, drawn, self.rng, FILTERS)
        found = {}
        for reader, by in self.matrix.readers.items():
            texts, errors = read_columns(by, place, schema)
            for column, error in errors.items():
                self._leave_out(reader, column, "cannot read", error)
            if self.cell.codec == "lz4" and name in LARGE and reader in OF_ONE_BLOCK:
                for column in LARGE[name] & texts.keys():
                    del texts[column]
                    self._leave_out(reader, column, "is not asked for", "LZ4 in several blocks")
            for column in [column for column, values in texts.items() if values != truth[column]]:
                del texts[column]
                self._leave_out(reader, column, "reads otherwise than written", "")
            for column in texts:
                self.tally[f"{reader} reads {column}"] += 1
            found[reader] = SeenByReader(texts)
            found[reader].asked = [
                a for d in filters if d.filter.path[0] in texts for a in ask(reader, by, place, d)
            ]
        return found

    def _leave_out(self, reader: str, column: str, what: str, error: str) -> None:
        family = self.cell.name.split("-")[0]
        self.tally[f"{reader} {what} {column} of {family}: {error:.80}"] += 1

    def _optimize(self, table: ForeignTable) -> None:
        cell = self.cell
        conf = READABLE | cell.conf(self.rng)
        conf |= {"spark.sql.session.timeZone": "UTC"}
        if not self._reads(table, conf):  # in batches
            conf |= ROW_READER
        if cell.is_brotli:  # which Spark does not read
            conf |= NOT_VERIFIED
        for where, more in (("bin <> 'copied'", {}), ("bin = 'copied'", WHOLE_ROW_GROUPS)):
            if cell.is_brotli and not more:
                continue
            with session_conf(self.matrix.spark, conf | more):
                try:
                    (row,) = table.spark.sql(f"OPTIMIZE {table.sql_name} WHERE {where}").collect()
                except Exception as e:
                    if self._reads(table, conf, where):
                        self.problems.append(f"OPTIMIZE WHERE {where} fails: {short(e)}")
                    else:
                        self.tally[f"OPTIMIZE of {cell.codec} fails, and Spark reads no row"] += 1
                    continue
            for b in row.bins:
                if b.tier == "rows":
                    self.by_rows.add(b.partition.removeprefix(f"{BIN.name}="))
                self.tally[f"bin {b.partition}: {b.tier}"] += 1
                if b.status == "left":
                    self.tally[f"bin left: {re.sub(',? in file:.*', '', b.reason)}"] += 1
                elif b.status != "committed":
                    self.problems.append(f"bin {b.partition} is {b.status}: {b.reason}")

    def _compare(self, table: ForeignTable, name: str, before: dict[str, SeenByReader]) -> None:
        place = self._place(table, name)
        forms: list[str] = []
        for file in place.files:
            forms += self.matrix.java.forms(file)
        for form in set(forms):
            self.tally[f"new chunk: {form}"] += 1
            self.tally.update(f"encoding {name}" for name in form.split()[2].split("+"))
        for reader, seen in before.items():
            by = self.matrix.readers[reader]
            fields = [f for f in self.cell.schema.fields if f.name in {"id", *seen.texts}]
            if not seen.texts:
                continue
            texts, errors = read_columns(by, place, t.StructType(fields))
            where = f"{name} {place.files} by {reader}"
            for column, error in errors.items():
                if self._is_of_spark(reader, name, column, error):
                    self._leave_out(reader, column, "cannot read, by rows,", error)
                else:
                    self.problems.append(f"{where}: {column} cannot be read any more: {error:.300}")
            for column, now in texts.items():
                self.tally["columns compared"] += 1
                told = _difference(seen.texts.get(column, now), now)
                if told:
                    self.problems.append(f"{where}: {column} is read otherwise: {told}")
            for a in seen.asked:
                if a.filter.path[0] not in errors:
                    self._count_again(by, place, a, where)

    def _is_of_spark(self, reader: str, name: str, column: str, error: str) -> bool:
        """Tell whether polars lacks the encoding that Spark has for long decimals in version 2."""
        is_long = re.search(
            r"decimal\((19|[23]\d)", self.cell.schema[column].dataType.simpleString()
        )
        by_rows = name in self.by_rows and is_long is not None
        return reader == "polars" and by_rows and "DeltaByteArray" in error

    def _count_again(self, by: Reader, place: Place, asked: Asked, where: str) -> None:
        try:
            with panics():
                now = by.count(place, asked.filter)
        except Exception as e:
            self.problems.append(f"{where}: {asked.filter} fails now: {e!s:.300}")
            return
        self.tally["filters compared"] += 1
        if not asked.allows(now):
            self.problems.append(f"{where}: {asked} finds {now} rows")


def ask(reader: str, by: Reader, place: Place, drawn: Drawn) -> list[Asked]:
    """Count before; none where the reader has no such filter."""
    try:
        with panics():
            count = by.count(place, drawn.filter)
    except Exception:  # it has no such filter
        return []
    return [] if count is None else [Asked(reader, drawn.filter, (count, *drawn.truths()))]


def _difference(before: list[str], now: list[str]) -> str | None:
    if before == now:
        return None
    if len(before) != len(now):
        return f"{len(now)} rows instead of {len(before)}"
    some = [(old, new) for old, new in zip(before, now, strict=True) if old != new]
    shown = [(old[:100], new[:100]) for old, new in some[:2]]
    return f"{len(some)} values differ: {shown}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", default="", help="only those that start so, after commas")
    args = parser.parse_args()
    seed = args.seed or int(time.time())
    print(f"readers from seed {seed}", flush=True)
    with new_session() as spark:
        matrix = Matrix(spark, KEPT / "readers")
        for cell in CELLS:
            if cell.name.startswith(tuple(args.cells.split(","))):
                report = matrix.one(cell, seed)
                if report:
                    print(report, flush=True)
    for name, count in sorted(matrix.tally.items()):
        print(f"{count:6} {name}")
    gaps = [] if args.cells else matrix.gaps()
    print("\n".join(f"NOT TRIED: {gap}" for gap in gaps))
    return 1 if gaps or matrix.tally["broken cells"] else 0


if __name__ == "__main__":
    sys.exit(main())

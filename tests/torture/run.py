"""Draws tables, runs statements on them, and tells what they broke: `python -m torture.run`."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from itertools import count
from pathlib import Path

from pyspark.sql import SparkSession

from foreign.checks import Broken
from foreign.checks.seen import Seen
from foreign.table import forget
from support.sessions import session_conf
from torture.damage import try_damaged_vector
from torture.draft import Draft
from torture.evolution import evolve
from torture.large import try_large
from torture.plan import Plan
from torture.session import new_session
from torture.statements import Statements, draw_conf, short
from torture.tables import ORIGINS, DraftedTable, delete_by_vectors
from torture.widening import can_be_widened, widen

LARGE = 0.03  # the share of tables whose rows take gigabytes
# Vectored, Spark 4.2 misreads DELTA_BYTE_ARRAY pages that are not compressed, its own too.
READABLE = {"parquet.hadoop.vectored.io.enabled": "false"}
# Spark holds as many rows at a time, whatever they take.
FEW_ROWS = {"spark.sql.parquet.columnarReaderBatchSize": "4"}
KEPT = Path(__file__).parent.parent.parent / "build/torture"


def is_large(seed: int) -> bool:
    return random.Random(-seed).random() < LARGE


class Torture:
    """Runs one table after the other, and counts what happened."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root
        self.tally: Counter[str] = Counter()

    def one(self, seed: int) -> str | None:
        """Try the table of a seed; give the report of a failure, whose table is kept."""
        folder = self.root / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        rng = random.Random(seed)
        notes: list[str] = []
        forget(self.spark)
        try:
            plan = Plan.of(seed)
            conf = READABLE | draw_conf(plan, rng, notes) | (FEW_ROWS if is_large(seed) else {})
            with session_conf(self.spark, conf):
                if is_large(seed):
                    try_large(self.spark, folder, rng, notes)
                    self.tally["large values: tried"] += 1
                else:
                    self._try(plan, rng, folder, notes)
        except Broken as e:
            problem = str(e)
        except Exception:  # of the harness itself: as bad
            problem = traceback.format_exc()
        else:
            shutil.rmtree(folder)
            return None
        self.tally["broken"] += 1
        report = "\n  ".join(
            [
                f"SEED {seed}: {problem[:3000]}",
                *(note[:600] for note in notes),
                f"table kept below {folder}; again: "
                f"PYTHONPATH=tests {sys.executable} -m torture.run --seed {seed} --tables 1",
            ]
        )
        (folder / "report.txt").write_text(report)
        return report

    def _try(self, plan: Plan, rng: random.Random, folder: Path, notes: list[str]) -> None:
        origin = plan.origin
        draft = Draft(rng, plan)
        notes.append(f"table {origin}, {', '.join(plan.kinds())}")
        draft.notes = notes
        notes += [f"columns {draft.whole.simpleString()}"]
        try:
            table = ORIGINS[origin](self.spark, folder / "table", draft)
            if plan.widened and can_be_widened(table):
                self._widen(table)
            if plan.evolved:
                evolve(table, self.tally)
            seen = Seen.of(table, rng, self.tally, notes)
            if plan.hidden:
                self._delete_by_vectors(table)
                seen = Seen.of(table, rng, Counter(), notes).with_those_of(seen)
        except Exception as e:  # a table that nobody can make or read says nothing of us
            self.tally[f"{origin}: not made or not read by Delta"] += 1
            (self.root / "unreadable.txt").open("a").write(f"{folder.name} {origin} {short(e)}\n")
            return
        self.tally[f"{origin}: tried"] += 1
        self.tally.update(f"drawn: {kind}" for kind in plan.kinds())
        statements = Statements(table, rng, self.tally)
        if plan.damaged and table.has_vectors():
            if not try_damaged_vector(table, self.tally):
                return
            seen.check_rows("OPTIMIZE with a damaged vector")
        self._optimize(statements, seen)
        statements.others(seen)
        if rng.random() < 0.4:
            self._again(table, statements, rng)

    def _widen(self, table: DraftedTable) -> None:
        try:
            widen(table)
        except Exception as e:  # what Delta has not widened stays as it is
            table.draft.notes.append(f"not widened: {e!s:.200}")
            self.tally["widened types: refused by Delta"] += 1
        else:
            self.tally["widened types: written"] += 1

    def _delete_by_vectors(self, table: DraftedTable) -> None:
        try:
            delete_by_vectors(table)
        except Exception as e:  # what Delta cannot delete stays
            table.draft.notes.append(f"not deleted: {e!s:.200}")
            self.tally["deletion vectors: refused by Delta"] += 1
        else:
            self.tally["deletion vectors: written"] += 1

    def _optimize(self, statements: Statements, seen: Seen) -> None:
        statement = statements.optimize()
        if statement is None:
            return
        if seen.ids is not None:
            self.tally["row ids: compared"] += 1
        for check in (seen.check_rows, seen.check_filters, seen.check_strangers):
            check(statement)

    def _again(self, table: DraftedTable, statements: Statements, rng: random.Random) -> None:
        """Append by Spark, and go round once more."""
        try:
            table.append(table.draft.part())
            seen = Seen.of(table, rng, Counter(), table.draft.notes)
        except Exception as e:
            self.tally[f"append by Spark refused: {type(e).__name__}"] += 1
            return
        self._optimize(statements, seen)
        statements.others(seen)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tables", type=int, default=0, help="as many instead of by minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a kind of table that plan.py draws, such as defaults")
    args = parser.parse_args()
    seed = args.seed or int(time.time())
    print(f"torture from seed {seed} on", flush=True)
    seeds = (s for s in count(seed) if not args.only or getattr(Plan.of(s), args.only))
    with new_session() as spark:
        torture = Torture(spark, KEPT)
        end = time.monotonic() + 60 * args.minutes
        tried = 0
        while tried < args.tables if args.tables else time.monotonic() < end:
            report = torture.one(next(seeds))
            tried += 1
            if report:
                print(report, flush=True)
    for name, number in sorted(torture.tally.items()):
        print(f"{number:6} {name}")
    print(f"{tried} tables from seed {seed} on, {torture.tally['broken']} broken")
    return 1 if torture.tally["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

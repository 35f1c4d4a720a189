"""Random histories of tables, and what VACUUM deletes of each: `python -m torture.vacuum.run`."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pyspark.sql import Row, SparkSession

from foreign.checks import Broken
from foreign.table import forget
from support.sessions import session_conf
from torture.run import KEPT
from torture.session import new_session
from torture.statements import short
from torture.vacuum.drawn import HOUR_MS, Drawn
from torture.vacuum.truth import Truth

CONF = {
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # Entries of today would stand between commits of the past.
    "spark.databricks.delta.vacuum.logging.enabled": "false",
}
LEFT = "left to a later run by maxFiles or maxBytes"


@dataclass
class Vacuumed:
    """A table with a random past, on which VACUUM runs."""

    spark: SparkSession
    table: Drawn
    truth: Truth
    tally: Counter[str]

    def run(self) -> None:
        rng, table = self.table.rng, self.table
        table.begin()
        until = 50.0
        for hours in rng.choice([(40, 26), (30, 9), (48, 30, 12, 3), (1, 40, 20), (12, 48, 3)]):
            table.live_on(rng.choice([3, 8, 15]), until)
            until /= 2
            if hours != table.hours:
                table.retain(hours)
            self.truth.learn()
            if rng.random() < 0.5:
                self._checkpoint()
            if rng.random() < 0.3:
                self._clean_up()
            for _ in range(rng.choice([0, 1, 1, 2])):
                self._vacuum(None)
        table.live_on(3, 0.1)
        self._vacuum(None)
        # Delta 4.1 and newer ignore RETAIN unless it is 0.
        if rng.random() < 0.3:
            self._vacuum(0)

    def _checkpoint(self) -> None:
        self._sql(f"CHECKPOINT delta.`{self.table.path}`")
        if self.table.rng.random() < 0.5:
            self._clean()

    def _clean(self) -> None:
        """Delete the commits that no version inside retention needs: the checkpoint is older."""
        version = self.table.version
        if version < self.truth.oldest_promised(self.table.now - self.table.hours * HOUR_MS):
            for old in range(version):
                (self.table.log / f"{old:020}.json").unlink(missing_ok=True)
            self.table.notes.append(f"commits before {version} are gone")
            self.tally["logs cleaned"] += 1

    def _clean_up(self) -> None:
        """Run CLEANUP LOG, which writes down what VACUUM has not read of the commits that go."""
        statement = f"CLEANUP LOG delta.`{self.table.path}` RETAIN {self.table.hours} HOURS"
        row = self._sql(statement)[0]
        if row.filesDeleted:
            self.table.notes.append(f"{statement} -> {row.message}")
            self.tally["logs cleaned up"] += 1
            self.tally["records written"] += "written down for VACUUM" in row.message

    def _vacuum(self, retain: int | None) -> None:
        rng, table = self.table.rng, self.table
        mode = rng.choice(["auto", "full", "full", "log"])
        options = [f"mode = '{mode}'"]
        if rng.random() < 0.3:
            options.append(rng.choice(["maxFiles = 1", "maxFiles = 3", "maxBytes = 12"]))
        clause = "" if retain is None else f"RETAIN {retain} HOURS"
        statement = f"VACUUM delta.`{table.path}` {clause} {{}} OPTIONS ({', '.join(options)})"
        hours = table.hours if retain is None else retain
        cutoff = int(time.time() * 1000) - hours * HOUR_MS
        self.truth.learn()
        # Nothing happens in the second that a run takes.
        first = self.truth.oldest_promised(cutoff)
        before = self._files()
        try:
            *planned, _ = self._sql(statement.format("DRY RUN"))
        except Exception as e:
            if mode == "log" and "COMMITS_CLEANED_UP" in str(e):
                self.tally["log is incomplete"] += 1
                return
            raise
        if self._files() != before:
            raise Broken("a dry run changed files")
        runs = [self._sql(statement.format(""))[0]]
        while any(reason.reason == LEFT for reason in runs[-1].reasons):
            if not runs[-1].filesDeleted:
                raise Broken(f"{statement} leaves files to the next run, and has deleted none")
            runs.append(self._sql(statement.format(""))[0])
        table.notes.append(f"{statement} -> {[run.filesDeleted for run in runs]} {runs[0].message}")
        self.tally[f"by {runs[0].mode}"] += 1
        deleted = before.keys() - self._files().keys()
        self.tally["files deleted"] += len(deleted)
        self._check_kept(deleted, first)
        self._check_deleted(deleted, before, cutoff, first, runs[0])
        if len(runs) == 1:
            root = f"file:{table.path}/"
            told = {
                row.path.removeprefix(root)
                for row in planned
                if (row.verdict, row.kind) == ("delete", "file")
            }
            # The log does not tell which files an earlier run has deleted.
            if told & before.keys() != deleted:
                raise Broken(f"the dry run said {sorted(told)}, but {sorted(deleted)} were deleted")

    def _check_kept(self, deleted: set[str], first: int) -> None:
        lost = deleted & (self.truth.needed(first) | self.table.of_others)
        if lost:
            raise Broken(f"versions from {first} on need {sorted(lost)}")

    def _check_deleted(
        self, deleted: set[str], before: dict[str, int], cutoff: int, first: int, run: Row
    ) -> None:
        """Assert that what nobody needs is gone, unless its removal says that it is newer."""
        unneeded = before.keys() - self.truth.needed(first) - self.truth.stamped_since(cutoff)
        removed = self.truth.removed(first)
        if run.mode == "log":
            strange = deleted - removed
            if strange:
                raise Broken(f"no commit up to {first} removed {sorted(strange)}")
            due = unneeded & removed - self.truth.spelled_absolute()
        else:
            due = {name for name in unneeded if before[name] < cutoff and not self._is_hidden(name)}
            due -= self.table.of_others
        left = due - deleted
        if left:
            raise Broken(f"{sorted(left)} were left by {run.message}")

    def _is_hidden(self, name: str) -> bool:
        shown = ("_delta_index", "_change_data", f"{self.table.column}=")
        return any(
            part.startswith(("_", ".")) and not part.startswith(shown) for part in name.split("/")
        )

    def _files(self) -> dict[str, int]:
        root = self.table.path
        return {
            str(file.relative_to(root)): file.stat().st_mtime_ns // 1_000_000
            for file in root.rglob("*")
            if file.is_file() and file.relative_to(root).parts[0] != "_delta_log"
        }

    def _sql(self, statement: str) -> list[Row]:
        try:
            return self.spark.sql(statement).collect()
        except Exception as e:
            self.table.notes.append(f"{statement} failed")
            if "COMMITS_CLEANED_UP" in str(e):
                raise
            raise Broken(f"{statement} failed: {short(e)}") from e


class Vacuums:
    """Runs one history after the other, and counts what happened."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root / "vacuum"
        self.tally: Counter[str] = Counter()

    def one(self, seed: int) -> str | None:
        """Run the history of a seed; give the report of a failure, whose table is kept."""
        folder = self.root / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        forget(self.spark)
        table = Drawn(folder / "t", random.Random(seed), int(time.time() * 1000))
        as_job = {"spark.deltaUpkeep.driverBytes": "1k"} if table.rng.random() < 0.03 else {}
        try:
            with session_conf(self.spark, CONF | as_job):
                Vacuumed(self.spark, table, Truth(table.path), self.tally).run()
        except Broken as e:
            problem = str(e)
        except Exception:  # of the harness itself: as bad
            problem = traceback.format_exc()
        else:
            self.tally["histories"] += 1
            shutil.rmtree(folder)
            return None
        self.tally["broken"] += 1
        again = (
            f"PYTHONPATH=tests {sys.executable} -m torture.vacuum.run --seed {seed} --histories 1"
        )
        lines = [f"VACUUM {seed}: {problem[:3000]}", *(note[:700] for note in table.notes)]
        return "\n  ".join([*lines, f"table kept in {table.path}; again: {again}"])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--histories", type=int, default=0, help="as many instead of by minutes")
    args = parser.parse_args()
    seed = args.seed or int(time.time())
    print(f"tables from seed {seed} on", flush=True)
    end = time.monotonic() + 60 * args.minutes
    with new_session() as spark:
        vacuums = Vacuums(spark, KEPT)
        numbers = range(seed, seed + args.histories) if args.histories else count(seed)
        for number in numbers:
            if not args.histories and time.monotonic() > end:
                break
            report = vacuums.one(number)
            if report:
                print(report, flush=True)
    for name, times in sorted(vacuums.tally.items()):
        print(f"{times:6} {name}")
    print(f"from seed {seed} on, {vacuums.tally['broken']} broken")
    return 1 if vacuums.tally["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

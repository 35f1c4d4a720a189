"""Runs a statement on a table with a damaged log, and judges what it left."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from foreign.checks import Broken
from foreign.rows import Rows, difference
from foreign.table import forget
from support.sessions import session_conf
from torture.histories.readers import (
    Read,
    by_spark,
    checkpoint_by_delta,
    files_below,
    rows_by_delta_rs,
)
from torture.log_damage.damages import Damage
from torture.log_damage.tables import Template
from torture.statements import short

INSERT = "INSERT"
STATEMENTS = {
    "OPTIMIZE": "OPTIMIZE {t}",
    "OPTIMIZE DRY RUN": "OPTIMIZE {t} DRY RUN",
    "CHECKPOINT": "CHECKPOINT {t}",
    "CHECKPOINT full": "CHECKPOINT {t} OPTIONS (mode = 'full')",
    "CLEANUP LOG": "CLEANUP LOG {t}",
    "DESCRIBE HEALTH": "DESCRIBE HEALTH {t}",
    "MAINTAIN": "MAINTAIN {t}",
    INSERT: "INSERT INTO {t} VALUES (100, 0, 'new')",
}
READS_ONLY = ("OPTIMIZE DRY RUN", "DESCRIBE HEALTH")
# After a commit the hook writes a checkpoint and cleans up.
COMMITS = ("OPTIMIZE", "MAINTAIN", INSERT)
CLEANS = ("CLEANUP LOG", *COMMITS)
CHECKPOINTS = ("CHECKPOINT", "CHECKPOINT full", *COMMITS)


@dataclass
class Trial:
    """One damage of one table."""

    spark: SparkSession
    template: Template
    damage: Damage
    folder: Path
    tally: Counter[str]
    notes: list[str] = field(default_factory=list)
    copies: int = 0

    def __post_init__(self) -> None:
        self.by_delta = self._rows_by_delta(self._copy("read by Delta"))
        how = "reads"
        if self.by_delta is None:
            how = "refuses"
        elif self.by_delta != self.whole:
            how = "reads other rows of"
        self.notes.append(f"Delta {how} the damaged table")
        self.tally[f"Delta {how} a damaged table"] += 1

    @property
    def whole(self) -> Rows:
        """The rows before the damage."""
        return self.template.reads[self.template.newest].rows

    def _new_path(self, name: str) -> Path:
        self.copies += 1
        return self.folder / f"{self.copies}-{name.replace(' ', '-')}"

    def _copy(self, name: str) -> Path:
        path = self._new_path(name)
        shutil.copytree(self.template.path, path)
        self.damage.do(path / "_delta_log")
        return path

    def _rows_by_delta(self, path: Path, version: int | None = None) -> Rows | None:
        """Read a table as a session does that has just started; None if Delta refuses."""
        read = self._read(path, version)
        return None if read is None else read.rows

    def _read(self, path: Path, version: int | None) -> Read | None:
        forget(self.spark)
        try:
            return by_spark(self.spark, path, version)
        except Exception as e:
            self.refusal = short(e)
            return None

    def run(self, statement: str) -> None:
        """Run a statement on a copy of its own, and judge."""
        path = self._copy(statement)
        before = files_below(path)
        forget(self.spark)
        error = self._error(statement, path)
        if error is not None:
            self._judge_error(statement, path, error)
        after = files_below(path)
        if after == before:
            self.tally[f"{statement}: {'done, ' if error is None else 'refused, '}no change"] += 1
            shutil.rmtree(path)
            return
        if statement in READS_ONLY:
            raise Broken(f"{statement} changed files: {set(after.items()) ^ set(before.items())}")
        self.tally[f"{statement}: {'done' if error is None else 'refused after changes'}"] += 1
        self._judge_rows(statement, path, error is not None)
        self._judge_versions(statement, path)
        shutil.rmtree(path)

    def _error(self, statement: str, path: Path, mode: str = "sync") -> Exception | None:
        conf = {
            "spark.deltaUpkeep.checkpoint.mode": mode,
            # Every commit is followed by a checkpoint and a cleanup.
            "spark.deltaUpkeep.checkpoint.commitBytes": "1",
        }
        try:
            with session_conf(self.spark, conf):
                self.spark.sql(STATEMENTS[statement].format(t=f"delta.`{path}`")).collect()
        except Exception as e:
            return e
        return None

    def _judge_error(self, statement: str, path: Path, error: Exception) -> None:
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        if condition and condition.startswith("DELTA_UPKEEP."):
            self.tally[f"refused with {condition}"] += 1
            return
        if self.by_delta is None:
            self.tally[
                f"{statement} refused by Delta with {condition or type(error).__name__}"
            ] += 1
            return
        if statement == INSERT:
            again = self._error(statement, self._copy("insert without us"), mode="delta")
            if again is not None:
                self.tally["INSERT refused by Delta"] += 1
                return
        if condition is None:
            raise Broken(f"{statement}: an error without a condition: {short(error)}")
        self.tally[f"{statement} refused with {condition}, though Delta reads"] += 1
        self.notes.append(f"{statement} refused with {short(error)[:300]}")

    def _judge_rows(self, statement: str, path: Path, has_failed: bool) -> None:
        """Compare what Delta reads now, the damage still there, with what it read before."""
        now = self._rows_by_delta(path)
        if now is None:
            if self.by_delta is not None:
                raise Broken(f"{statement}: Delta no longer reads the table: {self.refusal}")
            return
        if statement == INSERT and not has_failed:
            now = now - Rows({row: 1 for row in now if "100" in row and "'new'" in row})
        if now not in (self.by_delta, self.whole):
            told = difference(self.whole, now)
            raise Broken(f"{statement}: other rows, the damage still there: {told}")

    def _judge_versions(self, statement: str, path: Path) -> None:
        log, whole = path / "_delta_log", self.template.path / "_delta_log"
        floor = self.template.floor if statement in CLEANS else 0
        self._judge_rebuilt(statement, path, floor)
        self.damage.undo(log, whole)
        wrong = self._wrong(path, floor)
        if not wrong:
            return
        if statement in CHECKPOINTS and self._is_wrong_by_delta(floor):
            self.tally[f"{statement}: holds the damage, as Delta's checkpoint does"] += 1
            return
        raise Broken(f"{statement}: once the damage is undone, {wrong}")

    def _wrong(self, path: Path, floor: int) -> str:
        """Say which version from `floor` on has other rows than before; empty if none has."""
        newest = self.template.newest
        for version, read in self.template.reads.items():
            if version < floor:
                continue
            if version in self.template.by_delta_rs:
                found = rows_by_delta_rs(path, version, read.schema)
                told = "nothing" if found is None else difference(read.rows, found)
                if told:
                    return f"version {version} is read by delta-rs with {told}"
            if version in (floor, newest) or version not in self.template.by_delta_rs:
                rows = self._rows_by_delta(path, version)
                told = self.refusal if rows is None else difference(read.rows, rows)
                if told:
                    return f"version {version} is read by Delta with {told}"
        return ""

    def _is_wrong_by_delta(self, floor: int) -> bool:
        """Tell whether a checkpoint by Delta alone leaves the same behind."""
        path = self._copy("checkpoint by Delta")
        forget(self.spark)
        try:
            checkpoint_by_delta(self.spark, path)
        except Exception:
            return False
        self.damage.undo(path / "_delta_log", self.template.path / "_delta_log")
        is_wrong = bool(self._wrong(path, floor))
        shutil.rmtree(path)
        return is_wrong

    def _judge_rebuilt(self, statement: str, path: Path, floor: int) -> None:
        """Compare what the undamaged files alone give, before and after."""
        log = path / "_delta_log"
        if not any(self.damage.is_there(log, name) for name in self.damage.files):
            return
        before = self._copy("undamaged files")
        self.damage.remove(before / "_delta_log")
        after = self._new_path("undamaged after")
        shutil.copytree(path, after)
        self.damage.remove(after / "_delta_log")
        for version in (floor, self.template.newest):
            expected = self.template.reads[version].rows
            if self._rows_by_delta(before, version) != expected:
                continue
            rows = self._rows_by_delta(after, version)
            told = self.refusal if rows is None else difference(expected, rows)
            # A flipped bit may be one that nobody reads, and a damaged commit the last one.
            if told and self._rows_by_delta(path, version) != expected:
                raise Broken(
                    f"{statement}: without the damaged files version {version} could be read, and "
                    f"now it cannot: {told}"
                )
        self.tally["rebuilt from undamaged files"] += 1
        shutil.rmtree(before)
        shutil.rmtree(after)

"""Draws a table's history, and runs our statements in between what users do."""

from __future__ import annotations

import random
import shutil
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from foreign.checks import Broken
from foreign.table import forget, version_of
from support.sessions import session_conf
from torture.histories.ages import age
from torture.histories.readers import checkpoint_of, files_below
from torture.histories.shapes import Shape
from torture.histories.truth import Truth
from torture.histories.users import OF_OTHER_ENGINES, WITHOUT_HOOKS, User
from torture.statements import short

DELTA = "spark.databricks.delta"
SECONDS_TO_CHECKPOINT = 30
SETTINGS: dict[str, tuple[float, list[str]]] = {
    "spark.deltaUpkeep.optimize.verify": (1.0, ["true", "false"]),
    "spark.deltaUpkeep.optimize.engine": (0.15, ["rows"]),
    "spark.deltaUpkeep.driverBytes": (0.15, ["1k"]),
    f"{DELTA}.checkpoint.partSize": (0.15, ["2"]),
    f"{DELTA}.checkpointV2.topLevelFileFormat": (0.2, ["parquet"]),
    f"{DELTA}.autoCompact.minNumFiles": (1.0, ["3"]),
}


class Unreadable(Exception):
    """Delta itself no longer reads the table, after what another engine did."""


@dataclass
class History:
    """One table at a time, and what became of those before it."""

    spark: SparkSession
    folder: Path
    rng: random.Random
    tally: Counter[str]
    notes: list[str] = field(default_factory=list)
    others: list[Truth] = field(default_factory=list)
    conf: dict[str, str] = field(default_factory=dict)
    tables: int = 0

    def __post_init__(self) -> None:
        self.database = f"h{self.folder.name}"
        self.conf = draw_conf(self.rng)
        self.notes.append(f"conf {self.conf}")

    def run(self, steps: int) -> None:
        self.spark.sql(f"CREATE DATABASE {self.database} LOCATION '{self.folder / 'managed'}'")
        try:
            with session_conf(self.spark, self.conf):
                self._run(steps)
        finally:
            self.spark.sql(f"DROP DATABASE {self.database} CASCADE")

    def _run(self, steps: int) -> None:
        self._create(in_catalog=self.rng.random() < 0.5)
        for _ in range(steps):
            for _ in range(self.rng.choice([1, 2, 3, 4])):
                self._user()
            if self.rng.random() < 0.35:
                self._age()
            for _ in range(self.rng.choice([1, 1, 2])):
                self._ours()
        self._check("the end", all_by_spark=True)
        for other in self.others:
            other.check("a clone's end", self.rng, all_by_spark=True)

    def _create(self, in_catalog: bool, location: Path | None = None) -> None:
        self.in_catalog = in_catalog
        if in_catalog:
            self.name, path = f"{self.database}.t", self.folder / "managed" / "t"
        else:
            path = location or self.folder / f"t{self.tables}"
            self.name = f"delta.`{path}`"
        self.tables += 1
        self.truth = Truth(self.spark, path, self.tally)
        self.user = User(self.spark, self.name, self.truth, self.rng)
        while True:
            shape = Shape.draw(self.rng)
            try:
                self.spark.sql(f"CREATE {shape.sql(self.name, '')}")
                break
            except (PySparkException, Py4JJavaError) as e:  # features that exclude one another
                self.notes.append(f"not created: {shape} {e!s:.200}")
        self.notes.append(f"CREATE {shape.sql(self.name, '')}")
        self.interval = int(shape.properties.get("delta.checkpointInterval", "10"))
        self.truth.learn()
        self.user.insert()
        self.truth.learn()

    def _user(self) -> None:
        kind, do = self.user.draw()
        if self.rng.random() < 0.07:
            kind, do = self.rng.choice([("create", self._again), ("clone", self._clone)])
        before = version_of(self.truth.path)
        note = ""
        try:
            note = do()
        except (PySparkException, Py4JJavaError) as e:
            if "deltaupkeep" in str(e) or "delta.upkeep" in str(e):
                raise Broken(f"{kind} fails by us: {short(e)}") from e
            self._refused(kind, e)
        except Broken:
            raise
        except Exception as e:
            self._refused(kind, e)
        else:
            self.notes.append(f"{note} -> {version_of(self.truth.path)}")
            self.tally[f"user: {kind}"] += 1
        if kind in OF_OTHER_ENGINES and not self.truth.see_again():
            raise Unreadable(note)
        self.truth.learn()
        if kind in WITHOUT_HOOKS or self.conf["spark.deltaUpkeep.checkpoint.mode"] == "delta":
            self.truth.follow_delta()
        if version_of(self.truth.path) > before and kind not in (*WITHOUT_HOOKS, "by delta-rs"):
            self._check_hook(kind)

    def _refused(self, kind: str, e: Exception) -> None:
        self.notes.append(f"{kind} refused: {type(e).__name__} {e!s:.150}")
        self.tally[f"user: {kind} refused"] += 1

    def _again(self) -> str:
        """Drop the table, and create another at its path."""
        location = self.truth.path
        if self.in_catalog:
            self.spark.sql(f"DROP TABLE {self.name}")
        else:
            shutil.rmtree(location)
            forget(self.spark)
        self.notes.append(f"DROP of {self.name}")
        self._create(self.in_catalog, location)
        return "created again"

    def _clone(self) -> str:
        """Go on with a shallow clone."""
        self.others.append(self.truth)
        path = self.folder / f"t{self.tables}"
        self.tables += 1
        name = f"delta.`{path}`"
        self.spark.sql(f"CREATE TABLE {name} SHALLOW CLONE {self.name}")
        next_id = self.user.next_id
        self.name, self.in_catalog = name, False
        self.truth = Truth(self.spark, path, self.tally)
        self.user = User(self.spark, name, self.truth, self.rng)
        self.user.next_id = next_id
        return f"CREATE TABLE {name} SHALLOW CLONE"

    def _check_hook(self, kind: str) -> None:
        """Assert that the commit has its checkpoint, at once or soon."""
        mode = self.conf["spark.deltaUpkeep.checkpoint.mode"]
        if mode == "delta":
            return
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.truth.path}`").collect()
        interval = int(detail.properties.get("delta.checkpointInterval", "10"))
        end = time.monotonic() + (SECONDS_TO_CHECKPOINT if mode == "async" else 0)
        version = version_of(self.truth.path)
        while version - checkpoint_of(self.truth.path) >= interval:
            if time.monotonic() > end:
                raise Broken(
                    f"no checkpoint after {kind}: version {version}, the newest checkpoint is of "
                    f"{checkpoint_of(self.truth.path)}, the interval {interval}"
                )
            time.sleep(0.05)
        self.tally["checkpoints that were due are there"] += version >= interval

    def _age(self) -> None:
        """Let all versions but the newest few expire."""
        newest = version_of(self.truth.path)
        last = max(newest - self.rng.choice([0, 1, 3]), 0)
        if self.truth.may_age(last):
            age(self.truth.path / "_delta_log", self.truth.aged + 1, last)
            self.truth.aged = max(self.truth.aged, last)
            self.truth.floor = max(self.truth.floor, last)
            self.notes.append(f"versions up to {last} are old")
            forget(self.spark)

    def _ours(self) -> None:
        statement = draw_statement(self.name, self.truth.features(), self.rng)
        changes_nothing = "DRY RUN" in statement or "DESCRIBE" in statement
        before, times = files_below(self.truth.path), self.truth.times()
        self.notes.append(f"{statement} -> ?")
        try:
            rows = self.spark.sql(statement).collect()
        except Exception as e:
            raise Broken(f"{statement} failed: {short(e)}") from e
        self.notes[-1] = f"{statement} -> {version_of(self.truth.path)}"
        self.tally[f"ours: {kind_of(statement)}"] += 1
        if changes_nothing:
            if files_below(self.truth.path) != before and not self._has_worker():
                raise Broken(f"{statement} changed files")
            return
        if "RETAIN" in statement:
            self.truth.expire(times)
        all_by_spark = "CLEANUP" in statement or "MAINTAIN" in statement
        if statement.startswith("CLEANUP"):
            self.truth.check_report(rows[0].oldestReadableVersion)
        self._check(statement, all_by_spark)

    def _has_worker(self) -> bool:
        return self.conf["spark.deltaUpkeep.checkpoint.mode"] == "async"

    def _check(self, statement: str, all_by_spark: bool) -> None:
        self.truth.check(statement, self.rng, all_by_spark)


def draw_conf(rng: random.Random) -> dict[str, str]:
    conf = {key: rng.choice(values) for key, (p, values) in SETTINGS.items() if rng.random() < p}
    modes = ["sync", "sync", "async", "delta"]
    return conf | {
        "spark.deltaUpkeep.checkpoint.mode": rng.choice(modes),
        f"{DELTA}.retentionDurationCheck.enabled": "false",
        f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
        "spark.sql.session.timeZone": "UTC",
    }


def draw_statement(name: str, features: str, rng: random.Random) -> str:
    """Draw a statement that a table with these features allows."""
    is_clustered = "clustering" in features
    can_be_v2 = "v2Checkpoint" in features
    compact = [f"OPTIMIZE {name}", f"OPTIMIZE {name} OPTIONS (targetFileSize = 2000)"]
    compact += (
        [f"OPTIMIZE {name} FULL"]
        if is_clustered
        else [f"OPTIMIZE {name} ZORDER BY (id)", f"OPTIMIZE {name} FULL ORDER BY (id DESC)"]
    )
    checkpoint = [f"CHECKPOINT {name}"] * 3 + [f"CHECKPOINT {name} OPTIONS (mode = 'full')"]
    if can_be_v2:
        checkpoint.append(f"CHECKPOINT {name} OPTIONS (policy = 'v2', partSize = 2)")
        checkpoint.append(f"CHECKPOINT {name} OPTIONS (policy = 'v2', format = 'parquet')")
    else:
        checkpoint.append(f"CHECKPOINT {name} OPTIONS (partSize = 2)")
    cleanup = [f"CLEANUP LOG {name}"] * 2 + [f"CLEANUP LOG {name} RETAIN 0 HOURS"]
    others = [
        f"DESCRIBE HEALTH {name}",
        f"OPTIMIZE {name} DRY RUN",
        f"CHECKPOINT {name} DRY RUN",
        f"CLEANUP LOG {name} DRY RUN",
        f"MAINTAIN {name} DRY RUN",
    ]
    maintain = [f"MAINTAIN {name}"]
    purge = [f"REORG TABLE {name} APPLY (PURGE)"]
    groups = [compact, compact, checkpoint, checkpoint, cleanup, others, maintain, purge]
    return rng.choice(rng.choice(groups))


def kind_of(statement: str) -> str:
    words = statement.split("delta.`")[0].split()[0]
    return f"{words} DRY RUN" if "DRY RUN" in statement else words


class Histories:
    """Runs one history after the other, and counts what happened."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root / "histories"
        self.tally: Counter[str] = Counter()

    def one(self, seed: int, steps: int = 5) -> str | None:
        """Run the history of a seed; give the report of a failure, whose tables are kept."""
        folder = self.root / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        forget(self.spark)
        history = History(self.spark, folder, random.Random(seed), self.tally)
        try:
            history.run(steps)
        except Broken as e:
            problem = str(e)
        except Unreadable as e:
            self.tally[f"given up after {e!s:.30}"] += 1
            return None
        except Exception:  # of the harness itself: as bad
            problem = traceback.format_exc()
        else:
            self.tally["histories"] += 1
            shutil.rmtree(folder)
            return None
        self.tally["histories broken"] += 1
        again = f"PYTHONPATH=tests {sys.executable} -m torture.logs --seed {seed} --histories 1"
        lines = [f"HISTORY {seed}: {problem[:3000]}", *(note[:700] for note in history.notes)]
        report = "\n  ".join([*lines, f"tables kept below {folder}; again: {again}"])
        (folder / "report.txt").write_text(report)
        return report

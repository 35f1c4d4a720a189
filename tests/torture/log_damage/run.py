"""Draws a table and a damage of its log, and tries the statements."""

from __future__ import annotations

import faulthandler
import random
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from foreign.checks import Broken
from support.sessions import session_conf
from torture.log_damage.damages import draw_damage
from torture.log_damage.tables import DELTA, KINDS, Templates
from torture.log_damage.trial import STATEMENTS, Trial

HANG_SECONDS = 240
SETTINGS = {
    f"{DELTA}.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    "spark.sql.session.timeZone": "UTC",
}


class LogDamage:
    """Tries one damage after the other, and counts what happened."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root / "log_damage"
        self.tally: Counter[str] = Counter()
        self._templates = Templates(spark)

    def one(self, seed: int, statements: int = len(STATEMENTS)) -> str | None:
        """Try the damage of a seed; give the report of a failure, whose tables are kept."""
        rng = random.Random(seed)
        folder = self.root / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        kind = rng.choice(list(KINDS))
        reports = []
        notes: list[str] = []
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        try:
            with session_conf(self.spark, SETTINGS):
                template = self._templates.of(kind)
                damage = draw_damage(template.path / "_delta_log", rng)
                trial = Trial(self.spark, template, damage, folder, self.tally)
                notes = [f"table {kind!r}, {damage.what}", *trial.notes]
                for statement in rng.sample(list(STATEMENTS), statements):
                    problem = self._problem(trial, statement)
                    reports += [problem] if problem else []
                notes += trial.notes[1:]
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.tally["damages"] += 1
        if not reports:
            shutil.rmtree(folder)
            return None
        self.tally["damages broken"] += 1
        again = f"PYTHONPATH=tests {sys.executable} -m torture.logs --seed {seed} --damages 1"
        lines = [f"DAMAGE {seed}:", *notes, *reports]
        report = "\n  ".join([*lines, f"tables kept below {folder}; again: {again}"])
        (folder / "report.txt").write_text(report)
        return report

    def _problem(self, trial: Trial, statement: str) -> str | None:
        try:
            trial.run(statement)
        except Broken as e:
            return str(e)[:2500]
        except Exception:  # of the harness itself: as bad
            return traceback.format_exc()[:2500]
        return None

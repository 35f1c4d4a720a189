"""Runs OPTIMIZE on a table, and every check of this folder."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from pyspark.sql import Row

from foreign.checks.answers import COUNT_IN_FILE
from foreign.checks.log_statistics import check_log_stats
from foreign.checks.parquet_statistics import check_parquet, chunks_without_index
from foreign.checks.seen import OTHERWISE, Seen
from foreign.checks.stored_types import check_types
from foreign.table import ForeignTable
from support.sessions import session_conf

FILTERS = 12


@dataclass(frozen=True)
class Outcome:
    """What OPTIMIZE did, for tests that ask for more."""

    row: Row
    files: list[str]
    tiers: Counter[str]


def optimize_and_check(
    table: ForeignTable,
    conf: dict[str, str] | None = None,
    options: str = "",
    seed: int = 0,
) -> Outcome:
    """Run OPTIMIZE and check all that this folder knows."""
    tally: Counter[str] = Counter()
    notes: list[str] = []
    with session_conf(table.spark, conf or {}):
        seen = Seen.of(table, random.Random(seed), tally, notes, FILTERS, COUNT_IN_FILE)
        assert not tally["spark: cannot filter"]
        assert not [name for name in COUNT_IN_FILE if tally[f"{name}: {OTHERWISE}"]], notes
        old = table.adds()
        old_files = [table.file_of(add) for add in old.values()]
        unindexed = chunks_without_index(old_files)
        row = table.spark.sql(f"OPTIMIZE {table.sql_name} {options}").first()
        assert {b.status for b in row.bins} <= {"committed", "left"}
        new = {path: add for path, add in table.adds().items() if path not in old}
        assert len(new) == row.metrics.numFilesAdded
        files = [table.file_of(add) for add in new.values()]
        seen.check_rows("OPTIMIZE")
        seen.check_strangers("OPTIMIZE")
        for add in new.values():
            check_log_stats(table, add)
            check_parquet(table.file_of(add), unindexed)
        seen.check_filters("OPTIMIZE")
        check_types(table.physical_schema(), old_files, files)
    tiers = Counter(b.tier for b in row.bins if b.status == "committed")
    return Outcome(row, files, tiers)

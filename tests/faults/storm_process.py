"""One process of a storm: writes to a table, or maintains it, until its time is up.

Prints a line of JSON for each commit, and one for each failure.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path

from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import small_session

BATCH = 5
LATE_SECONDS = 60
# 36 seconds, and up to the minute before them: more than a statement here takes.
RETAINED_HOURS = 0.01
OTHERS = {
    "VACUUM": "VACUUM {t} OPTIONS (mode = 'full')",
    "ANALYZE": "ANALYZE TABLE {t} COMPUTE DELTA STATISTICS",
    "FSCK": "FSCK REPAIR TABLE {t}",
}


class Storm:
    """What the threads of a process share."""

    def __init__(self, spark: SparkSession, table: Path, role: int, seed: int, end: float) -> None:
        self.spark = spark
        self.table = table
        self.name = f"delta.`{table}`"
        self.random = random.Random(f"{seed} {role}")
        # No two threads of any process have ids in common.
        self.first = role * 10_000_000
        self.end = end

    def write(self, statement: str, add: list[int], drop: list[int]) -> bool:
        """Commit, and tell what it has changed; a writer tries again another time."""
        return self.attempt("write", partial(self.spark.sql, statement), add=add, drop=drop)

    def attempt(self, kind: str, run: Callable[[], object], **done: object) -> bool:
        """Run something and tell what it has done, which it may return."""
        try:
            result = run()
        except Exception as e:
            tell(kind=kind, error=type(e).__name__, message=str(e)[:2000])
            return False
        tell(kind=kind, **(result if isinstance(result, dict) else done))
        return True

    def is_over(self) -> bool:
        return time.time() > self.end


def tell(**line: object) -> None:
    print(json.dumps(line), flush=True)


def append(storm: Storm) -> None:
    """Append by SQL and by DataFrame in turns."""
    i = storm.first
    while not storm.is_over():
        ids = range(i, i + BATCH)
        i += BATCH
        rows = storm.spark.range(ids.start, ids.stop).selectExpr("id", "CAST(id % 2 AS INT) AS p")
        writer = rows.write.format("delta").mode("append")
        storm.attempt("write", partial(writer.save, str(storm.table)), add=list(ids), drop=[])


def change(storm: Storm) -> None:
    """Insert rows, then delete some and merge others, all of this thread's own."""
    i, mine = storm.first, []
    while not storm.is_over():
        ids = list(range(i, i + BATCH))
        i += BATCH
        values = ", ".join(f"({n}, CAST({n % 2} AS INT))" for n in ids)
        if storm.write(f"INSERT INTO {storm.name} VALUES {values}", ids, []):
            mine += ids
        gone = storm.random.sample(mine, min(len(mine), 3))
        where = ", ".join(map(str, gone))
        if gone and storm.write(f"DELETE FROM {storm.name} WHERE id IN ({where})", [], gone):
            mine = [n for n in mine if n not in gone]
        new = list(range(i, i + 2))
        i += 2
        old = storm.random.sample(mine, min(len(mine), 2))
        source = " UNION ALL ".join(f"SELECT {n}L AS id, {n % 2} AS p" for n in [*new, *old])
        merge = (
            f"MERGE INTO {storm.name} t USING ({source}) s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
        )
        if storm.write(merge, new, old):
            mine = [n for n in mine if n not in old] + new


def stream(storm: Storm) -> None:
    """Stream from a table of this thread's own."""
    source = storm.table.with_name(f"{storm.table.name}-source-{storm.first}")
    progress = source.with_name(f"{source.name}-progress")
    i = storm.first
    while not storm.is_over():
        ids = range(i, i + BATCH)
        i += BATCH
        rows = storm.spark.range(ids.start, ids.stop).selectExpr("id", "CAST(id % 2 AS INT) AS p")
        rows.write.format("delta").mode("append").save(str(source))

        def run() -> None:
            reader = storm.spark.readStream.format("delta").load(str(source))
            writer = reader.writeStream.format("delta").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(progress))
            writer.start(str(storm.table)).awaitTermination()

        # What one run has not written, a later one does.
        while not storm.attempt("write", run, add=list(ids), drop=[]):
            assert time.time() < storm.end + LATE_SECONDS


def optimize(storm: Storm) -> None:
    """Compact or put rows in order, until there was something to do; tell how many files went."""
    removed = 0
    orders = cycle(("", "ZORDER BY (id)", "ORDER BY (id DESC)"))

    def run() -> dict[str, int]:
        nonlocal removed
        statement = f"OPTIMIZE {storm.name} {next(orders)} OPTIONS (maxBytesPerCommit = '20k')"
        rows = storm.spark.sql(statement)
        gone = rows.first().metrics.numFilesRemoved
        removed += gone
        return {"removed": gone}

    while not storm.is_over() or (removed == 0 and time.time() < storm.end + LATE_SECONDS):
        storm.attempt("OPTIMIZE", run)


def maintain(storm: Storm) -> None:
    """Run all other maintenance in turns; tell which version is then the oldest to be read."""

    def cleanup() -> dict[str, int]:
        row = storm.spark.sql(f"CLEANUP LOG {storm.name} RETAIN {RETAINED_HOURS} HOURS").first()
        return {"oldest": row.oldestReadableVersion}

    def findings(statement: str) -> dict[str, list[str]]:
        """Tell what FSCK finds, which is nothing."""
        rows = storm.spark.sql(statement.format(t=storm.name)).collect()
        return {"found": [row.reason for row in rows if getattr(row, "kind", None)]}

    while not storm.is_over():
        storm.attempt("CHECKPOINT", partial(storm.spark.sql, f"CHECKPOINT {storm.name}"))
        storm.attempt("CLEANUP LOG", cleanup)
        for kind, statement in OTHERS.items():
            storm.attempt(kind, partial(findings, statement))


ROLES: dict[str, tuple[Callable[[Storm], None], ...]] = {
    "append": (append, stream),
    "change": (change, change),
    "maintain": (optimize, maintain),
}


def main() -> None:
    """Run the threads of a kind: number, kind, table, seconds, seed and jar of the tests."""
    number, kind, table, seconds, seed, jar = sys.argv[1:]
    builder = (
        small_session("1g")
        .config("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        .config("spark.jars", jar)
        .config("spark.delta.logStore.file.impl", "io.deltaupkeep.store.LinkLogStore")
        # Without checksums, which two processes that write one file would leave unfit.
        .config("spark.hadoop.fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
    )
    spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
    end = time.time() + float(seconds)
    threads = []
    for i, role in enumerate(ROLES[kind]):
        storm = Storm(spark, Path(table), 10 * int(number) + i, int(seed), end)
        threads.append(threading.Thread(target=role, args=(storm,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()


if __name__ == "__main__":
    main()

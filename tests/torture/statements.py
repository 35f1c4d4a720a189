"""Draws statements, runs them, and judges how they end."""

from __future__ import annotations

import random
from collections import Counter

from pyspark.sql import types as t

from foreign.checks import Broken
from foreign.checks.seen import CASE_SENSITIVE, Seen
from support.sessions import session_conf
from torture.plan import Plan
from torture.sql_text import quoted
from torture.tables import DraftedTable

DELTA = "spark.databricks.delta"
CODECS = ("snappy", "zstd", "gzip", "none", "lz4_raw", "lz4", "lz4", "lz4", "lz4")


def draw_conf(plan: Plan, rng: random.Random, notes: list[str]) -> dict[str, str]:
    """Draw the settings of a table's whole life: its zone, and what OPTIMIZE writes."""
    pool = {
        "parquet.block.size": ["1", "1000", "65536"],
        "parquet.page.size": ["64", "4096"],
        "parquet.page.row.count.limit": ["7", "100"],
        "parquet.dictionary.page.size": ["64", "4096"],
        "parquet.enable.dictionary": ["false"],
        "parquet.writer.version": ["v2"],
        "parquet.columnindex.truncate.length": ["2"],
        "parquet.page.write-checksum.enabled": ["false"],
        "spark.sql.parquet.compression.codec": ["zstd", "gzip", "none", "lz4_raw", "lz4"],
        "spark.sql.parquet.outputTimestampType": ["TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"],
        "spark.sql.parquet.writeLegacyFormat": ["true"],
        "spark.deltaUpkeep.optimize.bytesInFlight": ["1m", "2m"],
        "spark.deltaUpkeep.optimize.fetches": ["1"],
        "spark.deltaUpkeep.optimize.verify": ["false"],
        f"{DELTA}.optimize.maxDeletedRowsRatio": ["0.0"],
    }
    conf = {key: rng.choice(values) for key, values in pool.items() if rng.random() < 0.2}
    if rng.random() < 0.4:  # so that new files have several row groups
        conf["parquet.block.size"] = rng.choice(["1", "1000", "20000"])
    # polars reads INT96, which is Spark's default, as nanoseconds: they end in 2262.
    conf.setdefault("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    if plan.bulky:
        conf["parquet.page.size"] = rng.choice(["1024", "300000", "1048576", "1048576", "4194304"])
        conf["parquet.block.size"] = rng.choice(["1000000", "134217728", "134217728"])
        conf.pop("parquet.page.row.count.limit", None)
        conf["spark.sql.parquet.compression.codec"] = rng.choice(CODECS)
    conf["spark.sql.session.timeZone"] = plan.zone
    conf[CASE_SENSITIVE] = str(plan.case_sensitive).lower()
    if rng.random() < (0.3 if plan.case_sensitive else 0.05):
        conf["spark.deltaUpkeep.optimize.engine"] = "rows"
    notes.append(f"conf {conf}")
    # Every table has another schema, for which Spark would compile code each time.
    codegen = rng.choice(["NO_CODEGEN"] * 9 + ["FALLBACK"])
    fixed = {
        "spark.sql.codegen.wholeStage": "false" if codegen == "NO_CODEGEN" else "true",
        "spark.sql.codegen.factoryMode": codegen,
        "spark.sql.adaptive.enabled": "false",
        f"{DELTA}.retentionDurationCheck.enabled": "false",
        "spark.sql.parquet.enableVectorizedReader": str(not plan.by_rows).lower(),
    }
    return {**conf, **fixed}


def short(e: Exception) -> str:
    """Leave the frames out of a Java trace."""
    lines = [line for line in str(e).splitlines() if not line.startswith("\tat ")]
    return "\n    ".join(lines)[:2000]


class Statements:
    """Statements on one table."""

    def __init__(self, table: DraftedTable, rng: random.Random, tally: Counter[str]) -> None:
        self.table = table
        self.rng = rng
        self.tally = tally

    def _sql(self, statement: str) -> list[object]:
        return self.table.spark.sql(statement).collect()

    def optimize(self) -> str | None:
        """Run OPTIMIZE twice; None where Delta's own way fails too."""
        rng = self.rng
        options = rng.choice(
            ["", "", "", f"OPTIONS (targetFileSize = {rng.choice([1000, 20000])})"]
        )
        order = self._draw_order() if rng.random() < 0.1 else None
        statement = f"OPTIMIZE {self.table.sql_name} {order or options}"
        before = self.table.version()
        # So little that tables of a few rows need several tasks.
        conf = {"spark.deltaUpkeep.optimize.clusterBytes": "64k"} if rng.random() < 0.5 else {}
        try:
            with session_conf(self.table.spark, conf if order else {}):
                (row,) = self._sql(statement)
        except Exception as e:
            return self._failed(statement, before, e)
        self.tally["optimize: done"] += 1
        if any("by several tasks" in b.reason for b in row.bins):
            self.tally["optimize: ordered by several tasks"] += 1
        for tier in {b.tier for b in row.bins}:
            self.tally[f"optimize: tier {tier}"] += 1
        statement += f" with {[(b.partition, b.inputFiles, b.tier, b.reason) for b in row.bins]}"
        self.table.draft.notes.append(statement)
        grew = self.table.has_grown_since(before)
        if order:
            return statement
        (again,) = self._sql(f"OPTIMIZE {self.table.sql_name} {options}")
        # What grew (small row groups, row ids, no codec) now goes with larger files.
        if again.version is not None and not options and not grew:
            raise Broken(f"{statement}: a second run commits again: {again.bins}")
        return statement

    def _draw_order(self) -> str | None:
        """Draw an order by one or two columns, which have statistics."""
        kinds = (t.IntegerType, t.LongType, t.StringType, t.DateType, t.TimestampType)
        partitions = set(self.table.partition_columns())
        fields = [f for f in self.table.frame().schema if f.name not in partitions]
        names = [f.name for f in fields if isinstance(f.dataType, kinds)]
        if not names:
            return None
        keys = [quoted(x) for x in self.rng.sample(names, min(len(names), self.rng.choice([1, 2])))]
        full = self.rng.choice(["", "FULL "])
        if self.rng.random() < 0.5:
            return f"{full}ZORDER BY ({', '.join(keys)})"
        directed = [key + self.rng.choice(["", " ASC", " DESC"]) for key in keys]
        return f"{full}ORDER BY ({', '.join(directed)})"

    def _failed(self, statement: str, before: int, e: Exception) -> None:
        if self.table.version() != before:
            raise Broken(f"{statement} failed after a commit: {short(e)}") from e
        with session_conf(self.table.spark, {"spark.deltaUpkeep.optimize.engine": "rows"}):
            try:
                self._sql(statement)
            except Exception:
                self.tally["optimize: fails, as with engine = rows"] += 1
                return
        raise Broken(f"{statement} fails where engine = rows works: {short(e)}") from e

    def others(self, seen: Seen) -> None:
        """Run the statements that leave data files alone, and MAINTAIN."""
        rng = self.rng
        name = self.table.sql_name
        pool = [
            f"CHECKPOINT {name}",
            f"CHECKPOINT {name} OPTIONS (mode = 'full')",
            f"CLEANUP LOG {name} RETAIN 0 HOURS",
            f"MAINTAIN {name}",
            f"ANALYZE TABLE {name} COMPUTE DELTA STATISTICS OPTIONS (mode = 'all')",
        ]
        policy = "v2" if self.table.allows_v2() else "classic"
        pool.append(f"CHECKPOINT {name} OPTIONS (policy = '{policy}', partSize = 2)")
        for statement in rng.sample(pool, rng.choice([1, 2, 3])):
            self.table.draft.notes.append(statement)
            try:
                self._sql(statement)
            except Exception as e:
                raise Broken(f"{statement} failed: {short(e)}") from e
            self.table.forget()
            seen.check_rows(statement)
        seen.asked = seen.asked[:4]
        seen.check_filters("after all")
        seen.check_strangers("after all")

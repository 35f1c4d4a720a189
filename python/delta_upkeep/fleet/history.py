"""The history of a fleet: a Delta table to which each pass appends its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from delta.tables import DeltaTable
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from delta_upkeep._table.names import is_path, parts_of, quoted, quoted_name
from delta_upkeep.fleet.files import Place, place_of
from delta_upkeep.fleet.history_rows import COLUMNS, Failures, HistoryRow, json_of
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.patterns import NamePattern
from delta_upkeep.fleet.selection import Found
from delta_upkeep.fleet.summary import CUT_SHORT, INTERRUPTED, TableResult

# A table is not left alone for longer because it was done by a pass that is resumed.
RESUMED_HOURS = 12
# Tables that failed, that their policy refused or that another pass had do not make a pass
# unfinished: a later pass would meet them again, and leave all others alone.
_CUT = f"""
(status = 'skipped' AND reason IN ({", ".join(f"'{reason}'" for reason in CUT_SHORT)})
  OR status = 'failed' AND reason = '{INTERRUPTED}' OR status = 'done' AND NOT complete)
"""
_PASSES = f"""
SELECT run_id, first(resumes, true) AS resumes, NOT bool_or({_CUT}) AS complete
FROM {{history}} GROUP BY run_id HAVING bool_or(status <> 'skipped' OR {_CUT}) ORDER BY run_id DESC
"""
_OF_PASS = "SELECT 1 FROM {history} WHERE run_id = '{run_id}' LIMIT 1"
_COMPLETE = f"""
SELECT `table`, bool_or(status = 'done') AS done, min(files_before) AS files_before,
  min(files_after) AS files_after, min(bytes_before) AS bytes_before,
  min(bytes_after) AS bytes_after
FROM {{history}} WHERE run_id IN ({{run_ids}}) AND complete
  AND started > current_timestamp() - INTERVAL {RESUMED_HOURS} HOURS
GROUP BY `table` ORDER BY `table`
"""
_FAILURES = f"""
WITH outcomes AS (
  SELECT `table`, run_id, max(started) AS started, bool_or(complete OR status = 'done') AS good,
    bool_or(status = 'failed' AND reason <> '{INTERRUPTED}') AS failed
  FROM {{history}} GROUP BY `table`, run_id),
good AS (SELECT `table`, max(run_id) AS run_id FROM outcomes WHERE good GROUP BY `table`)
SELECT o.`table`, count(*) AS failures, unix_timestamp(max(o.started)) AS last
FROM outcomes o LEFT JOIN good g ON o.`table` = g.`table`
WHERE o.failed AND (g.run_id IS NULL OR o.run_id > g.run_id) GROUP BY o.`table`
"""


@dataclass(frozen=True)
class LastPass:
    """The last pass, which did not complete, and the tables that need nothing more."""

    run_id: str
    complete: tuple[TableResult, ...]


class DeltaHistory:
    """A history in a session.

    Args:
        spark: The session.
        text: The name of the table, or its path.
    """

    def __init__(self, spark: SparkSession, text: str) -> None:
        self._spark = spark
        self._text = text
        self._sql_name = f"delta.{quoted(text)}" if is_path(text) else quoted_name(parts_of(text))

    def exists(self) -> bool:
        """Tell whether the table is there."""
        if not is_path(self._text):
            return self._spark.catalog.tableExists(self._sql_name)
        return DeltaTable.isDeltaTable(self._spark, self._text)

    def create(self) -> None:
        """Make the table if it is missing.

        Raises:
            ConfigError: The table is there and lacks columns.
        """
        columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        try:
            self._spark.sql(
                f"CREATE TABLE IF NOT EXISTS {self._sql_name} ({columns}) USING delta "
                "COMMENT 'The history of delta-upkeep run'"
            )
        except PySparkException:
            # Another pass may have made it at the same moment.
            if not self.exists():
                raise
        missing = [name for name in COLUMNS if name not in self._table().columns]
        if missing:
            raise ConfigError(
                f"run.history: the table {self._text} is no history, because it lacks the columns "
                f"{', '.join(missing)}. Name another table, which is made if it is missing."
            )

    def found(self) -> Found:
        """Return the table as one of the fleet: it is maintained like all others."""
        location: str = self._detail().location
        if is_path(self._text):
            return Found(location)
        catalog = self._spark.catalog
        pattern = NamePattern(self._text)
        padded = pattern.padded(catalog.currentCatalog(), catalog.currentDatabase())
        return Found(location, padded.parts)

    @property
    def passes(self) -> Place:
        """The directory of the passes that run. Delta does not look into it."""
        return place_of(self._detail().location) / "_passes"

    def append(self, run_id: str, rows: list[HistoryRow]) -> None:
        """Append the rows of a pass. Rows of one that has some already are left out."""
        if not rows:
            return
        array = f"ARRAY<STRUCT<{', '.join(f'`{name}`: {kind}' for name, kind in COLUMNS.items())}>>"
        frame = self._spark.range(0, 1, 1, 1).select(
            F.inline(F.from_json(F.lit(json_of(rows)), array))
        )
        writer = frame.write.format("delta").mode("append")
        # Delta commits a version of an application once.
        writer.option("txnAppId", f"delta-upkeep-{run_id}").option("txnVersion", 1)
        try:
            if is_path(self._text):
                writer.save(self._text)
            else:
                writer.saveAsTable(self._sql_name)
        except (PySparkException, Py4JError):
            # Two passes that found the same driver lost append its rows at once. One is enough.
            if not self._query(_OF_PASS, run_id=run_id):
                raise

    def last_pass(self) -> LastPass | None:
        """Find the last pass; None if it did all that it was to do, or there is none."""
        passes = {row.run_id: row for row in self._query(_PASSES)}
        last = next(iter(passes.values()), None)
        if last is None or last.complete:
            return None
        run_ids: list[str] = []
        run_id: str | None = last.run_id
        while run_id is not None and run_id not in run_ids:
            run_ids.append(run_id)
            run_id = passes[run_id].resumes if run_id in passes else None
        listed = ", ".join(f"'{each}'" for each in run_ids)
        complete = tuple(
            TableResult(
                row.table,
                "done" if row.done else "not due",
                "done by the pass that this one resumes",
                files_before=row.files_before,
                files_after=row.files_after,
                bytes_before=row.bytes_before,
                bytes_after=row.bytes_after,
                earlier=True,
            )
            for row in self._query(_COMPLETE, run_ids=listed)
        )
        return LastPass(last.run_id, complete)

    def failures(self) -> Mapping[str, Failures]:
        """Count the failures in a row of each table, since it last did not fail."""
        return {row.table: Failures(row.failures, row.last) for row in self._query(_FAILURES)}

    def _query(self, sql: str, **texts: str) -> list[Row]:
        return self._spark.sql(sql.format(history=self._sql_name, **texts)).collect()

    def _table(self) -> DataFrame:
        return self._spark.table(self._sql_name)

    def _detail(self) -> Row:
        return self._spark.sql(f"DESCRIBE DETAIL {self._sql_name}").collect()[0]

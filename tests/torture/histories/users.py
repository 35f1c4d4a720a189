"""What users, and engines other than ours, do to a table."""

from __future__ import annotations

import random
from collections.abc import Callable

from deltalake import PostCommitHookProperties, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from torture.histories.readers import by_spark, checkpoint_by_delta
from torture.histories.shapes import ALTERED
from torture.histories.spelling import respell
from torture.histories.truth import Truth

# Delta writes these through a commit that has no hooks.
WITHOUT_HOOKS = ("restore", "clone")
OF_OTHER_ENGINES = ("by delta-rs", "respelled")


class User:
    """One who changes a table, by a name of it; every method is one operation, and a note of it."""

    def __init__(self, spark: SparkSession, name: str, truth: Truth, rng: random.Random) -> None:
        self.spark = spark
        self.name = name
        self.truth = truth
        self.rng = rng
        self.next_id = 0
        self.made = 0

    def draw(self) -> tuple[str, Callable[[], str]]:
        """Give an operation, and what it is called."""
        weighted: dict[str, tuple[int, Callable[[], str]]] = {
            "insert": (5, self.insert),
            "delete": (3, self.delete),
            "update": (3, self.update),
            "merge": (3, self.merge),
            "restore": (2, self.restore),
            "alter": (3, self.alter),
            "transaction": (1, self.transaction),
            "overwrite": (1, self.overwrite),
            "by delta-rs": (1, self.by_delta_rs),
            "respelled": (1, self.respelled),
            "checkpoint by Delta": (1, self.checkpoint_by_delta),
        }
        names = list(weighted)
        (name,) = self.rng.choices(names, [weighted[n][0] for n in names])
        return name, weighted[name][1]

    def _sql(self, statement: str) -> str:
        self.spark.sql(statement).collect()
        return statement

    def columns(self) -> t.StructType:
        return self.truth.reads[self.truth.newest].schema

    def _settable(self) -> list[t.StructField]:
        """List the columns to which a user gives values."""
        return [f for f in self.columns().fields if f.name not in ("id", "p", "g", "k", "e")]

    def value(self, kind: t.DataType) -> str:
        rng = self.rng
        if rng.random() < 0.1:
            return f"CAST(NULL AS {kind.simpleString()})"
        number = rng.randrange(100)
        if isinstance(kind, t.StringType):
            return f"'{rng.choice(['a', 'é', 'text '])}{number}'"
        if isinstance(kind, t.StructType):
            fields = ", ".join(f"'{f.name}', {self.value(f.dataType)}" for f in kind.fields)
            return f"named_struct({fields})"
        if isinstance(kind, t.ArrayType):
            return f"array({number}, NULL)"
        if isinstance(kind, t.TimestampType):
            return f"TIMESTAMP '2026-01-01 00:00:{number % 60:02}'"
        return f"CAST({number} AS {kind.simpleString()})"

    def _rows(self, count: int) -> tuple[list[str], list[str]]:
        """Draw rows with new ids: names of columns, and a tuple of values each."""
        columns = [f for f in self._settable() if self.rng.random() < 0.9]
        names = ["id", "p", *(f.name for f in columns)]
        rows = []
        for _ in range(count):
            values = [str(self.next_id), str(self.next_id % 3)]
            values += [self.value(f.dataType) for f in columns]
            rows.append(f"({', '.join(values)})")
            self.next_id += 1
        return names, rows

    def insert(self) -> str:
        names, rows = self._rows(self.rng.choice([1, 2, 5]))
        return self._sql(f"INSERT INTO {self.name} ({', '.join(names)}) VALUES {', '.join(rows)}")

    def _some(self) -> str:
        modulus = self.rng.choice([2, 3, 5, 7])
        rest = self.rng.randrange(modulus)
        return self.rng.choice([f"id % {modulus} = {rest}", f"id % {modulus} = {rest}", "p = 1"])

    def delete(self) -> str:
        return self._sql(f"DELETE FROM {self.name} WHERE {self._some()}")

    def update(self) -> str:
        choices = self._settable()
        if not choices:
            return self._sql(f"UPDATE {self.name} SET id = id + 1000 WHERE {self._some()}")
        column = self.rng.choice(choices)
        value = self.value(column.dataType)
        return self._sql(f"UPDATE {self.name} SET {column.name} = {value} WHERE {self._some()}")

    def merge(self) -> str:
        known = max(self.next_id, 1)
        old = self.rng.sample(range(known), min(known, 3))
        new = [self.next_id, self.next_id + 1]
        self.next_id += 2
        source = " UNION ALL ".join(f"SELECT CAST({i} AS BIGINT) AS id" for i in (*old, *new))
        choices = self._settable()
        matched = "WHEN MATCHED AND t.id % 2 = 0 THEN DELETE "
        if choices:
            column = self.rng.choice(choices)
            matched += (
                f"WHEN MATCHED THEN UPDATE SET {column.name} = {self.value(column.dataType)} "
            )
        missing = "WHEN NOT MATCHED BY SOURCE AND t.id % 5 = 0 THEN DELETE "
        missing = missing if self.rng.random() < 0.3 else ""
        return self._sql(
            f"MERGE INTO {self.name} t USING ({source}) s ON t.id = s.id {matched}"
            f"WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 1) {missing}"
        )

    def restore(self) -> str:
        version = self.rng.choice(self.truth.promised)
        return self._sql(f"RESTORE TABLE {self.name} TO VERSION AS OF {version}")

    def alter(self) -> str:
        rng, table = self.rng, f"ALTER TABLE {self.name}"
        free = [f.name for f in self._settable()]
        self.made += 1
        kinds = rng.choice(["add", "rename", "drop", "set", "set"])
        if kinds == "add":
            kind = rng.choice(["INT", "STRING", "DECIMAL(12, 2)"])
            place = rng.choice(["", "", " FIRST", " AFTER id"])
            return self._sql(f"{table} ADD COLUMNS (c{self.made} {kind}{place})")
        if kinds == "rename" and free:
            return self._sql(f"{table} RENAME COLUMN {rng.choice(free)} TO r{self.made}")
        if kinds == "drop" and free:
            return self._sql(f"{table} DROP COLUMN {rng.choice(free)}")
        key, value = rng.choice(ALTERED)
        return self._sql(f"{table} SET TBLPROPERTIES ('{key}' = '{value}')")

    def _frame(self, count: int) -> tuple[str, DataFrame]:
        """Give new rows, and how they came to be."""
        names, rows = self._rows(count)
        kinds = {f.name: f.dataType.simpleString() for f in self.columns()}
        columns = ", ".join(f"CAST({name} AS {kinds[name]}) AS {name}" for name in names)
        query = f"SELECT {columns} FROM VALUES {', '.join(rows)} AS v({', '.join(names)})"
        return query, self.spark.sql(query)

    def transaction(self) -> str:
        """Append as a stream does."""
        query, frame = self._frame(2)
        writer = frame.write.format("delta").mode("append")
        application = f"app{self.rng.randrange(3)}"
        writer.option("txnAppId", application).option("txnVersion", self.next_id).save(
            str(self.truth.path)
        )
        return f"append of {application}: {query}"

    def overwrite(self) -> str:
        """Replace one value of `p`, or everything."""
        query, frame = self._frame(3)
        writer = frame.where("p = 1").write.format("delta").mode("overwrite")
        where = {"replaceWhere": "p = 1"} if self.rng.random() < 0.7 else {}
        writer.options(**where).save(str(self.truth.path))
        return f"overwrite {where}: {query}"

    def by_delta_rs(self) -> str:
        """Append by delta-rs some of the rows that are there."""
        read = by_spark(self.spark, self.truth.path)
        frame = self.spark.read.format("delta").load(str(self.truth.path)).limit(2)
        # Its cleanup keeps less than the protocol asks for.
        after = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
        write_deltalake(
            str(self.truth.path), frame.toArrow(), mode="append", post_commithook_properties=after
        )
        return f"append by delta-rs to {read.schema.names}"

    def respelled(self) -> str:
        """Have another engine spell the paths of the newest v2 checkpoint in its own way."""
        return respell(self.truth.path, self.rng)

    def checkpoint_by_delta(self) -> str:
        checkpoint_by_delta(self.spark, self.truth.path)
        return "a checkpoint by Delta"

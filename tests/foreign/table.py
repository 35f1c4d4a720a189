"""A Delta table under test: what Delta reads of its log and of its rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from foreign.types import rebuilt


class ForeignTable:
    """A table at a path, whoever wrote it."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark = spark
        self.path = path
        self.sql_name = f"delta.`{path}`"
        self._live: tuple[int, dict[str, dict[str, Any]]] = (-1, {})

    def frame(self, version: int | None = None) -> DataFrame:
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return reader.load(str(self.path))

    def version(self) -> int:
        return version_of(self.path)

    def forget(self) -> None:
        """Have the log read again."""
        forget(self.spark)
        self._live = (-1, {})

    def adds(self, partition: str | None = None) -> dict[str, dict[str, Any]]:
        """Give the live files, of one partition or all: the add action of each path."""
        if self._live[0] != self.version():
            files = newest_snapshot(self.spark, self.path).allFiles().collectAsList()
            found = [json.loads(file.json())["add"] for file in files]
            self._live = (self.version(), {add["path"]: add for add in found})
        live = self._live[1]
        if partition is None:
            return dict(live)
        return {p: add for p, add in live.items() if partition in add["partitionValues"].values()}

    def file_of(self, add: dict[str, Any]) -> str:
        return str(self.path / unquote(add["path"].removeprefix("file:")))

    def has_vectors(self) -> bool:
        """Tell whether a live file has a deletion vector, once the log is read again."""
        self.forget()
        return any(add.get("deletionVector") for add in self.adds().values())

    def metadata(self) -> dict[str, Any]:
        action = newest_snapshot(self.spark, self.path).metadata().json()
        found: dict[str, Any] = json.loads(action)["metaData"]
        return found

    def partition_columns(self) -> list[str]:
        return list(self.metadata()["partitionColumns"])

    def tracks_rows(self) -> bool:
        return bool(self.metadata()["configuration"].get("delta.enableRowTracking") == "true")

    def physical_fields(self) -> dict[str, t.StructField]:
        """Give each column, with the names that files use, at every depth."""
        schema = t.StructType.fromJson(json.loads(self.metadata()["schemaString"]))
        names = schema.fieldNames()
        return dict(zip(names, rebuilt(schema, _named_as_stored).fields, strict=True))

    def physical_schema(self) -> t.StructType:
        """Give the schema of the data files, under the names that they use."""
        partitions = self.partition_columns()
        fields = self.physical_fields()
        return t.StructType([f for name, f in fields.items() if name not in partitions])


def _named_as_stored(fields: list[t.StructField]) -> list[t.StructField]:
    key = "delta.columnMapping.physicalName"
    return [t.StructField(f.metadata.get(key, f.name), f.dataType) for f in fields]


def newest_snapshot(spark: SparkSession, path: Path) -> Any:
    none = spark._jvm.scala.Option.empty()
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog
    return log.forTable(spark._jsparkSession, str(path)).update(False, none, none)


def forget(spark: SparkSession) -> None:
    """Have the session read every log again."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def version_of(path: Path) -> int:
    """Give the newest version that the log names, not what a session remembers; -1 without any."""
    log = path / "_delta_log"
    names = [file.name for file in log.iterdir()] if log.is_dir() else []
    versions = (int(name[:20]) for name in names if re.fullmatch(r"\d{20}\.json", name))
    return max(versions, default=-1)

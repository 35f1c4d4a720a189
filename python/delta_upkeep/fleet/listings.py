"""The listings of a Spark session: SHOW statements, and Hadoop's file systems."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Row, SparkSession

from delta_upkeep.fleet.discovery import Entry, Kind
from delta_upkeep.fleet.patterns import quoted, unquoted
from delta_upkeep.fleet.selection import Found


class SparkListings:
    """Lists each schema once, however many patterns ask."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables: dict[tuple[str, str], list[Entry]] = {}

    def current(self) -> tuple[str, str]:
        """Return the catalog and the schema of the session."""
        catalog = self._spark.catalog
        return catalog.currentCatalog(), catalog.currentDatabase()

    def schemas(self, catalog: str) -> list[str]:
        """List the schemas of a catalog."""
        rows = self._spark.sql(f"SHOW SCHEMAS IN {quoted(catalog)}").collect()
        return [unquoted(row.namespace) for row in rows]

    def tables(self, catalog: str, schema: str) -> list[Entry]:
        """List the tables and views of a schema, without reading a table's log."""
        key = (catalog, schema)
        if key not in self._tables:
            place = f"{quoted(catalog)}.{quoted(schema)}"
            rows = self._spark.sql(f"SHOW TABLE EXTENDED IN {place} LIKE '*'").collect()
            self._tables[key] = [_entry(key, row) for row in rows if not row.isTemporary]
        return self._tables[key]

    def directories(self, glob: str) -> list[Entry]:
        """List the directories that a glob leads to; ``other`` are those without a Delta log."""
        jvm: Any = self._spark._jvm
        path = jvm.org.apache.hadoop.fs.Path(glob)
        state = self._spark._jsparkSession.sessionState()
        files = path.getFileSystem(state.newHadoopConf())
        # Null where a path without a glob is not there.
        found = files.globStatus(path) or []
        directories = [status.getPath() for status in found if status.isDirectory()]
        entries = []
        for directory in directories:
            log = jvm.org.apache.hadoop.fs.Path(directory, "_delta_log")
            kind: Kind = "delta" if files.exists(log) else "other"
            entries.append(Entry(Found(directory.toString()), kind))
        return entries


def _entry(schema: tuple[str, str], row: Row) -> Entry:
    facts = facts_of(row.information)
    location = facts.get("Location", "").rstrip("/")
    return Entry(Found(location, (*schema, row.tableName)), kind_of(facts))


def facts_of(information: str) -> dict[str, str]:
    """Read the column ``information`` of SHOW TABLE EXTENDED: lines of a name and a value.

    The first line of a name counts: a comment of several lines comes after Type and Provider.
    """
    facts: dict[str, str] = {}
    for line in information.splitlines():
        name, colon, value = line.partition(": ")
        if colon:
            facts.setdefault(name, value)
    return facts


def kind_of(facts: dict[str, str]) -> Kind:
    """Tell what an entry of a catalog is."""
    if facts.get("Type", "").upper().endswith("VIEW"):
        return "view"
    return "delta" if facts.get("Provider", "").lower() == "delta" else "other"

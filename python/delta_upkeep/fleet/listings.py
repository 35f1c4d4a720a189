"""Lists the catalogs of a Spark session, and the directories of Hadoop's file systems."""

from __future__ import annotations

from pyspark.sql import Row, SparkSession

from delta_upkeep._table.java import api_of
from delta_upkeep._table.names import quoted, unquoted
from delta_upkeep.fleet.discovery import Entry, Kind
from delta_upkeep.fleet.selection import Found
from delta_upkeep.session import DELTA_CATALOG

SESSION_CATALOG = "spark_catalog"


class SparkListings:
    """The listings of a session. Each schema is listed once, even if several patterns need it."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables: dict[tuple[str, str], list[Entry]] = {}

    def current(self) -> tuple[str, str]:
        """Return the catalog and the schema of the session."""
        catalog = self._spark.catalog
        return catalog.currentCatalog(), catalog.currentDatabase()

    def has_metastore(self, catalog: str) -> bool:
        """Tell whether a catalog knows the tables of other sessions."""
        return has_metastore(self._spark, catalog)

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
        """List the directories that match a glob; one without a Delta log is ``other``."""
        found = api_of(self._spark).directories(self._spark._jsparkSession, glob)
        return [
            Entry(Found(path), "delta" if has_log else "other") for path, has_log in found.items()
        ]


def has_metastore(spark: SparkSession, catalog: str) -> bool:
    """Tell whether a catalog of a session knows the tables of other sessions.

    Spark's own catalog, even behind Delta's, may be in memory. Other catalogs have a store.
    """
    if catalog != SESSION_CATALOG:
        return True
    plugin = spark.conf.get(f"spark.sql.catalog.{SESSION_CATALOG}", DELTA_CATALOG)
    kind = spark.conf.get("spark.sql.catalogImplementation", "in-memory")
    return plugin != DELTA_CATALOG or kind != "in-memory"


def _entry(schema: tuple[str, str], row: Row) -> Entry:
    name = (*schema, row.tableName)
    return Entry(Found(location_of(row.information), name), kind_of(row.information))


def kind_of(information: str) -> Kind:
    """Read the kind of a table from the column ``information`` of SHOW TABLE EXTENDED.

    If a name is on several lines, the first one counts: a comment comes later, and may contain
    lines that look the same.
    """
    kind, provider = (_values(information, name)[:1] for name in ("Type", "Provider"))
    if any(value.endswith("VIEW") for value in kind):
        return "view"
    return "delta" if [value.lower() for value in provider] == ["delta"] else "other"


def location_of(information: str) -> str:
    """Read a table's location; empty if several lines look like one, as in a comment."""
    found = _values(information, "Location")
    return found[0].rstrip("/") if len(found) == 1 else ""


def _values(information: str, name: str) -> list[str]:
    prefix = f"{name}: "
    lines = information.splitlines()
    return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]

"""Finds the tables of a fleet, in catalogs and in directories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from delta_upkeep.fleet.config import Pattern
from delta_upkeep.fleet.errors import error_of, no_metastore, no_table_matches
from delta_upkeep.fleet.patterns import NamePattern, PathPattern
from delta_upkeep.fleet.selection import Found
from delta_upkeep.fleet.summary import Skipped, TableResult

Kind = Literal["delta", "view", "other"]


@dataclass(frozen=True)
class Entry:
    """An entry of a listing."""

    table: Found
    kind: Kind


class Listings(Protocol):
    """Lists what is in catalogs and directories."""

    def current(self) -> tuple[str, str]:
        """Return the catalog and the schema of the session."""

    def has_metastore(self, catalog: str) -> bool:
        """Tell whether a catalog knows the tables of other sessions."""

    def schemas(self, catalog: str) -> list[str]:
        """List the schemas of a catalog."""

    def tables(self, catalog: str, schema: str) -> list[Entry]:
        """List the tables and views of a schema."""

    def directories(self, glob: str) -> list[Entry]:
        """List the directories that match a glob; one without a Delta log is ``other``."""


@dataclass(frozen=True)
class Discovery:
    """What the patterns matched.

    Attributes:
        tables: The Delta tables, and everything that a pattern names without a glob. If that is
            not a Delta table, MAINTAIN reports the error.
        not_delta: Counts of everything else.
        unmatched: Patterns that matched no Delta table.
        failures: Patterns whose listing failed, and those that must match a table but match none.
    """

    tables: tuple[Found, ...]
    not_delta: Skipped
    unmatched: tuple[str, ...]
    failures: tuple[TableResult, ...]


def discover(
    patterns: tuple[Pattern, ...], listings: Listings, *, allow_empty: bool = False
) -> Discovery:
    """Find the tables of each pattern. If one fails, the other patterns still count.

    A pattern fails if its listing fails, or if it matches no table and ``allow_empty`` is not set.
    """
    entries: dict[Found, Kind] = {}
    unmatched: list[str] = []
    failures: list[TableResult] = []
    for pattern in patterns:
        try:
            matches = _follow(pattern, listings)
        # Any error becomes the result of this pattern, and the others still count.
        except Exception as e:
            failures.append(_failed(pattern, e))
            continue
        entries.update((entry.table, entry.kind) for entry in matches)
        if not any(entry.kind == "delta" for entry in matches):
            unmatched.append(pattern.text)
            if not allow_empty:
                failures.append(_failed(pattern, no_table_matches(pattern.text)))
    kinds = list(entries.values())
    return Discovery(
        tables=tuple(table for table, kind in entries.items() if kind == "delta"),
        not_delta=Skipped(views=kinds.count("view"), other_formats=kinds.count("other")),
        unmatched=tuple(unmatched),
        failures=tuple(failures),
    )


def _failed(pattern: Pattern, e: Exception) -> TableResult:
    error = error_of(e)
    return TableResult(pattern.text, "failed", error.condition, error=error)


def _follow(pattern: Pattern, listings: Listings) -> list[Entry]:
    if isinstance(pattern, PathPattern):
        found = listings.directories(pattern.text)
        named = Found(pattern.text)
    else:
        padded = pattern.padded(*listings.current())
        found = list(_in_catalog(padded, listings))
        named = Found("", padded.parts)
        if not found and not listings.has_metastore(padded.parts[0]):
            raise no_metastore(pattern.text)
    if not pattern.literal:
        return found
    return [Entry(entry.table, "delta") for entry in found] or [Entry(named, "delta")]


def _in_catalog(pattern: NamePattern, listings: Listings) -> Iterator[Entry]:
    catalog = pattern.parts[0]
    for schema in listings.schemas(catalog):
        if pattern.matches_part(1, schema):
            for entry in listings.tables(catalog, schema):
                if entry.table.name and pattern.matches_part(2, entry.table.name[-1]):
                    yield entry

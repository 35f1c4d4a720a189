"""Finds the tables of a fleet, in catalogs and in directories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from delta_upkeep.fleet.config import Pattern
from delta_upkeep.fleet.errors import error_of
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
        failures: Patterns whose listing failed.
    """

    tables: tuple[Found, ...]
    not_delta: Skipped
    unmatched: tuple[str, ...]
    failures: tuple[TableResult, ...]


def discover(patterns: tuple[Pattern, ...], listings: Listings) -> Discovery:
    """Find the tables of each pattern. If one listing fails, the other patterns still count."""
    entries: dict[Found, Kind] = {}
    unmatched: list[str] = []
    failures: list[TableResult] = []
    for pattern in patterns:
        try:
            matches = _follow(pattern, listings)
        # Any error becomes the result of this pattern, and the others still count.
        except Exception as e:
            error = error_of(e)
            failures.append(TableResult(pattern.text, "failed", error.condition, error=error))
            continue
        entries.update((entry.table, entry.kind) for entry in matches)
        if not any(entry.kind == "delta" for entry in matches):
            unmatched.append(pattern.text)
    kinds = list(entries.values())
    return Discovery(
        tables=tuple(table for table, kind in entries.items() if kind == "delta"),
        not_delta=Skipped(views=kinds.count("view"), other_formats=kinds.count("other")),
        unmatched=tuple(unmatched),
        failures=tuple(failures),
    )


def _follow(pattern: Pattern, listings: Listings) -> list[Entry]:
    if isinstance(pattern, PathPattern):
        found = listings.directories(pattern.text)
        named = Found(pattern.text)
    else:
        padded = pattern.padded(*listings.current())
        found = list(_in_catalog(padded, listings))
        named = Found("", padded.parts)
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

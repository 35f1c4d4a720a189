"""Which tables a fleet is, and which options each gets: values in, values out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from delta_upkeep._table.names import label_of
from delta_upkeep.fleet.config import FleetConfig, Pattern
from delta_upkeep.fleet.patterns import NamePattern


@dataclass(frozen=True)
class Found:
    """A Delta table that a pattern led to.

    Attributes:
        location: Its path, with the scheme; empty where the catalog does not tell.
        name: Its parts from the catalog on; None for a table found by its path.
    """

    location: str
    name: tuple[str, ...] | None = None

    @property
    def label(self) -> str:
        """What a user calls it: the name, or else the path."""
        return self.location if self.name is None else label_of(self.name)

    def matches(self, pattern: Pattern) -> bool:
        """Match the name with patterns of names, and the location with those of paths."""
        if isinstance(pattern, NamePattern):
            return self.name is not None and pattern.matches(self.name)
        return pattern.matches(self.location)


@dataclass(frozen=True)
class Chosen:
    """A table of the fleet, and its options of MAINTAIN."""

    table: Found
    options: Mapping[str, str]


def choose(found: Iterable[Found], config: FleetConfig) -> tuple[Chosen, ...]:
    """Leave out what is excluded or found twice, and give each table its options.

    A table that has a name goes by it, however else it was found.
    """
    ordered = sorted(found, key=lambda table: (table.name is None, table.label))
    taken: dict[str, Found] = {}
    for table in ordered:
        taken.setdefault(table.location or table.label, table)
    return tuple(
        Chosen(table, options_of(table, config))
        for table in taken.values()
        if not any(table.matches(pattern) for pattern in config.exclude)
    )


def options_of(table: Found, config: FleetConfig) -> dict[str, str]:
    """Merge the options of every table with those of each override that matches, in order.

    Names of options are matched in any case; the last value wins.
    """
    layers = [config.options]
    layers += [o.options for o in config.overrides if any(table.matches(p) for p in o.match)]
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(merged.values())


def unmatched(found: Iterable[Found], config: FleetConfig) -> tuple[str, ...]:
    """Name the patterns of overrides that match no table: often a slip of the pen."""
    tables = list(found)
    patterns = [pattern for override in config.overrides for pattern in override.match]
    return tuple(p.text for p in patterns if not any(table.matches(p) for table in tables))

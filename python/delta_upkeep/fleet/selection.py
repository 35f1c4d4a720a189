"""Selects the tables of a fleet, and the options of each. All functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from delta_upkeep._table.names import label_of
from delta_upkeep.fleet.config import FleetConfig, Override, Pattern
from delta_upkeep.fleet.patterns import NamePattern
from delta_upkeep.fleet.policy import NO_POLICY, OfTable, Policy

# Each pass adds a file. Without this option, each pass would rewrite all earlier ones.
HISTORY_OPTIONS = {"minInputFiles": "20"}


@dataclass(frozen=True)
class Found:
    """A table that a pattern matched.

    Attributes:
        location: Its path with the scheme; empty if the listing does not give it.
        name: Catalog, schema and table; None for a table found by its path.
    """

    location: str
    name: tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        """What tells it from other tables: the location if it is known, or else the name."""
        return self.location or self.label

    @property
    def label(self) -> str:
        """The name, or else the path, as a user writes it."""
        return self.location if self.name is None else label_of(self.name)

    def matches(self, pattern: Pattern) -> bool:
        """Match the name against a pattern of names, or the location against one of paths."""
        if isinstance(pattern, NamePattern):
            return self.name is not None and pattern.matches(self.name)
        return pattern.matches(self.location)


@dataclass(frozen=True)
class Chosen:
    """A table of the fleet, with its options for MAINTAIN and its policy."""

    table: Found
    options: Mapping[str, str]
    policy: Policy = NO_POLICY

    def with_own(self, own: OfTable) -> Chosen:
        """Add what the table's own properties say, which wins."""
        options = _merged([self.options, own.options])
        return Chosen(self.table, options, self.policy.under(own.policy))


def choose(
    found: Iterable[Found], config: FleetConfig, history: Found | None = None
) -> tuple[Chosen, ...]:
    """Leave out excluded tables and duplicates, and add the options of each table.

    A table that was found both by name and by path goes by its name. The history is one of them.
    """
    own = [history] if history is not None else []
    ordered = sorted((*found, *own), key=lambda table: (table.name is None, table.label))
    taken: dict[str, Found] = {}
    for table in ordered:
        taken.setdefault(table.key, table)
    own_keys = [table.key for table in own]
    return tuple(
        Chosen(
            table,
            options_of(table, config, HISTORY_OPTIONS if table.key in own_keys else {}),
            policy_of(table, config),
        )
        for table in taken.values()
        if not any(table.matches(pattern) for pattern in config.exclude)
    )


def options_of(
    table: Found, config: FleetConfig, defaults: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Merge the options for all tables with those of each matching override, in order.

    The last value of an option wins. The case of its name does not matter.
    """
    overrides = (each.options for each in _overrides_of(table, config))
    return _merged([defaults, config.options, *overrides])


def policy_of(table: Found, config: FleetConfig) -> Policy:
    """Merge the policies in the same way."""
    policy = config.policy
    for override in _overrides_of(table, config):
        policy = policy.under(override.policy)
    return policy


def _overrides_of(table: Found, config: FleetConfig) -> list[Override]:
    return [o for o in config.overrides if any(table.matches(p) for p in o.match)]


def _merged(layers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(merged.values())


def unmatched(found: Iterable[Found], config: FleetConfig) -> tuple[str, ...]:
    """Return the patterns of overrides that match no table; they are often misspelled."""
    tables = list(found)
    patterns = [pattern for override in config.overrides for pattern in override.match]
    return tuple(p.text for p in patterns if not any(table.matches(p) for table in tables))

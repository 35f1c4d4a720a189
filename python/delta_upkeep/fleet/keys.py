"""Keys of a TOML file: each declared once, and everything else refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from delta_upkeep.fleet.patterns import PatternError

T = TypeVar("T")


class ConfigError(ValueError):
    """A configuration that cannot be followed: the problem, the cause and the fix."""


@dataclass(frozen=True)
class Key(Generic[T]):
    """A key, declared once: its name, what a value looks like, and how one is read."""

    name: str
    expected: str
    read: Callable[[Any], T]


@dataclass(frozen=True)
class KeyTable:
    """A table of the file that knows its path and its keys."""

    path: str
    values: Mapping[str, Any]
    known: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.values:
            if name not in self.known:
                raise ConfigError(
                    f"The configuration has a key that is not known: {self.path}{name}. "
                    f"Known here: {', '.join(self.known)}."
                )

    def get(self, key: Key[T]) -> T | None:
        """Read a key, None where it is not there."""
        if key.name not in self.values:
            return None
        value = self.values[key.name]
        try:
            return key.read(value)
        except PatternError as e:
            raise ConfigError(f"{self.path}{key.name}: {e}") from e
        except (TypeError, ValueError) as e:
            raise ConfigError(
                f"{self.path}{key.name} cannot be {value!r}. Give {key.expected}."
            ) from e

    def need(self, key: Key[T]) -> T:
        """Read a key that has to be there."""
        value = self.get(key)
        if value is None:
            raise ConfigError(f"{self.path}{key.name} is missing. Give {key.expected}.")
        return value

    def table(self, name: str, keys: tuple[Key[Any], ...]) -> KeyTable:
        """Go into a table, an empty one where it is not there."""
        return self._child(f"{self.path}{name}", self.values.get(name, {}), keys)

    def tables(self, name: str, keys: tuple[Key[Any], ...]) -> list[KeyTable]:
        """Go into each of a list of tables."""
        found = self.values.get(name, [])
        if not isinstance(found, list):
            raise ConfigError(f"{self.path}{name} is no list of tables. Write [[{name}]].")
        path = f"{self.path}{name}"
        return [self._child(f"{path}[{i}]", each, keys) for i, each in enumerate(found)]

    @staticmethod
    def _child(path: str, values: Any, keys: tuple[Key[Any], ...]) -> KeyTable:
        if not isinstance(values, dict):
            raise ConfigError(f"{path} cannot be {values!r}. Give a table.")
        return KeyTable(f"{path}.", values, tuple(key.name for key in keys))


def of_type(kind: type | tuple[type, ...], read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Let a key be read from values of some types alone."""

    def checked(value: Any) -> T:
        # For Python true is the number 1, and for TOML it is not.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(value)
        return read(value)

    return checked

"""Keys of a TOML file. Each is declared once, and all others are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ConfigError(ValueError):
    """An invalid configuration: the problem, the cause and the fix."""


class InvalidValue(ValueError):
    """An invalid value. Its own message is shown instead of the value."""


@dataclass(frozen=True)
class Key(Generic[T]):
    """A key: its name, a description of its values, and the function that reads one."""

    name: str
    expected: str
    read: Callable[[Any], T]


@dataclass(frozen=True)
class KeyTable:
    """A table of the file, with its path and the keys that it may have."""

    path: str
    values: Mapping[str, Any]
    known: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.values:
            if name not in self.known:
                raise ConfigError(
                    f"The configuration has the unknown key {self.path}{name}. "
                    f"Use one of: {', '.join(self.known)}."
                )

    def get(self, key: Key[T]) -> T | None:
        """Read a key; None if it is missing."""
        if key.name not in self.values:
            return None
        value = self.values[key.name]
        try:
            return key.read(value)
        except InvalidValue as e:
            raise ConfigError(f"{self.path}{key.name}: {e}") from e
        except (TypeError, ValueError) as e:
            # A table may hold secrets.
            shown = "a table" if isinstance(value, dict) else repr(value)
            raise ConfigError(
                f"{self.path}{key.name} cannot be {shown}. Use {key.expected}."
            ) from e

    def need(self, key: Key[T]) -> T:
        """Read a required key."""
        value = self.get(key)
        if value is None:
            raise ConfigError(f"{self.path}{key.name} is missing. Add {key.expected}.")
        return value

    def table(self, name: str, keys: tuple[Key[Any], ...]) -> KeyTable:
        """Return a table; an empty one if it is missing."""
        return self._child(f"{self.path}{name}", self.values.get(name, {}), keys)

    def tables(self, name: str, keys: tuple[Key[Any], ...]) -> list[KeyTable]:
        """Return each table of a list."""
        found = self.values.get(name, [])
        if not isinstance(found, list):
            raise ConfigError(f"{self.path}{name} is not a list of tables. Write [[{name}]].")
        path = f"{self.path}{name}"
        return [self._child(f"{path}[{i}]", each, keys) for i, each in enumerate(found)]

    @staticmethod
    def _child(path: str, values: Any, keys: tuple[Key[Any], ...]) -> KeyTable:
        if not isinstance(values, dict):
            raise ConfigError(f"{path} cannot be {values!r}. Use a TOML table.")
        return KeyTable(f"{path}.", values, tuple(key.name for key in keys))


def of_type(kind: type | tuple[type, ...], read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Refuse values of other types, then read the value."""

    def checked(value: Any) -> T:
        # In Python, True is an int; in TOML, true is not a number.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(value)
        return read(value)

    return checked

"""What a table's own log and a store's listing say, found without the product or Delta."""

from __future__ import annotations

import base64
import json
import string
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from stores.profiles import Store

LOG = "_delta_log/"
_DIGITS = string.digits
_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase
# The alphabet of the protocol, and that of Python.
_FROM_Z85 = str.maketrans(
    _DIGITS + _LOWER + _UPPER + ".-:+=^!/*?&<>()[]{}@%$#",
    _DIGITS + _UPPER + _LOWER + "!#$%&()*+-;<=>?@^_`{|}~",
)


def newest_version(store: Store, table: str) -> int:
    return max(version for version, _ in _commits(store, table))


def actions(store: Store, table: str) -> list[tuple[str, Any]]:
    """All actions of all commits, the oldest first."""
    found = []
    for _, name in sorted(_commits(store, table)):
        for line in store.read(table, name).decode().splitlines():
            found += json.loads(line).items()
    return found


def _commits(store: Store, table: str) -> Iterator[tuple[int, str]]:
    for name in store.files(table):
        stem = name.removeprefix(LOG).removesuffix(".json")
        if name == f"{LOG}{stem}.json" and stem.isdigit():
            yield int(stem), name


def _names(action: dict[str, Any]) -> set[str]:
    """The files of an action: with the vector, if that is in a file of its own."""
    names = {unquote(action["path"])}
    vector = action.get("deletionVector")
    if vector and vector["storageType"] == "u":
        text = vector["pathOrInlineDv"]
        prefix, encoded = text[:-20], text[-20:]
        of = uuid.UUID(bytes=base64.b85decode(encoded.translate(_FROM_Z85)))
        names.add(f"{prefix}/" * bool(prefix) + f"deletion_vector_{of}.bin")
    return names


def named(store: Store, table: str) -> set[str]:
    """The files that the newest version names."""
    active: dict[tuple[str, str], set[str]] = {}
    for kind, action in actions(store, table):
        if kind in ("add", "remove"):
            key = (action["path"], json.dumps(action.get("deletionVector"), sort_keys=True))
            if kind == "add":
                active[key] = _names(action)
            else:
                active.pop(key, None)
    return set().union(*active.values())


def unnamed(store: Store, table: str) -> set[str]:
    """The files that are neither named by the newest version nor hidden by Delta's rules."""
    return {n for n in store.files(table) if not _is_hidden(n)} - named(store, table)


def tombstones(store: Store, table: str) -> set[str]:
    """The files that commits removed, or wrote for the change feed, and that are still there."""
    gone = set()
    for kind, action in actions(store, table):
        if kind in ("remove", "cdc"):
            gone |= _names(action)
    return (gone - named(store, table)) & store.files(table).keys()


def _is_hidden(name: str) -> bool:
    return any(
        part[0] in "._" and part not in ("_change_data", "_delta_index") for part in name.split("/")
    )

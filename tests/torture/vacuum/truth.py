"""What a table's versions need, by a plain replay of the JSON of its log."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from torture.vacuum.drawn import Z85

Action = dict[str, Any]


@dataclass
class Truth:
    """All commits that a table has ever had, also those that are no longer in the log.

    Attributes:
        path: The table's root.
        commits: The actions of each version.
        file_times: When each commit's file was last modified, in milliseconds.
    """

    path: Path
    commits: dict[int, list[Action]] = field(default_factory=dict)
    file_times: dict[int, int] = field(default_factory=dict)

    def learn(self) -> None:
        """Read the commits that are new."""
        for file in sorted((self.path / "_delta_log").glob("*.json")):
            if file.stem.isdigit() and int(file.stem) not in self.commits:
                lines = file.read_text().splitlines()
                self.commits[int(file.stem)] = [json.loads(line) for line in lines]
                self.file_times[int(file.stem)] = file.stat().st_mtime_ns // 1_000_000

    def times(self) -> list[int]:
        """When each version was committed, as time travel sees it."""
        found: list[int] = []
        for version in sorted(self.commits):
            info = self.commits[version][0].get("commitInfo", {})
            time = info.get("inCommitTimestamp", self.file_times[version])
            found.append(time if not found else max(time, found[-1] + 1))
        return found

    def oldest_promised(self, cutoff: int) -> int:
        """Return the version that the table had at the cutoff, or its first one."""
        return max((v for v, time in enumerate(self.times()) if time <= cutoff), default=0)

    def needed(self, first: int) -> set[str]:
        """Return the names of the files that versions from one on need, and their change feeds."""
        live: dict[tuple[str, str], Action] = {}
        found: set[str] = set()
        for version in sorted(self.commits):
            for action in self.commits[version]:
                if "remove" in action:
                    live.pop(key(action["remove"]), None)
            for action in self.commits[version]:
                if "add" in action:
                    live[key(action["add"])] = action["add"]
                if "cdc" in action and version > first:
                    found |= named(action["cdc"], self.path)
            if version >= first:
                for add in live.values():
                    found |= named(add, self.path)
        return found

    def removed(self, last: int) -> set[str]:
        """Return the names of the files that versions up to one removed, or fed changes with."""
        actions = [a for version in self.commits if version <= last for a in self.commits[version]]
        return {
            name
            for action in actions
            for kind in ("remove", "cdc")
            if kind in action
            for name in named(action[kind], self.path)
        }

    def spelled_absolute(self) -> set[str]:
        """Return the names of the files that an action names by a location of any table."""
        actions = [a for some in self.commits.values() for a in some]
        return {
            name
            for action in actions
            for kind in ("add", "cdc")
            if kind in action and ":" in json.dumps(places(action[kind]))
            for name in named(action[kind], self.path)
        }

    def stamped_since(self, cutoff: int) -> set[str]:
        """Return the names of files with a removal that says it is newer than the cutoff."""
        removes = [a["remove"] for some in self.commits.values() for a in some if "remove" in a]
        return {
            name
            for remove in removes
            if remove.get("deletionTimestamp", 0) >= cutoff
            for name in named(remove, self.path)
        }


def key(action: Action) -> tuple[str, str]:
    """Identify a file with its vector (protocol, 'Action Reconciliation')."""
    return action["path"], json.dumps(action.get("deletionVector"), sort_keys=True)


def named(action: Action, root: Path) -> set[str]:
    """Name the files of an action, below the root."""
    vector = action.get("deletionVector")
    found = {below(root, place) for place in places(action)}
    if vector and vector["storageType"] == "u":
        text = vector["pathOrInlineDv"]
        prefix, id = text[:-20], uuid.UUID(bytes=from_z85(text[-20:]))
        found.add(f"{prefix}/deletion_vector_{id}.bin".lstrip("/"))
    return found


def places(action: Action) -> list[str]:
    """Return the paths that an action spells."""
    vector = action.get("deletionVector")
    of_vector = [vector["pathOrInlineDv"]] if vector and vector["storageType"] == "p" else []
    return [action["path"], *of_vector]


def below(root: Path, place: str) -> str:
    if not place.startswith("file:"):
        return unquote(place)
    return unquote(urlsplit(place).path).removeprefix(f"{root}/")


def from_z85(text: str) -> bytes:
    """Decode Z85 (ZeroMQ RFC 32)."""
    data = b""
    for start in range(0, len(text), 5):
        value = 0
        for char in text[start : start + 5]:
            value = value * 85 + Z85.index(char)
        data += value.to_bytes(4, "big")
    return data

"""Every way to damage a file of a log."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

WAYS = ("missing", "cut", "cut", "flipped", "flipped", "flipped", "swapped")
KINDS_OF_FILES = {
    "commit": r"\d{20}\.json",
    "checksum": r"\d{20}\.crc",
    "compaction": r"\d{20}\.\d{20}\.compacted\.json",
    "v2 checkpoint": r"\d{20}\.checkpoint\.[-0-9a-f]{36}\.(json|parquet)",
    "checkpoint": r"\d{20}\.checkpoint\.parquet",
    "part": r"\d{20}\.checkpoint\.\d{10}\.\d{10}\.parquet",
    "sidecar": r"_sidecars/.*\.parquet",
    "pointer": "_last_checkpoint",
}


@dataclass(frozen=True)
class Damage:
    """New content of files of a log, by their names; None where a file is missing."""

    what: str
    files: dict[str, bytes | None]

    def do(self, log: Path) -> None:
        for name, content in self.files.items():
            file = log / name
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)

    def is_there(self, log: Path, name: str) -> bool:
        """Tell whether a file is still as the damage left it."""
        file, content = log / name, self.files[name]
        return not file.exists() if content is None else content == content_of(file)

    def undo(self, log: Path, whole: Path) -> None:
        """Put back what the damage changed and nobody has changed or deleted since."""
        for name in self.files:
            if self.is_there(log, name):
                (log / name).write_bytes((whole / name).read_bytes())

    def remove(self, log: Path) -> None:
        """Delete what the damage changed, if it is still so."""
        for name in self.files:
            if self.is_there(log, name):
                (log / name).unlink(missing_ok=True)


def content_of(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def files_by_kind(log: Path) -> dict[str, list[str]]:
    names = sorted(str(file.relative_to(log)) for file in log.rglob("*") if file.is_file())
    found = {
        kind: [name for name in names if re.fullmatch(pattern, name)]
        for kind, pattern in KINDS_OF_FILES.items()
    }
    return {kind: names for kind, names in found.items() if names}


def draw_damage(log: Path, rng: random.Random) -> Damage:
    """Draw a file of any kind, and a way to damage it."""
    by_kind = files_by_kind(log)
    kind = rng.choice(list(by_kind))
    name = rng.choice(by_kind[kind])
    content = (log / name).read_bytes()
    way = rng.choice(WAYS)
    others = [other for other in by_kind[kind] if other != name]
    if way == "swapped" and others:
        other = rng.choice(others)
        both = {name: (log / other).read_bytes(), other: content}
        if rng.random() < 0.5:  # one replaced by the other
            del both[other]
        return Damage(f"{name} swapped with {other}, {len(both)} of them changed", both)
    if way == "missing" or not content:
        return Damage(f"{name} missing", {name: None})
    if way == "cut":
        at = rng.choice(cuts_of(name, content))
        return Damage(f"{name} cut to {at} of {len(content)} bytes", {name: content[:at]})
    at, bit = position(name, content, rng), rng.randrange(8)
    flipped = bytes([*content[:at], content[at] ^ (1 << bit), *content[at + 1 :]])
    return Damage(f"bit {bit} of byte {at} of {name} flipped", {name: flipped})


def cuts_of(name: str, content: bytes) -> list[int]:
    """List where to cut: at the end of each line; within a Parquet file around its footer."""
    size = len(content)
    if name.endswith(".parquet"):
        footer = size - 8 - int.from_bytes(content[-8:-4], "little")
        return [0, 4, size // 2, footer, footer + 8, size - 4, size - 1]
    ends = [i + 1 for i, byte in enumerate(content[:-1]) if byte == ord("\n")]
    return [0, *ends, *ends, size // 2, size - 1]


def position(name: str, content: bytes, rng: random.Random) -> int:
    """Draw a byte to flip; half of those of a Parquet file are in its footer."""
    size = len(content)
    if name.endswith(".parquet") and rng.random() < 0.5:
        return rng.randrange(size - 8 - int.from_bytes(content[-8:-4], "little"), size)
    return rng.randrange(size)

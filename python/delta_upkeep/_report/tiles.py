"""The key figures of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from delta_upkeep._report.checks import HealthCheck, HealthDetail
from delta_upkeep._report.figures import average_text, by_name, changes_of, series_of
from delta_upkeep._units import amount_text, bytes_text, files_text


@dataclass(frozen=True)
class Tile:
    """A key figure, and a note that explains it."""

    name: str
    number: str
    note: str
    severity: str


def tiles_of(checks: tuple[HealthCheck, ...]) -> tuple[Tile, ...]:
    """The key figures; missing checks have none."""
    known = by_name(checks)
    tiles = (
        _tile(known, "files", "Data files", _after(checks)),
        _data(known),
        _tile(known, "smallFiles", "Small files", _share(known)),
        _tile(known, "deletedRows", "Deleted rows", "hidden by deletion vectors"),
        _tile(known, "checkpoint", "Checkpoint", _sums(series_of(known, "checkpoint", "load"))),
        _tile(known, "commitsSinceCheckpoint", "Since the checkpoint", "replayed by each reader"),
        _tile(known, "log", "Log", _files(series_of(known, "log", "day"))),
        _tile(known, "expiredLog", "Expired log", _size(series_of(known, "expiredLog", "expired"))),
    )
    return tuple(tile for tile in tiles if tile is not None)


def _tile(known: Mapping[str, HealthCheck], name: str, title: str, note: str) -> Tile | None:
    if name not in known:
        return None
    check = known[name]
    return Tile(title, amount_text(check.value, check.unit), note, check.severity)


def _data(known: Mapping[str, HealthCheck]) -> Tile | None:
    sizes = series_of(known, "files", "size")
    if not sizes:
        return None
    number = bytes_text(sum(d.bytes for d in sizes))
    return Tile("Data", number, f"{average_text(sizes)} a file", "ok")


def _after(checks: tuple[HealthCheck, ...]) -> str:
    return "".join(f"{c.after} after OPTIMIZE" for c in changes_of(checks)[:1])


def _share(known: Mapping[str, HealthCheck]) -> str:
    small, files = _count(known, "smallFiles"), _count(known, "files")
    return f"{100 * small // files}% of all files" if small and files else ""


def _count(known: Mapping[str, HealthCheck], name: str) -> int:
    return int(known[name].value or 0) if name in known else 0


def _files(details: tuple[HealthDetail, ...]) -> str:
    return files_text(sum(d.count for d in details)) if details else ""


def _size(details: tuple[HealthDetail, ...]) -> str:
    return bytes_text(sum(d.bytes for d in details)) if details else ""


def _sums(load: tuple[HealthDetail, ...]) -> str:
    if not load:
        return ""
    return f"readers load {_files(load)}, {_size(load)}"

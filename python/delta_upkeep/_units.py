"""Writes numbers and names for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_UNPLURAL = {"files": "file", "commits": "commit", "rows": "row"}


def byte_unit(count: float) -> tuple[int, str]:
    """Choose the unit to write a size in, and return its bytes and its name.

    It is the smallest unit in which the rounded number is below 1024: 1048575 is 1.0 MiB, not
    1024.0 KiB.
    """
    size = abs(round(count))
    power = 0
    while _tenths(size, 1024**power) >= 10240 and power < len(_BYTE_UNITS) - 1:
        power += 1
    return 1024**power, _BYTE_UNITS[power]


def bytes_text(count: float) -> str:
    """Write bytes in their unit, as the statements do: 1288490188 as 1.2 GiB."""
    size = abs(round(count))
    unit, name = byte_unit(count)
    if unit == 1:
        return f"{round(count)} {name}"
    whole, tenth = divmod(_tenths(size, unit), 10)
    return f"{'-' if count < 0 else ''}{whole}.{tenth} {name}"


def _tenths(size: int, unit: int) -> int:
    """Round half up to tenths of a unit: 1280 bytes are 13 tenths of a KiB."""
    return (10 * size + unit // 2) // unit


def count_text(count: float) -> str:
    """Write a number with commas and at most one decimal: 12345.0 as 12,345."""
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def amount_text(value: float | None, unit: str) -> str:
    """Write a number with its unit; a dash if there is no number."""
    if value is None:
        return "–"  # noqa: RUF001
    if unit == "bytes":
        return bytes_text(value)
    if unit == "percent":
        return f"{count_text(value)}%"
    if unit == "version":
        return f"version {value:.0f}"
    return f"{count_text(value)} {_unit(value, unit)}".rstrip()


def files_text(count: int) -> str:
    """Write a number of files."""
    return amount_text(count, "files")


def name_text(name: str) -> str:
    """Write an identifier as words: rowGroups as Row groups."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return words[:1].upper() + words[1:]


def listed(parts: Sequence[str]) -> str:
    """Put parts into a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def shortened(text: str, length: int) -> str:
    """Cut a text to at most this length."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _unit(value: float, unit: str) -> str:
    return _UNPLURAL.get(unit, unit) if value == 1 else unit

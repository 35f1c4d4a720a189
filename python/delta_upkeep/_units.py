"""Numbers and names as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNPLURAL = {"files": "file", "commits": "commit", "rows": "row"}


def byte_unit(count: float) -> tuple[int, str]:
    """The largest unit that leaves a number of at least 1: its bytes and its name."""
    power = 0
    while abs(count) >= 1023.5 * 1024**power and power < len(_BYTE_UNITS) - 1:
        power += 1
    return 1024**power, _BYTE_UNITS[power]


def bytes_text(count: float) -> str:
    """Write bytes in their unit: 1288490188 as 1.2 GiB."""
    size, unit = byte_unit(count)
    digits = 1 if size > 1 and abs(count / size) < 99.95 else 0
    return f"{count / size:,.{digits}f} {unit}"


def count_text(count: float) -> str:
    """Write a number with commas and at most one decimal: 12345.0 as 12,345."""
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def amount_text(value: float | None, unit: str) -> str:
    """Write a number with its unit; a dash where there is none."""
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
    """Write a name of the code as words: rowGroups as Row groups."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return words[:1].upper() + words[1:]


def listed(parts: Sequence[str]) -> str:
    """Put parts into a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def shortened(text: str, length: int) -> str:
    """Cut a text that is too long for its place."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _unit(value: float, unit: str) -> str:
    return _UNPLURAL.get(unit, unit) if value == 1 else unit

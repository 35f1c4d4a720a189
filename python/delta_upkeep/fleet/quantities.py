"""Sizes and durations as people write them."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)\s*([kmgtp]?)(?:i?b)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+)\s*([smhd])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def size_of(value: str | int) -> int:
    """Read a size in bytes: ``500g`` is 536870912000, with units of 1024 as in Spark.

    Raises:
        ValueError: The value is not a size, or it is zero.
    """
    if isinstance(value, int):
        number, unit = value, ""
    else:
        number, unit = _parts(_SIZE, value)
    exponent = " kmgtp".index(unit) if unit else 0
    return _positive(number * 1024**exponent)


def duration_of(value: str | int) -> float:
    """Read a duration in seconds: ``2h`` is 7200. A number without a unit is in seconds.

    Raises:
        ValueError: The value is not a duration, or it is zero.
    """
    if isinstance(value, int):
        return float(_positive(value))
    number, unit = _parts(_DURATION, value)
    return float(_positive(number * _SECONDS[unit]))


def _parts(pattern: re.Pattern[str], text: str) -> tuple[int, str]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return int(match[1]), match[2].lower()


def _positive(number: int) -> int:
    if number <= 0:
        raise ValueError(number)
    return number

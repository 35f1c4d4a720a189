"""The options of the statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

OptionValue = Union[str, int, float, bool]


def option_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Write the values of options as in SQL."""
    return {key: _text(key, value) for key, value in options.items()}


def _text(key: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(
        f"The option '{key}' cannot be a {type(value).__name__}. Use a str, int, float or bool."
    )

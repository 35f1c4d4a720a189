"""The options of the statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

OptionValue = Union[str, int, float, bool]
Options = Mapping[str, OptionValue]


def option_texts(options: Options | None) -> dict[str, str]:
    """Write the values of options as in SQL.

    Raises:
        TypeError: It is not a mapping, or a value cannot be an option.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            f"options cannot be a {type(options).__name__}. "
            "Use a dict, such as {'maxFiles': 1000}."
        )
    return {key: _text(key, value) for key, value in options.items()}


def with_arguments(
    options: Options | None, arguments: Mapping[str, OptionValue | None]
) -> dict[str, str]:
    """Add arguments that stand for options of the same name; None stands for the default.

    Raises:
        TypeError: As for ``option_texts``, or an option is given in both ways.
    """
    texts = option_texts(options)
    given = option_texts({key: value for key, value in arguments.items() if value is not None})
    for name in {key.lower() for key in texts} & {key.lower() for key in given}:
        raise TypeError(
            f"The option '{name}' is given as an argument and in options. Give it once."
        )
    return {**texts, **given}


def _text(key: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(
        f"The option '{key}' cannot be a {type(value).__name__}. Use a str, int, float or bool."
    )

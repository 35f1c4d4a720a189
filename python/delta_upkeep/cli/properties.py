"""Settings of Spark from the command line: ``--conf`` and ``--properties-file``."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from delta_upkeep.fleet.keys import ConfigError

# The first of these that is not escaped ends a key; `=` and `:` may have spaces around them.
_SEPARATOR = re.compile(r"(?<!\\)(?:\s*[=:]\s*|\s+)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def add_settings(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--conf",
        metavar="KEY=VALUE",
        dest="conf",
        type=setting,
        action="append",
        default=[],
        help="a setting of Spark; can be repeated",
    )
    parser.add_argument(
        "--properties-file",
        metavar="FILE",
        type=Path,
        help="settings of Spark, in the format of spark-defaults.conf",
    )


def setting(text: str) -> tuple[str, str]:
    """Read ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("spark."):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not KEY=VALUE, such as spark.driver.memory=4g"
        )
    return key, value


def settings_of(arguments: Namespace) -> dict[str, str]:
    """Return the settings. As with spark-submit, ``--conf`` takes precedence over the file.

    Raises:
        ConfigError: The file cannot be read.
    """
    file: Path | None = arguments.properties_file
    try:
        text = "" if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        why = e.strerror if isinstance(e, OSError) else "it is not UTF-8"
        raise ConfigError(f"The file {file} cannot be read: {why}. Check --properties-file.") from e
    # Spark ignores other keys too, with a warning.
    of_file = {key: value for key, value in read(text).items() if key.startswith("spark.")}
    return {**of_file, **dict(arguments.conf)}


def read(text: str) -> Mapping[str, str]:
    """Read Java properties, which is the format of Spark's files."""
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        key, *rest = _SEPARATOR.split(line, maxsplit=1)
        found[_unescaped(key)] = _unescaped(rest[0] if rest else "").strip()
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Join lines that a backslash continues, and leave out comments and empty lines."""
    begun = ""
    for raw in text.splitlines():
        line = raw.lstrip()
        if not begun and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun += line[:-1]
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun


def _unescaped(text: str) -> str:
    def char(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROL.get(code, code)

    return _ESCAPE.sub(char, text)

"""Java properties, which is the format of Spark's files of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# The first of these that is not escaped ends a key; `=` and `:` may have spaces around them.
_SEPARATOR = re.compile(r"(?<!\\)(?:\s*[=:]\s*|\s+)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read(text: str) -> Mapping[str, str]:
    """Read a file. As Spark does, leave out spaces at the end of a value."""
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

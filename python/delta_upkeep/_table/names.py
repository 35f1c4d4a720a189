"""Table names: parts separated by dots, some of them in backquotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_PART = re.compile(r"`(?:[^`]|``)+`|[^.`]+")
_PLAIN = re.compile(r"[A-Za-z0-9_]+")


class MalformedName(ValueError):
    """A text that cannot be split into the parts of a name."""


@dataclass(frozen=True)
class Part:
    """A part of a name.

    Attributes:
        text: The part without its backquotes: ```a``b``` is ``a`b``.
        is_quoted: Whether it was in backquotes.
    """

    text: str
    is_quoted: bool


def parts_of(text: str) -> tuple[Part, ...]:
    """Split a name: ``delta.`/a.b``` has the parts ``delta`` and ``/a.b``.

    Raises:
        MalformedName: A part is empty, or a backquote is out of place.
    """
    parts: list[Part] = []
    position = 0
    while True:
        match = _PART.match(text, position)
        if match is None:
            raise MalformedName(f"'{text}' has an empty part or an unclosed backquote.")
        parts.append(Part(unquoted(match[0]), match[0].startswith("`")))
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            raise MalformedName(f"'{text}' has a backquote inside a part.")
        position += 1


def quoted(part: str) -> str:
    """Write a part in backquotes: ``a`b`` as ```a``b```."""
    return f"`{part.replace('`', '``')}`"


def quoted_name(parts: Iterable[Part]) -> str:
    """Write a name with all of its parts in backquotes."""
    return ".".join(quoted(part.text) for part in parts)


def unquoted(part: str) -> str:
    """Read a part that may be in backquotes."""
    return part[1:-1].replace("``", "`") if part.startswith("`") else part


def label_of(parts: Iterable[str]) -> str:
    """Write a name with backquotes only where a part needs them."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in parts)


def is_path(text: str) -> bool:
    """Tell a path from a name: it has a slash, and is not ``delta.`/path```."""
    return "/" in text and "`" not in text

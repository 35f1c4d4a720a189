"""Patterns that select tables by name or by path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from delta_upkeep._table.names import MalformedName, Part, is_path, parts_of, quoted
from delta_upkeep.fleet.keys import InvalidValue

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)(?://([^/]*))?(/.*)")


class PatternError(InvalidValue):
    """An invalid pattern."""


@dataclass(frozen=True)
class NamePattern:
    """A name of one to three parts, each of which may be a glob: ``sales.*``, ``*.events_*``.

    Case does not matter. A part in backquotes is not a glob. A missing catalog or schema is the
    session's current one.
    """

    text: str

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts without backquotes, in the order written."""
        return tuple(part.text for part in self._parts)

    @cached_property
    def literal(self) -> bool:
        """Whether it names one table, without a glob."""
        return not any(_has_glob(part.text) and not part.is_quoted for part in self._parts)

    def padded(self, catalog: str, schema: str) -> NamePattern:
        """Add the session's catalog and schema if the pattern names none."""
        missing = [quoted(part) for part in (catalog, schema)][: 3 - len(self.parts)]
        return NamePattern(".".join([*missing, self.text]))

    def matches_part(self, position: int, name: str) -> bool:
        """Match the part of a name at a position."""
        return self._regexes[position].fullmatch(name) is not None

    def matches(self, name: tuple[str, ...]) -> bool:
        """Match the last parts of a name: ``sales.*`` matches in every catalog."""
        last = name[-len(self.parts) :]
        return all(self.matches_part(i, part) for i, part in enumerate(last))

    @cached_property
    def _regexes(self) -> tuple[re.Pattern[str], ...]:
        return tuple(
            _compiled(
                re.escape(part.text) if part.is_quoted else glob_regex(part.text, "."),
                self.text,
                re.IGNORECASE,
            )
            for part in self._parts
        )

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        try:
            return parts_of(self.text)
        except MalformedName as e:
            raise PatternError(str(e)) from e


@dataclass(frozen=True)
class PathPattern:
    """A path as Hadoop globs it: ``/data/*``, ``s3a://b/{raw,clean}/*``; ``*`` stops at a slash.

    A pattern without a scheme matches in every file system.
    """

    text: str

    @cached_property
    def literal(self) -> bool:
        """Whether it names one directory, without a glob."""
        return not _has_glob(self.text)

    def matches(self, path: str) -> bool:
        """Match the path of a table; the path has its scheme."""
        scheme, _ = _split_scheme(self.text)
        own, rest = _split_scheme(path)
        return scheme in ("", own) and self._regex.fullmatch(rest.rstrip("/")) is not None

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        _, glob = _split_scheme(self.text)
        if not glob.startswith("/"):
            raise PatternError(f"The path '{self.text}' is relative. Write an absolute path.")
        return _compiled(glob_regex(glob.rstrip("/"), "[^/]"), self.text, re.RegexFlag(0))


def pattern_of(text: str) -> NamePattern | PathPattern:
    """Read a pattern.

    Raises:
        PatternError: A name has more than three parts, a path is relative, or a glob is invalid.
    """
    if is_path(text):
        path = PathPattern(text)
        path.matches("/")
        return path
    pattern = NamePattern(text)
    if len(pattern.parts) > 3:
        raise PatternError(f"'{text}' has {len(pattern.parts)} parts. A name has one to three.")
    pattern.matches(pattern.parts)
    if len(pattern.parts) == 3 and _has_glob(pattern.parts[0]):
        raise PatternError(
            f"'{text}' has a glob for the catalog. Write one pattern for each catalog."
        )
    return pattern


def glob_regex(glob: str, any_char: str) -> str:
    r"""Translate one of Hadoop's globs: ``*``, ``?``, ``[a-c]``, ``[^a]``, ``{a,b}`` and ``\*``.

    Args:
        glob: The glob.
        any_char: The regular expression of the characters that ``*`` and ``?`` match.

    Example:
        >>> glob_regex("/data/{a,b}*", "[^/]")
        '/data/(?:a|b)[^/]*'
    """
    texts: list[str] = []
    depth, i = 0, 0
    while i < len(glob):
        char = glob[i]
        if char == "[":
            end = glob.find("]", i + 2)
            if end < 0:
                raise PatternError(
                    f"'{glob}' has a [ without a ]. Close it, or write \\[ for the character."
                )
            texts.append(_char_class(glob[i + 1 : end]))
            i = end
        elif char == "\\" and i + 1 < len(glob):
            i += 1
            texts.append(re.escape(glob[i]))
        elif char == "{":
            depth += 1
            texts.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            texts.append(")")
        elif char == "," and depth:
            texts.append("|")
        else:
            texts.append({"*": f"{any_char}*", "?": any_char}.get(char) or re.escape(char))
        i += 1
    if depth:
        raise PatternError(
            f"'{glob}' has a {{ without a }}. Close it, or write \\{{ for the character."
        )
    return "".join(texts)


def _compiled(regex: str, text: str, flags: re.RegexFlag) -> re.Pattern[str]:
    try:
        return re.compile(regex, flags | re.DOTALL)
    except re.error as e:
        raise PatternError(f"'{text}' is not a valid glob: {e}. Correct it.") from e


def _char_class(content: str) -> str:
    negated = content[0] in "!^"
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", content[1:] if negated else content)
    return f"[{'^' if negated else ''}{escaped}]"


def _has_glob(text: str) -> bool:
    return any(char in text for char in "*?[{")


def _split_scheme(uri: str) -> tuple[str, str]:
    """Split ``s3a://b/x`` into ``s3a://b`` and ``/x``; ``file:///x`` is the same as ``file:/x``."""
    match = _SCHEME.fullmatch(uri)
    if match is None:
        return "", uri
    scheme, authority, path = match.groups()
    return (f"{scheme}//{authority}" if authority else scheme), path

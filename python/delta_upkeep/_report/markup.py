"""Builds HTML and SVG. Text is escaped, unless it already is markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Markup(str):
    """Text that already is HTML and is not escaped again."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Make an element: ``tag("p", "a < b", class_="note")``.

    Args:
        name: The name of the element.
        children: Markup, or texts to escape.
        attributes: A trailing underscore is dropped, and other underscores become hyphens. None
            leaves the attribute out.
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{pairs}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Join the children, and escape the texts among them."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children))


def _value(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))

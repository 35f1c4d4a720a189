"""The style sheets of the report."""

from __future__ import annotations

import re
from importlib.resources import files

CLASS = "delta-upkeep-health"


def style() -> str:
    """Return the rules of the report."""
    return _sheet("style.css").replace(f".{CLASS}", f".{CLASS}.{CLASS}")


def page_style() -> str:
    """Return the rules of a page that holds nothing but the report."""
    return _sheet("page.css")


def _sheet(name: str) -> str:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    without_comments = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "", without_comments)

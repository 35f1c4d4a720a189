"""Checks the links between the pages of the site, and lists those that leave it.

Sphinx warns of Markdown links that lead nowhere. This script looks at the pages that it made: links
in HTML, links to Scaladoc, which Sphinx does not know, and references that Markdown left as text.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# `[Spark][spark-conf]`, if nothing defines spark-conf.
LEFT_AS_TEXT = re.compile(r"\[[^\]\[]+\]\[[\w-]*\]")
VERBATIM = {"pre", "code", "script", "style"}
# Not pages of ours, or made without one.
OTHERS = ("scala", "_static", "_modules", "genindex.html", "py-modindex.html", "search.html")


@dataclass
class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    links: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)
    text: list[str] = field(default_factory=list)
    verbatim: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read links and anchors."""
        values = dict(attrs)
        self.verbatim += tag in VERBATIM
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        self.links |= {value for key in ("href", "src") if (value := values.get(key))}

    def handle_endtag(self, tag: str) -> None:
        """Leave text that is shown as it stands."""
        self.verbatim -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        """Read text."""
        if not self.verbatim:
            self.text.append(data)


def page_at(path: Path) -> Page:
    """Read a page."""
    page = Page()
    page.feed(path.read_text())
    return page


def faults(site: Path) -> Iterator[str]:
    """Report links to a page or an anchor that does not exist."""
    pages: dict[Path, Page] = {}
    for path in own_pages(site):
        name = path.relative_to(site)
        page = pages.setdefault(path.resolve(), page_at(path))
        for left in LEFT_AS_TEXT.findall("".join(page.text)):
            yield f"{name}: {left} is not defined"
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                yield f"{name}: {link} does not exist"
            elif parts.fragment and target.suffix == ".html":
                if target not in pages:
                    pages[target] = page_at(target)
                if unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{name}: {link} has no such anchor"


def external(site: Path) -> set[str]:
    """List the links that leave the site."""
    found = (link for path in own_pages(site) for link in page_at(path).links)
    return {link for link in found if urlsplit(link).scheme in ("http", "https")}


def own_pages(site: Path) -> list[Path]:
    """List the pages of the guide and of the Python API."""
    pages = (path.relative_to(site) for path in site.rglob("*.html"))
    return sorted(site / page for page in pages if page.parts[0] not in OTHERS)


def main(site: Path) -> int:
    """Check a site."""
    pages = own_pages(site)
    if not pages:
        raise SystemExit(f"no pages in {site}")
    found = list(faults(site))
    print(*sorted(external(site)), sep="\n")
    print("\n".join(found) or f"the links between {len(pages)} pages are whole")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

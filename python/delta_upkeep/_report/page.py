"""Writes the report as HTML: findings first, then the figures, then every number."""

from __future__ import annotations

from collections import Counter

from delta_upkeep._report.checks import (
    SEVERITIES,
    SEVERITY_WORDS,
    HealthCheck,
    HealthDetail,
    worst_first,
    worst_severity,
)
from delta_upkeep._report.drawings import drawing, severity_mark
from delta_upkeep._report.figures import changes_of, figures_of, gain_texts, sizes_of
from delta_upkeep._report.markup import Markup, joined, tag
from delta_upkeep._report.style import CLASS, page_style, style
from delta_upkeep._report.tiles import Tile, tiles_of
from delta_upkeep._units import amount_text, bytes_text, count_text, listed, name_text
from delta_upkeep.version import __version__

Checks = tuple[HealthCheck, ...]
_NOTHING = Markup("")
_NUMBERS = {"Number", "Count", "Bytes"}


def page(path: str, checks: Checks) -> str:
    """Return a self-contained page that loads nothing."""
    head = (
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        tag("title", f"Health of {path}"),
        tag("style", Markup(page_style())),
    )
    body = tag("body", tag("main", fragment(path, checks)))
    html = tag("html", tag("head", *head), body, lang="en")
    return f"<!doctype html>\n{html}\n"


def fragment(path: str, checks: Checks) -> Markup:
    """Return the report as a part of another page, such as a notebook."""
    parts = (
        tag("style", Markup(style())),
        _header(path, checks),
        _tiles(checks),
        _findings(checks),
        _sizes(checks),
        _figures(checks),
        _all_checks(checks),
        _data(checks),
        tag("p", f"DESCRIBE HEALTH, Delta Upkeep {__version__}", class_="foot"),
    )
    return tag("section", *parts, class_=CLASS, aria_label=f"Health of {path}")


def summary(checks: Checks) -> str:
    """Sum up the checks in a sentence."""
    number = Counter(check.severity for check in checks)
    total = f"{len(checks)} checks" if len(checks) != 1 else "1 check"
    worst = worst_first(checks)
    if not worst:
        return f"{total} found nothing that needs attention."
    counts = [
        f"{number[name]} {SEVERITY_WORDS[name].lower()}{_plural(name, number[name])}"
        for name in reversed(SEVERITIES[1:])
        if number[name]
    ]
    first = name_text(worst[0].check).lower()
    return f"{listed(counts)} in {total}; look at {first} first."


def _plural(severity: str, number: int) -> str:
    return "s" if number != 1 and severity != "critical" else ""


def _header(path: str, checks: Checks) -> Markup:
    worst = worst_severity(checks)
    status = (_severity(worst), tag("span", summary(checks)))
    return tag(
        "header",
        tag("p", "Table health", class_="soft small"),
        tag("h1", path),
        tag("div", *status, class_="status card"),
    )


def _severity(severity: str) -> Markup:
    words = tag("span", SEVERITY_WORDS[severity])
    return tag("span", severity_mark(severity), words, class_=f"severity {severity}")


def _tiles(checks: Checks) -> Markup:
    tiles = tiles_of(checks)
    return tag("dl", *map(_tile, tiles), class_="grid tiles") if tiles else _NOTHING


def _tile(tile: Tile) -> Markup:
    mark = _NOTHING
    if tile.severity != "ok":
        mark = tag("span", severity_mark(tile.severity), class_=tile.severity)
    return tag(
        "div",
        tag("dt", mark, tile.name),
        tag("dd", tile.number, class_="number"),
        tag("dd", tile.note, class_="soft small") if tile.note else _NOTHING,
        class_="card",
    )


def _findings(checks: Checks) -> Markup:
    found = [_finding(check) for check in worst_first(checks)]
    if not found:
        return _NOTHING
    return tag("section", tag("h2", "Findings"), tag("div", *found, class_="grid"))


def _finding(check: HealthCheck) -> Markup:
    remedy = _NOTHING
    if check.remedy:
        remedy = tag("pre", tag("code", check.remedy), aria_label="Remedy")
    return tag(
        "article",
        _severity(check.severity),
        tag("h3", name_text(check.check)),
        tag("span", amount_text(check.value, check.unit), class_="number"),
        tag("p", check.message),
        tag("p", check.why, class_="soft"),
        remedy,
        class_="card finding",
    )


def _sizes(checks: Checks) -> Markup:
    figures = sizes_of(checks)
    if not figures:
        return _NOTHING
    title = "Before and after OPTIMIZE" if changes_of(checks) else "Data files"
    grid = tag("div", *map(drawing, figures), class_="grid figures")
    return tag("section", tag("h2", title), _changes(checks), grid)


def _changes(checks: Checks) -> Markup:
    tiles = [Tile(c.name, f"{c.before} → {c.after}", "", "ok") for c in changes_of(checks)]
    if not tiles:
        return _NOTHING
    gain = gain_texts(checks)
    if gain:
        tiles.append(Tile("A full scan saves", gain[0], listed(gain[1:]), "ok"))
    return tag("dl", *map(_tile, tiles), class_="grid tiles changes")


def _figures(checks: Checks) -> Markup:
    figures = figures_of(checks)
    if not figures:
        return _NOTHING
    grid = tag("div", *map(drawing, figures), class_="grid figures")
    return tag("section", tag("h2", "Figures"), grid)


def _all_checks(checks: Checks) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", _severity(check.severity)),
            tag("th", name_text(check.check), tag("p", check.message, class_="soft"), scope="row"),
            tag("td", amount_text(check.value, check.unit), class_="number"),
        )
        for check in checks
    ]
    table = _table(("Severity", "Check", "Number"), rows)
    return tag("section", tag("h2", "All checks"), tag("div", table, class_="card"))


def _data(checks: Checks) -> Markup:
    tables = [
        _data_table(f"{name_text(check.check)}: {name_text(name).lower()}", check.series(name))
        for check in checks
        for name in check.series_names
    ]
    if not tables:
        return _NOTHING
    details = tag("details", tag("summary", "Data behind the figures"), *tables, class_="card")
    return tag("section", tag("h2", "Data"), details)


def _data_table(name: str, details: tuple[HealthDetail, ...]) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", detail.label or "whole table", scope="row"),
            tag("td", count_text(detail.count), class_="number"),
            tag("td", bytes_text(detail.bytes), class_="number"),
        )
        for detail in details
    ]
    return _table(("Label", "Count", "Bytes"), rows, tag("caption", name))


def _table(heads: tuple[str, ...], rows: list[Markup], caption: Markup = _NOTHING) -> Markup:
    cells = [
        tag("th", head, scope="col", class_="number" if head in _NUMBERS else None)
        for head in heads
    ]
    return tag("table", caption, tag("thead", tag("tr", *cells)), tag("tbody", joined(rows)))

"""Chooses the figures and their data, for the page and for matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, Union

from delta_upkeep._report.checks import HealthCheck, HealthDetail
from delta_upkeep._units import bytes_text, count_text, files_text, name_text

Measure = Literal["count", "bytes"]


@dataclass(frozen=True)
class Group:
    """Bars of one colour, with a detail for each label of the figure."""

    name: str
    details: tuple[HealthDetail, ...]


@dataclass(frozen=True)
class Bars:
    """A bar for each label and group."""

    title: str
    note: str
    groups: tuple[Group, ...]
    measure: Measure


@dataclass(frozen=True)
class Timeline:
    """A bar for each day that has files."""

    title: str
    note: str
    days: tuple[HealthDetail, ...]

    @property
    def places(self) -> list[int]:
        """The positions of the days; evenly spaced unless the labels are ascending dates."""
        evenly = list(range(len(self.days)))
        try:
            places = [date.fromisoformat(day.label).toordinal() for day in self.days]
        except ValueError:
            return evenly
        return places if all(a < b for a, b in zip(places, places[1:])) else evenly


@dataclass(frozen=True)
class Heat:
    """A cell for each partition."""

    title: str
    note: str
    cells: tuple[HealthDetail, ...]


Figure = Union[Bars, Timeline, Heat]


@dataclass(frozen=True)
class Change:
    """A number now and after OPTIMIZE."""

    name: str
    before: str
    after: str


def size(detail: HealthDetail, measure: Measure) -> int:
    """The number that a figure draws for a detail."""
    return detail.count if measure == "count" else detail.bytes


def size_text(detail: HealthDetail, measure: Measure) -> str:
    """The number that a figure draws, as text."""
    return count_text(detail.count) if measure == "count" else bytes_text(detail.bytes)


def detail_text(detail: HealthDetail) -> str:
    """A whole detail as text."""
    count = files_text(detail.count) if counts_files(detail) else count_text(detail.count)
    return f"{detail.label}: {count}, {bytes_text(detail.bytes)}"


def counts_files(detail: HealthDetail) -> bool:
    """Whether a detail counts files, as most known series do."""
    return detail.series in _FILE_SERIES or detail.series.startswith(_VALUES)


def by_name(checks: Iterable[HealthCheck]) -> dict[str, HealthCheck]:
    """The checks by their names."""
    return {check.check: check for check in checks}


def series_of(
    checks: Mapping[str, HealthCheck], check: str, series: str
) -> tuple[HealthDetail, ...]:
    """The details of a series; empty if the check or the series is missing."""
    return checks[check].series(series) if check in checks else ()


def sizes_of(checks: tuple[HealthCheck, ...]) -> tuple[Bars, ...]:
    """Files and bytes by size; also after OPTIMIZE, if it changes them."""
    known = by_name(checks)
    now, after = series_of(known, "files", "size"), series_of(known, "files", "sizeAfter")
    if not any(d.count for d in now):
        return ()
    groups: tuple[Group, ...] = (Group("now", now),)
    when = ""
    if changes_of(checks):
        labels = tuple(dict.fromkeys(d.label for d in now + after))
        groups = (Group("now", _at(labels, now)), Group("after OPTIMIZE", _at(labels, after)))
        when = ", now and after OPTIMIZE"
    return (
        Bars("Files by size", f"Number of files{when}", groups, "count"),
        Bars("Data by size", f"Bytes in these files{when}", groups, "bytes"),
    )


def figures_of(checks: tuple[HealthCheck, ...]) -> tuple[Figure, ...]:
    """The other figures that have data; figures of unknown series come last."""
    known = by_name(checks)
    load = series_of(known, "checkpoint", "load")
    row_groups = series_of(known, "rowGroups", "rowGroup")
    expired = series_of(known, "expiredLog", "expired")
    figures = (
        _log(series_of(known, "log", "day")),
        _bars("What a reader loads", f"From the log: {_total(load)}", load, "bytes"),
        _partitions(
            series_of(known, "files", "partition"), series_of(known, "files", "otherPartitions")
        ),
        *_clustering(known),
        _bars("Row groups", "Sizes in a sample of footers", row_groups, "count"),
        _bars("Expired log", f"By kind of file: {_total(expired)}", expired, "bytes"),
        *(_unknown(check, name) for check in checks for name in check.series_names),
    )
    return tuple(figure for figure in figures if figure is not None)


def changes_of(checks: tuple[HealthCheck, ...]) -> tuple[Change, ...]:
    """What OPTIMIZE would change in the files; empty if nothing would change."""
    known = by_name(checks)
    now, after = series_of(known, "files", "size"), series_of(known, "files", "sizeAfter")
    if not now or not after or _numbers(now) == _numbers(after):
        return ()
    return (
        Change("Data files", _files(now), _files(after)),
        Change("Data", _bytes(now), _bytes(after)),
        Change("Average file", average_text(now), average_text(after)),
    )


def gain_texts(checks: tuple[HealthCheck, ...]) -> tuple[str, ...]:
    """What a full scan saves after OPTIMIZE, part by part."""
    return tuple(
        bytes_text(gain.bytes)
        if gain.label == "bytes"
        else f"{count_text(gain.count)} {gain.label}"
        for gain in series_of(by_name(checks), "smallFiles", "gain")
        if gain.count or gain.bytes
    )


def average_text(details: tuple[HealthDetail, ...]) -> str:
    """The average size of the files of a series."""
    return bytes_text(sum(d.bytes for d in details) // max(1, sum(d.count for d in details)))


_FILE_SERIES = {
    "size",
    "sizeAfter",
    "partition",
    "otherPartitions",
    "load",
    "day",
    "expired",
    "clustered",
}
# What follows is the name of a column.
_VALUES = "values of "
_KNOWN = {
    ("files", "size"),
    ("files", "sizeAfter"),
    ("files", "partition"),
    ("files", "otherPartitions"),
    ("smallFiles", "gain"),
    ("rowGroups", "rowGroup"),
    ("checkpoint", "load"),
    ("log", "day"),
    ("expiredLog", "expired"),
}


def _log(days: tuple[HealthDetail, ...]) -> Timeline | None:
    return Timeline("Log", f"Bytes by day: {_total(days)}", days) if days else None


def _clustering(known: Mapping[str, HealthCheck]) -> tuple[Bars | None, ...]:
    """Bytes by how they are clustered, and the files of each value along each column."""
    if "clustering" not in known:
        return ()
    check = known["clustering"]
    states = check.series("clustered")
    figures = [_bars("Clustering", "Bytes of files by their tags", states, "bytes")]
    for name in check.series_names:
        if name.startswith(_VALUES):
            title = f"Files by {name}"
            note = "Files that a query for the value opens, by their statistics"
            figures.append(_bars(title, note, check.series(name), "count"))
    return tuple(figures)


def _partitions(cells: tuple[HealthDetail, ...], others: tuple[HealthDetail, ...]) -> Heat | None:
    if len(cells) < 2:
        return None
    rest = "".join(f"; {detail_text(d)}" for d in others)
    return Heat("Partitions", f"{count_text(len(cells))} partitions{rest}", cells)


def _bars(
    title: str, note: str, details: tuple[HealthDetail, ...], measure: Measure
) -> Bars | None:
    if not any(size(d, measure) for d in details):
        return None
    return Bars(title, note, (Group(title, details),), measure)


def _unknown(check: HealthCheck, series: str) -> Bars | None:
    if (check.check, series) in _KNOWN or check.check == "clustering":
        return None
    details = check.series(series)
    measure: Measure = "count" if any(d.count for d in details) else "bytes"
    return _bars(name_text(check.check), name_text(series), details, measure)


def _at(labels: tuple[str, ...], details: tuple[HealthDetail, ...]) -> tuple[HealthDetail, ...]:
    found = {d.label: d for d in details}
    series = details[0].series
    return tuple(found.get(label, HealthDetail(series, label, 0, 0)) for label in labels)


def _numbers(details: tuple[HealthDetail, ...]) -> list[tuple[str, int, int]]:
    return [(d.label, d.count, d.bytes) for d in details]


def _total(details: tuple[HealthDetail, ...]) -> str:
    return f"{files_text(sum(d.count for d in details))}, {_bytes(details)}"


def _files(details: tuple[HealthDetail, ...]) -> str:
    return count_text(sum(d.count for d in details))


def _bytes(details: tuple[HealthDetail, ...]) -> str:
    return bytes_text(sum(d.bytes for d in details))

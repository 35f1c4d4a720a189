"""The rows of DESCRIBE HEALTH as values, and the names of their severities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SEVERITIES = ("ok", "info", "warning", "critical")
SEVERITY_WORDS = {"ok": "OK", "info": "Note", "warning": "Warning", "critical": "Critical"}


@dataclass(frozen=True)
class HealthDetail:
    """One number behind a check, such as a bucket of a histogram.

    Attributes:
        series: The series it belongs to, such as ``size`` or ``partition``.
        label: Its place in the series, such as ``1 to 4 MiB`` or ``day=2026-01-01``.
        count: A number of files in most series.
        bytes: The size of these files.
    """

    series: str
    label: str
    count: int
    bytes: int


@dataclass(frozen=True)
class HealthCheck:
    """One check of a table.

    Attributes:
        check: Its name. It does not change between versions.
        severity: ``ok``, ``info``, ``warning`` or ``critical``.
        value: What was measured; None if there is no number.
        unit: The unit of the value.
        message: What was found.
        why: Why it matters to readers and writers.
        remedy: The statement that fixes it; None if nothing needs fixing.
        details: More numbers, series by series.
    """

    check: str
    severity: str
    value: float | None
    unit: str
    message: str
    why: str
    remedy: str | None
    details: tuple[HealthDetail, ...]

    @property
    def series_names(self) -> tuple[str, ...]:
        """The names of its series, in the order of the details."""
        return tuple(dict.fromkeys(detail.series for detail in self.details))

    def series(self, name: str) -> tuple[HealthDetail, ...]:
        """Choose the details of one series.

        Returns:
            They are in the order of ``details``; empty if there is no such series.
        """
        return tuple(detail for detail in self.details if detail.series == name)


def badness(check: HealthCheck) -> int:
    """Rank a check by its severity: 0 is ``ok``."""
    return SEVERITIES.index(check.severity)


def worst_severity(checks: Iterable[HealthCheck]) -> str:
    """The worst severity of the checks; ``ok`` if there are none."""
    return SEVERITIES[max(map(badness, checks), default=0)]


def worst_first(checks: Iterable[HealthCheck]) -> tuple[HealthCheck, ...]:
    """The checks that are not ``ok``, worst first."""
    return tuple(sorted((c for c in checks if badness(c)), key=badness, reverse=True))

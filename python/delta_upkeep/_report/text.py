"""Writes the report as plain text."""

from __future__ import annotations

from delta_upkeep._report.checks import HealthCheck, HealthDetail
from delta_upkeep._units import bytes_text, count_text

_LISTED = 4


def text(path: str, checks: tuple[HealthCheck, ...]) -> str:
    """Write a line for each check, followed by a line for its details."""
    width = max((len(check.check) for check in checks), default=0)
    lines = [f"Health of {path}"]
    for check in checks:
        remedy = f" -> {check.remedy}" if check.remedy else ""
        lines.append(f"{check.severity:<9}{check.check:<{width}}  {check.message}{remedy}")
        series = [_series(name, check.series(name)) for name in check.series_names]
        lines += [f"{'':<{9 + width}}  {'; '.join(series)}"] if series else []
    return "\n".join(lines)


def _series(name: str, details: tuple[HealthDetail, ...]) -> str:
    """List a few details, as 'load: checkpoint 1 (2.0 KiB)', or sum up many."""
    if len(details) <= _LISTED:
        said = ", ".join(f"{d.label} {_numbers(d.count, d.bytes)}".lstrip() for d in details)
        return f"{name}: {said}"
    total = _numbers(sum(d.count for d in details), sum(d.bytes for d in details))
    return f"{name}: {total} in {len(details)}"


def _numbers(count: int, size: int) -> str:
    said = [f"({bytes_text(size)})"] if size else []
    return " ".join([count_text(count), *said]) if count or not size else bytes_text(size)

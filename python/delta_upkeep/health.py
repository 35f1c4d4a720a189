"""What DESCRIBE HEALTH says of a table, as an object that shows itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

_COLOURS = {"ok": "#2e7d32", "info": "#1565c0", "warning": "#b26a00", "critical": "#c62828"}
_SEVERITIES = tuple(_COLOURS)
_STYLE = (
    "table.health{border-collapse:collapse;font-family:sans-serif}"
    "table.health td,table.health th{padding:.3em .8em;text-align:left;"
    "border-bottom:1px solid #8884}"
)


@dataclass(frozen=True)
class HealthCheck:
    """One check of a table.

    Attributes:
        check: Its name, stable between versions.
        severity: ``ok``, ``info``, ``warning`` or ``critical``.
        value: The number behind it, None where there is none.
        unit: Of the number.
        message: What it means for readers and writers.
        remedy: The statement that mends it, None where nothing needs mending.
    """

    check: str
    severity: str
    value: float | None
    unit: str
    message: str
    remedy: str | None


@dataclass(frozen=True)
class HealthReport:
    """The checks of one table, in the order of the statement.

    Attributes:
        path: Root of the table.
        checks: All of them; ``findings`` are those that ask for attention.
    """

    path: str
    checks: tuple[HealthCheck, ...]

    @classmethod
    def of(cls, rows: DataFrame) -> HealthReport:
        """Read the rows of DESCRIBE HEALTH."""
        found = [row.asDict() for row in rows.collect()]
        path = str(found[0]["path"])
        names = HealthCheck.__dataclass_fields__
        return cls(path, tuple(HealthCheck(**{n: row[n] for n in names}) for row in found))

    @property
    def findings(self) -> tuple[HealthCheck, ...]:
        """The checks that are not ``ok``, worst first."""
        found = [check for check in self.checks if check.severity != "ok"]
        return tuple(sorted(found, key=lambda c: -_SEVERITIES.index(c.severity)))

    def toDict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def toHtml(self, path: str | Path) -> None:
        """Write one self-contained page, in UTF-8."""
        page = (
            "<!doctype html><html lang='en'><meta charset='utf-8'>"
            f"<title>Health of {escape(self.path)}</title>{self._repr_html_()}</html>"
        )
        Path(path).write_text(page, encoding="utf-8")

    def plot(self) -> Any:
        """Draw how far each check is from good order.

        Returns:
            The matplotlib axes.

        Raises:
            ImportError: matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError as e:
            raise ImportError(
                "HealthReport.plot needs matplotlib, which is not installed. "
                "Install it with: pip install 'delta-upkeep[plot]'"
            ) from e
        _, axes = pyplot.subplots(figsize=(8, 0.5 * len(self.checks) + 1))
        levels = [_SEVERITIES.index(check.severity) + 1 for check in self.checks]
        colours = [_COLOURS[check.severity] for check in self.checks]
        axes.barh([check.check for check in self.checks], levels, color=colours)
        axes.set_xticks(range(1, len(_SEVERITIES) + 1), _SEVERITIES)
        axes.invert_yaxis()
        axes.set_title(self.path)
        return axes

    def __str__(self) -> str:
        width = max(len(check.check) for check in self.checks)
        lines = [f"{c.severity:<9}{c.check:<{width}}  {_advice(c)}" for c in self.checks]
        return "\n".join([f"Health of {self.path}", *lines])

    def _repr_html_(self) -> str:
        rows = "".join(_html_row(check) for check in self.checks)
        return (
            f"<style>{_STYLE}</style><table class='health'><caption>{escape(self.path)}</caption>"
            f"<tr><th>severity</th><th>check</th><th>finding</th><th>remedy</th></tr>{rows}</table>"
        )


def _advice(check: HealthCheck) -> str:
    return check.message if check.remedy is None else f"{check.message} -> {check.remedy}"


def _html_row(check: HealthCheck) -> str:
    colour = _COLOURS[check.severity]
    remedy = f"<code>{escape(check.remedy)}</code>" if check.remedy else ""
    return (
        f"<tr><td style='color:{colour}'>{escape(check.severity)}</td>"
        f"<td>{escape(check.check)}</td><td>{escape(check.message)}</td><td>{remedy}</td></tr>"
    )

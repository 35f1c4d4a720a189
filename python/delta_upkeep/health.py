"""The result of DESCRIBE HEALTH, as text, as a page and as figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from delta_upkeep._report import page, text
from delta_upkeep._report.checks import HealthCheck, HealthDetail, worst_first, worst_severity


@dataclass(frozen=True)
class HealthReport:
    """The checks of one table, in the order of the statement.

    A notebook shows it as a page, with findings, key figures and charts.

    Attributes:
        path: The root directory of the table.
        checks: All checks. ``findings`` has those that need attention.
    """

    path: str
    checks: tuple[HealthCheck, ...]

    @classmethod
    def of(cls, rows: DataFrame) -> HealthReport:
        """Read the rows of DESCRIBE HEALTH.

        Returns:
            The report.
        """
        found = [row.asDict(recursive=True) for row in rows.collect()]
        return cls(str(found[0]["path"]), tuple(_check(row) for row in found))

    @property
    def severity(self) -> str:
        """The worst severity of the checks, of ``ok``, ``info``, ``warning`` and ``critical``."""
        return worst_severity(self.checks)

    def __getitem__(self, check: str) -> HealthCheck:
        """Return a check by its name, such as ``report["smallFiles"]``.

        Raises:
            KeyError: There is no such check.
        """
        found = {each.check: each for each in self.checks}
        if check not in found:
            raise KeyError(f"{check} is not one of {', '.join(found)}")
        return found[check]

    def __iter__(self) -> Iterator[HealthCheck]:
        return iter(self.checks)

    def __contains__(self, check: object) -> bool:
        return any(check in (each, each.check) for each in self.checks)

    def show(self) -> None:
        """Print the report as text, as ``DataFrame.show`` does."""
        print(self)

    @property
    def findings(self) -> tuple[HealthCheck, ...]:
        """The checks that are not ``ok``, worst first."""
        return worst_first(self.checks)

    def toDict(self) -> dict[str, Any]:
        """Make plain values for JSON.

        Returns:
            The path and the checks, as dictionaries, lists, texts and numbers.
        """
        return asdict(self)

    def toHtml(self, path: str | Path | None = None) -> str | None:
        """Make one self-contained page. It loads nothing and has no scripts.

        Args:
            path: The file to which the page is written, in UTF-8.

        Returns:
            The text of the page; None if it was written to a file.
        """
        made = str(page.page(self.path, self.checks))
        if path is None:
            return made
        Path(path).write_text(made, encoding="utf-8")
        return None

    def plot(self) -> Any:
        """Draw the figures of the page with matplotlib, in a grid.

        Returns:
            A tuple of matplotlib axes, one for each figure. ``plot()[0].figure`` is the whole plot.

        Raises:
            ImportError: matplotlib is not installed.
        """
        try:
            from delta_upkeep._report import plot
        except ImportError as e:
            raise ImportError(
                "HealthReport.plot needs matplotlib, which is not installed. "
                "Install it with: pip install 'delta-upkeep[plot]'"
            ) from e
        return plot.draw(self.path, self.checks)

    def __str__(self) -> str:
        return text.text(self.path, self.checks)

    def _repr_html_(self) -> str:
        return str(page.fragment(self.path, self.checks))


def _check(row: dict[str, Any]) -> HealthCheck:
    names = [field.name for field in fields(HealthCheck) if field.name != "details"]
    details = tuple(HealthDetail(**detail) for detail in row["details"])
    return HealthCheck(**{name: row[name] for name in names}, details=details)

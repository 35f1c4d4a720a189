"""The results of a pass, table by table, as one JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from delta_upkeep.fleet.files import Files, Place
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.version import __version__

Status = Literal["done", "planned", "not due", "skipped", "failed"]
State = Literal["running", "finished", "interrupted"]

BYTE_BUDGET = "byte budget"
TIME_BUDGET = "time budget"
INTERRUPTED = "interrupted"
DRIVER_LOST = "its driver was lost"
TAKEN_FOR_LOST = "another pass took this one for lost"
# Why a pass did not come to a table, although nothing is wrong with it.
CUT_SHORT = (BYTE_BUDGET, TIME_BUDGET, INTERRUPTED, DRIVER_LOST, TAKEN_FOR_LOST)


@dataclass(frozen=True)
class TableError:
    """Why a table failed: a condition, such as ``DELTA_UPKEEP.UNKNOWN_OPTION``, and a message."""

    condition: str
    message: str


@dataclass(frozen=True)
class Step:
    """A step of MAINTAIN, as in its row."""

    step: str
    status: str
    reason: str

    @property
    def is_due(self) -> bool:
        """Whether there was anything to do."""
        return self.status in ("done", "planned")


@dataclass(frozen=True)
class TableResult:
    """The result of one table.

    Attributes:
        table: Its name, or its path.
        status: ``done``, ``planned`` (a dry run), ``not due``, ``skipped`` or ``failed``.
        reason: Why it has this status, or what the steps did. ``done`` with the reason
            ``byte budget`` means that the budget left some files for a later run.
        started: When its maintenance began, in UTC; None if it did not begin.
        duration_ms: How long its maintenance took.
        files_before: Data files before the pass; None if the table could not be read.
        files_after: Data files after the pass, as planned in a dry run; None if the table failed.
        bytes_before: Bytes of the data files before the pass.
        bytes_after: Bytes of the data files after the pass; None in a dry run, or if the table
            failed.
        bytes_rewritten: Bytes of the files that OPTIMIZE replaced, or would replace.
        steps: The steps of MAINTAIN; as planned if the table failed or was skipped.
        error: Why the table failed; None if it did not.
        warnings: Properties ``deltaUpkeep.*`` of the table that have no effect.
        earlier: Whether the result is from the run that this one resumes.
    """

    table: str
    status: Status
    reason: str
    started: str | None = None
    duration_ms: int = 0
    files_before: int | None = None
    files_after: int | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    bytes_rewritten: int = 0
    steps: tuple[Step, ...] = ()
    error: TableError | None = None
    warnings: tuple[str, ...] = ()
    earlier: bool = False

    @property
    def files_taken_away(self) -> int:
        """How many fewer data files the table has; 0 if that is unknown."""
        if self.files_before is None or self.files_after is None:
            return 0
        return self.files_before - self.files_after

    @property
    def is_complete(self) -> bool:
        """Whether a run that resumes this one can skip the table."""
        return self.status in ("done", "not due") and self.reason != BYTE_BUDGET


@dataclass(frozen=True)
class Skipped:
    """Counts of views and tables of other formats that patterns matched. They are left alone."""

    views: int = 0
    other_formats: int = 0


@dataclass(frozen=True)
class FleetResult:
    """One pass over a fleet.

    Attributes:
        state: ``running`` until the pass ends. A run that was killed leaves a file in this state.
        dry_run: Whether the pass only planned.
        started: In UTC.
        ended: In UTC; None while it runs.
        tables: The results, in the order of completion.
        not_delta: Views and tables of other formats that patterns matched.
        unmatched: Patterns that matched no table.
        run_id: Names the pass. Later passes have greater ids.
        resumes: The pass that this one resumes, if the history names it.
    """

    state: State
    dry_run: bool
    started: str
    ended: str | None = None
    tables: tuple[TableResult, ...] = ()
    not_delta: Skipped = field(default_factory=Skipped)
    unmatched: tuple[str, ...] = ()
    run_id: str = ""
    resumes: str | None = None

    @property
    def exit_code(self) -> int:
        """1 if a table, or a pattern, failed; 0 otherwise."""
        return int(any(table.status == "failed" for table in self.tables))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with the totals."""
        return {"version": __version__, **_camel(asdict(self)), "totals": self._totals()}

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def write(self, place: Place, files: Files | None = None) -> None:
        """Write the file; a reader never sees half of it."""
        (files or Files()).write(place, self.to_json())

    def _totals(self) -> dict[str, int]:
        statuses = [table.status for table in self.tables]
        ran = [table for table in self.tables if table.status in ("done", "planned")]
        return {
            "tables": len(self.tables),
            "done": statuses.count("done"),
            "planned": statuses.count("planned"),
            "notDue": statuses.count("not due"),
            "skipped": statuses.count("skipped"),
            "failed": statuses.count("failed"),
            "filesTakenAway": sum(table.files_taken_away for table in ran),
            "bytesRewritten": sum(table.bytes_rewritten for table in ran),
        }


def complete_in(path: Place, files: Files | None = None) -> tuple[TableResult, ...]:
    """Read the results of a summary that a resumed run can skip.

    Raises:
        ConfigError: The file cannot be read, or is not a summary.
    """
    try:
        values = json.loads((files or Files()).read(path))
        results = results_in(values)
    except OSError as e:
        raise ConfigError(
            f"The summary {path} cannot be read: {e.strerror}. Check the path, or start "
            "over without --resume."
        ) from e
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise ConfigError(
            f"The file {path} is not a summary of delta-upkeep run. Name a summary, or start over "
            "without --resume."
        ) from e
    return tuple(replace(result, earlier=True) for result in results if result.is_complete)


def results_in(summary: Mapping[str, Any]) -> tuple[TableResult, ...]:
    """Read the results of a summary from the values of its JSON."""
    return tuple(_result(table) for table in summary["tables"])


def _result(values: Mapping[str, Any]) -> TableResult:
    known = {_camel_name(f.name): f.name for f in fields(TableResult)}
    # Another version may have written it.
    found = {name: values[key] for key, name in known.items() if key in values}
    steps = tuple(Step(**step) for step in found.pop("steps", ()))
    error = found.pop("error", None)
    found["warnings"] = tuple(found.get("warnings", ()))
    return TableResult(**found, steps=steps, error=TableError(**error) if error else None)


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel_name(key): _camel(inner) for key, inner in value.items()}
    return [_camel(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)

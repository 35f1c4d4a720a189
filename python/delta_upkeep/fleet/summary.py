"""What a pass did, table by table, as one JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.version import __version__

Status = Literal["done", "planned", "not due", "skipped", "failed"]
State = Literal["running", "finished", "interrupted"]

BYTE_BUDGET = "byte budget"
TIME_BUDGET = "time budget"
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class TableError:
    """Why a table failed: a condition, such as ``DELTA_UPKEEP.UNKNOWN_OPTION``, and a message."""

    condition: str
    message: str


@dataclass(frozen=True)
class Step:
    """A step of MAINTAIN, as its row tells it."""

    step: str
    status: str
    reason: str


@dataclass(frozen=True)
class TableResult:
    """What became of one table.

    Attributes:
        table: Its name, or its path.
        status: ``done``, ``planned`` (a dry run), ``not due``, ``skipped`` or ``failed``.
        reason: Of the status; ``byte budget`` of one that is done says that files are left.
        started: When its maintenance began, in UTC; None where it did not.
        duration_ms: Of its maintenance.
        files_before: Data files before the pass, None where the table could not be read.
        files_after: Data files after it, None of a table that failed; in a dry run, as they would
            be.
        bytes_before: Of all data files.
        bytes_after: Of all data files; None of a table that failed, and in a dry run.
        bytes_rewritten: Of the files that OPTIMIZE replaced, or would.
        steps: Of MAINTAIN; of a table that failed, or was skipped, as they were planned.
        error: Of a table that failed.
        earlier: Whether it is of the run that this one resumes.
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
    earlier: bool = False

    @property
    def files_taken_away(self) -> int:
        """How many data files fewer there are; 0 where one of the counts is not known."""
        if self.files_before is None or self.files_after is None:
            return 0
        return self.files_before - self.files_after

    @property
    def is_complete(self) -> bool:
        """Whether a run that resumes this one may leave the table alone."""
        return self.status in ("done", "not due") and self.reason != BYTE_BUDGET


@dataclass(frozen=True)
class Skipped:
    """What patterns led to and is none of the fleet's: counted, never touched."""

    views: int = 0
    other_formats: int = 0


@dataclass(frozen=True)
class Summary:
    """One pass over a fleet.

    Attributes:
        state: ``running`` in a file whose run was killed.
        dry_run: Whether it only planned.
        started: In UTC.
        ended: In UTC; None while it runs.
        tables: In the order in which they came to an end.
        not_delta: Views and tables of other formats that patterns matched.
        unmatched: Patterns that matched no table.
    """

    state: State
    dry_run: bool
    started: str
    ended: str | None = None
    tables: tuple[TableResult, ...] = ()
    not_delta: Skipped = field(default_factory=Skipped)
    unmatched: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where all is well, 1 where some table failed."""
        return int(any(table.status == "failed" for table in self.tables))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, with the totals."""
        return {"version": __version__, **_camel(asdict(self)), "totals": self._totals()}

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def write(self, path: Path) -> None:
        """Write the file, at no moment half of it."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(self.to_json(), encoding="utf-8")
        temporary.replace(path)

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


def complete_in(path: Path) -> tuple[TableResult, ...]:
    """Read from a summary the tables that need no further run.

    Raises:
        ConfigError: The file cannot be read, or is no summary.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        results = tuple(_result(table) for table in values["tables"])
    except OSError as e:
        raise ConfigError(
            f"The summary {path} cannot be read: {e.strerror}. Check the path, or leave --resume "
            "out to begin anew."
        ) from e
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise ConfigError(
            f"The file {path} is no summary of delta-upkeep run: {e!r}. Give one, or leave "
            "--resume out to begin anew."
        ) from e
    return tuple(result for result in results if result.is_complete)


def _result(values: Mapping[str, Any]) -> TableResult:
    known = {_camel_name(f.name): f.name for f in fields(TableResult)}
    found = {name: values[key] for key, name in known.items()}
    steps = tuple(Step(**step) for step in found.pop("steps"))
    error = found.pop("error")
    found["earlier"] = True
    return TableResult(**found, steps=steps, error=TableError(**error) if error else None)


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel_name(key): _camel(inner) for key, inner in value.items()}
    return [_camel(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)

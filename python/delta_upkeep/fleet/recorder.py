"""A pass with a history: it claims its tables, and its rows are appended however it ends."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from threading import Event
from types import TracebackType

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from delta_upkeep.fleet.claims import Claims, Pass
from delta_upkeep.fleet.files import Files
from delta_upkeep.fleet.history import DeltaHistory
from delta_upkeep.fleet.history_rows import rows_of
from delta_upkeep.fleet.keys import ConfigError
from delta_upkeep.fleet.selection import Found
from delta_upkeep.fleet.summary import (
    DRIVER_LOST,
    INTERRUPTED,
    TAKEN_FOR_LOST,
    FleetResult,
    TableResult,
)


def new_run_id(now: datetime | None = None) -> str:
    """Make the id of a pass: ``20261126T020000Z-5f0c1d2e``. Later passes have greater ids."""
    moment = (now or datetime.now(timezone.utc)).strftime("%Y%m%dT%H%M%SZ")
    return f"{moment}-{secrets.token_hex(4)}"


class Recorder:
    """The claims and the rows of a pass.

    Args:
        files: Reaches the files that passes share.
        history: The history.
        before: The pass as it starts.
        tables: The tables that it wants.
        lease: Seconds of silence after which its driver counts as lost.
        say: Called with what users should know.
        stop: Ends the pass when it is set.
    """

    def __init__(
        self,
        files: Files,
        history: DeltaHistory,
        before: FleetResult,
        tables: Iterable[Found],
        lease: float,
        say: Callable[[str], None],
        stop: Event | None = None,
    ) -> None:
        wanted = {table.key: table.label for table in tables}
        own = Pass(before.run_id, socket.gethostname(), before.started, lease, wanted)
        self._history = history
        self._claims = Claims(files, history.passes, own, warn=say, stop=stop)
        self._say = say
        self._wanted = wanted
        self._left: frozenset[str] = frozenset()
        self._lost: tuple[Pass, ...] = ()
        self._last = before
        self._begun = False

    def __enter__(self) -> Recorder:
        return self

    def claim(self) -> Mapping[str, TableResult]:
        """Claim the tables; return the results of those that other passes have, by key.

        Raises:
            ConfigError: The claims cannot be written.
        """
        try:
            taken = self._claims.take()
        except OSError as e:
            raise ConfigError(
                f"The passes that run cannot be listed beside the table of run.history: {e}. Name "
                "a table in a directory that this session may write to."
            ) from e
        self._claims.start_heartbeat()
        self._lost = taken.lost
        self._left = frozenset(taken.others)
        for other in {each.run_id: each for each in taken.others.values()}.values():
            count = sum(each.run_id == other.run_id for each in taken.others.values())
            self._say(f"{_running(other)}; {count} tables are left to it")
        return {
            key: TableResult(other.tables[key], "skipped", _running(other))
            for key, other in taken.others.items()
        }

    def record_lost(self) -> None:
        """Append the rows of passes whose drivers are lost."""
        for lost in self._lost:
            self._say(f"pass {lost.run_id} on {lost.host}: {DRIVER_LOST}, and its tables are free")
            self._record(_summary_of(lost))

    def begin(self, before: FleetResult) -> None:
        """Take the pass as it starts. One that ends earlier leaves no rows."""
        self._last = before
        self._begun = True

    def save(self, summary: FleetResult) -> None:
        """Keep the results so far."""
        self._last = summary
        self._claims.save(summary)

    def hold(self) -> str | None:
        """Tell why no further table may be started."""
        return TAKEN_FOR_LOST if self._claims.lost.is_set() else None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._claims.stop()
        last = self._last
        if error is not None and self._begun:
            own = (label for key, label in self._wanted.items() if key not in self._left)
            last = replace(last, tables=_with_rest(last.tables, own, INTERRUPTED))
        self._record(last if self._begun else replace(last, tables=()))

    def _record(self, ended: FleetResult) -> None:
        """Append the rows of a pass, and forget it. Its own result, or error, is what counts."""
        try:
            self._history.append(ended.run_id, rows_of(ended))
            self._claims.forget(ended.run_id)
        except (OSError, PySparkException, Py4JError) as e:
            self._say(f"pass {ended.run_id} is not recorded yet; a later pass does it: {e}")


def _running(other: Pass) -> str:
    return f"pass {other.run_id} on {other.host} has been running since {other.started}"


def _summary_of(lost: Pass) -> FleetResult:
    """Make the summary of a pass whose driver is lost, from what it has written."""
    return FleetResult(
        state="interrupted",
        dry_run=False,
        started=lost.started,
        run_id=lost.run_id,
        resumes=lost.resumes,
        tables=_with_rest(lost.results, lost.tables.values(), DRIVER_LOST),
    )


def _with_rest(
    results: tuple[TableResult, ...], labels: Iterable[str], reason: str
) -> tuple[TableResult, ...]:
    """Add the tables that a pass did not come to."""
    known = {result.table for result in results}
    rest = (label for label in labels if label not in known)
    return (*results, *(TableResult(label, "skipped", reason) for label in rest))

"""Keeps passes that run at the same time off each other's tables.

A pass announces the tables that it wants in a file of its own. Then it reads the files of the
others: a table that another pass holds is left to it, and of two passes that want a table at the
same time, the older one gets it. Neither overwrites a file of the other, so this needs nothing of a
store but that a file is listed once it is written.

A pass writes its second file, with the tables that it holds and its results so far, again and
again. If it has not done so for as long as its lease, its driver is lost. Only times of the store
are compared, so the clocks of drivers may differ.

This saves work, and nothing more: Delta's protocol keeps a table whole however many maintain it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Any, Protocol

from delta_upkeep.fleet.files import Entry, Place
from delta_upkeep.fleet.summary import FleetResult, TableResult, results_in

POLL_SECONDS = 1.0
_BEATS_PER_LEASE = 5
# A pass that another one waits for decides, or is lost, within one.
_LEASES_TO_WAIT = 2
_WANTS, _HOLDS = ".wants.json", ".holds.json"


class SharedFiles(Protocol):
    """The files that passes share. See ``Files``."""

    def read(self, place: Place, /) -> str:
        """Read a file."""

    def write(self, place: Place, text: str, /) -> None:
        """Write a file."""

    def make_directory(self, place: Place, /) -> None:
        """Make a directory."""

    def entries(self, directory: Place, /) -> list[Entry]:
        """List the files of a directory."""

    def delete(self, place: Place, /) -> None:
        """Delete a file, if it is there."""


@dataclass(frozen=True)
class Pass:
    """A pass, as its files describe it.

    Attributes:
        run_id: Its id. An older pass has a smaller one.
        host: Where its driver runs.
        started: In UTC.
        lease: Seconds after which it counts as lost, if it has not written.
        tables: The label of each table that it wants or holds, by the table's key.
        results: The results so far.
        resumes: The pass that it resumes.
    """

    run_id: str
    host: str
    started: str
    lease: float
    tables: Mapping[str, str]
    results: tuple[TableResult, ...] = ()
    resumes: str | None = None

    def to_json(self, summary: FleetResult | None = None) -> str:
        """Write its file."""
        values: dict[str, Any] = {
            "runId": self.run_id,
            "host": self.host,
            "started": self.started,
            "lease": self.lease,
            "tables": dict(self.tables),
            "summary": summary.to_dict() if summary else None,
        }
        return json.dumps(values, indent=2) + "\n"

    @classmethod
    def of_json(cls, text: str) -> Pass:
        """Read a file.

        Raises:
            ValueError: It is not written to its end.
            KeyError: It lacks a value.
        """
        values = json.loads(text)
        summary = values["summary"]
        return cls(
            values["runId"],
            values["host"],
            values["started"],
            values["lease"],
            values["tables"],
            results_in(summary) if summary else (),
            summary.get("resumes") if summary else None,
        )


@dataclass(frozen=True)
class Seen:
    """What was seen of another pass.

    Attributes:
        run_id: Its id.
        own: What it says of itself; None if its file is not written to its end.
        holds: Whether it has decided which tables are its own.
        silent: Seconds since it has written.
    """

    run_id: str
    own: Pass | None
    holds: bool
    silent: float

    def is_lost(self, default_lease: float) -> bool:
        """Whether its lease is over."""
        return self.silent > (self.own.lease if self.own else default_lease)


@dataclass(frozen=True)
class Decision:
    """Which tables others have, by key, and the passes for whose decision this one must wait."""

    others: Mapping[str, Pass]
    undecided: tuple[str, ...]


def decide(run_id: str, keys: Iterable[str], seen: Iterable[Seen]) -> Decision:
    """Decide which tables a pass leaves to others that are alive.

    An older pass that has not decided keeps all that it wants, so of two passes only the older one
    waits.
    """
    wanted = set(keys)
    others: dict[str, Pass] = {}
    undecided: list[str] = []
    for each in seen:
        if each.own is None:
            undecided.append(each.run_id)
            continue
        shared = wanted & each.own.tables.keys()
        if each.holds or each.run_id < run_id:
            others.update((key, each.own) for key in shared)
        elif shared:
            undecided.append(each.run_id)
    return Decision(others, tuple(undecided))


@dataclass(frozen=True)
class Taken:
    """What others have.

    Attributes:
        others: The pass that has a table, by the table's key.
        lost: Passes whose drivers are lost. Their tables are free.
    """

    others: Mapping[str, Pass]
    lost: tuple[Pass, ...]


class Claims:
    """The tables that a pass holds.

    Args:
        files: Reads and writes the files.
        directory: Where they are.
        own: The pass, with the tables that it wants.
        warn: Called with what went wrong, if the pass goes on.
        stop: Ends the wait for other passes when it is set; then the pass holds no table.
        clock: A monotonic clock, in seconds.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        files: SharedFiles,
        directory: Place,
        own: Pass,
        *,
        warn: Callable[[str], None] = lambda _: None,
        stop: Event | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._files = files
        self._directory = directory
        self._own = own
        self._warn = warn
        self._stop = stop or Event()
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        self._released = Event()
        self._summary: FleetResult | None = None
        self.lost = Event()
        """Set if another pass took this one for lost: it may be maintaining the same tables."""

    def take(self) -> Taken:
        """Claim all tables that no other pass has.

        Raises:
            OSError: The files cannot be read or written.
        """
        try:
            return self._take()
        except BaseException:
            # Others would leave the tables to it for as long as its lease.
            with suppress(OSError):
                self.forget(self._own.run_id)
            raise

    def _take(self) -> Taken:
        self._files.make_directory(self._directory)
        self._write(_WANTS)
        announced = self._clock()
        # A pass is lost if it looks so twice: its file is missing for a moment while it is renamed.
        suspects: set[str] = set()
        told = False
        while True:
            seen = self._seen(announced)
            quiet = {each.run_id for each in seen if each.is_lost(self._own.lease)}
            alive = [each for each in seen if each.run_id not in quiet]
            decision = decide(self._own.run_id, self._own.tables, alive)
            if self._stop.is_set():
                self._own = _with_tables(self._own, {})
                self._write(_HOLDS)
                return Taken({}, ())
            if not decision.undecided and quiet <= suspects:
                break
            if decision.undecided and not told:
                self._warn(f"waits for the claims of {_passes(decision.undecided)}")
                told = True
            suspects = quiet
            waited = self._clock() - announced
            if waited > _LEASES_TO_WAIT * self._own.lease:
                raise TimeoutError(f"waited {waited:.0f} s for {_passes(decision.undecided)}")
            self._sleep(POLL_SECONDS)
        held = {k: v for k, v in self._own.tables.items() if k not in decision.others}
        self._own = _with_tables(self._own, held)
        self._write(_HOLDS)
        unreadable = {each.run_id for each in seen if each.run_id in quiet and each.own is None}
        for run_id in unreadable | self._leftovers(announced):
            # A later pass tries again.
            with suppress(OSError):
                self.forget(run_id)
        lost = tuple(each.own for each in seen if each.run_id in quiet and each.own is not None)
        return Taken(decision.others, lost)

    def start_heartbeat(self) -> None:
        """Write the file again and again, in a thread of its own."""
        seconds = self._own.lease / _BEATS_PER_LEASE

        def beat() -> None:
            while not self._released.wait(seconds):
                self.beat()

        Thread(target=beat, name="delta-upkeep-claim", daemon=True).start()

    def save(self, summary: FleetResult) -> None:
        """Keep the results so far, so that they are known if this driver is lost."""
        self._summary = summary
        self.beat()

    def beat(self) -> None:
        """Show that this pass is alive."""
        with self._lock:
            if self._released.is_set() or self.lost.is_set():
                return
            try:
                names = [entry.name for entry in self._files.entries(self._directory)]
                if self._own.run_id + _WANTS not in names:
                    self.lost.set()
                    return
                self._write(_HOLDS)
            # A claim saves work. Without it the pass goes on, until another takes it for lost.
            except OSError as e:
                self._warn(f"the claim of pass {self._own.run_id} cannot be renewed: {e}")

    def stop(self) -> None:
        """Write no more. The files remain until they are forgotten."""
        with self._lock:
            self._released.set()

    def forget(self, run_id: str) -> None:
        """Delete the files of a pass."""
        for kind in (_HOLDS, _WANTS):
            self._files.delete(self._directory / (run_id + kind))

    def _write(self, kind: str) -> None:
        place = self._directory / (self._own.run_id + kind)
        self._files.write(place, self._own.to_json(self._summary))

    def _seen(self, announced: float) -> list[Seen]:
        """Look for other passes."""
        written = self._written()
        now_ms = self._now_ms(written, announced)
        own = self._own.run_id + _WANTS
        seen: list[Seen] = []
        for name in written.keys() - {own}:
            if not name.endswith(_WANTS):
                continue
            run_id = name.removesuffix(_WANTS)
            holds = run_id + _HOLDS in written
            newest = run_id + _HOLDS if holds else name
            try:
                described: Pass | None = self._describe(newest)
            except FileNotFoundError:
                if not holds:
                    # It has ended.
                    continue
                described, holds = None, False
            silent = (now_ms - written[newest]) / 1000
            seen.append(Seen(run_id, described, holds, silent))
        return seen

    def _leftovers(self, announced: float) -> set[str]:
        """Find passes whose second file was written while another pass deleted the first."""
        written = self._written()
        oldest = self._now_ms(written, announced) - self._own.lease * 1000
        return {
            run_id
            for name, written_ms in written.items()
            if name.endswith(_HOLDS) and written_ms < oldest
            for run_id in [name.removesuffix(_HOLDS)]
            if run_id + _WANTS not in written
        }

    def _written(self) -> dict[str, int]:
        return {e.name: e.written_ms for e in self._files.entries(self._directory)}

    def _now_ms(self, written: Mapping[str, int], announced: float) -> float:
        """Tell the time by the clock of the store."""
        return written.get(self._own.run_id + _WANTS, 0) + (self._clock() - announced) * 1000

    def _describe(self, name: str) -> Pass | None:
        try:
            return Pass.of_json(self._files.read(self._directory / name))
        except FileNotFoundError:
            raise
        # It is being written, or another version wrote it. If it stays so, this pass gives up
        # waiting for it.
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            return None


def _with_tables(own: Pass, tables: Mapping[str, str]) -> Pass:
    return replace(own, tables=tables)


def _passes(run_ids: Iterable[str]) -> str:
    return ", ".join(f"pass {run_id}" for run_id in run_ids)

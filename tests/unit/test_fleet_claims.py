"""Passes that run at the same time, over files that are only texts, one request after another."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delta_upkeep.fleet import FleetResult, TableResult
from delta_upkeep.fleet.claims import Claims, Pass, Seen, decide
from delta_upkeep.fleet.files import Entry, Uri

LEASE = 600.0


@dataclass
class Store:
    """A directory, with a clock of its own."""

    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    seconds: float = 10**6

    def read(self, place: Uri) -> str:
        if place.name not in self.files:
            raise FileNotFoundError(place.name)
        return self.files[place.name][0]

    def write(self, place: Uri, text: str) -> None:
        self.files[place.name] = (text, round(self.seconds * 1000))

    def entries(self, directory: Uri) -> list[Entry]:
        return [Entry(name, written) for name, (_, written) in self.files.items()]

    def make_directory(self, place: Uri) -> None:
        """There is only one."""

    def delete(self, place: Uri) -> None:
        self.files.pop(place.name, None)


@dataclass
class Turns:
    """Files of a store that wait for their turn before each request."""

    store: Store
    take_turn: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        request = getattr(self.store, name)

        def after_a_turn(*arguments: Any) -> Any:
            self.take_turn()
            return request(*arguments)

        return after_a_turn


def a_pass(run_id: str, keys: str, **values: Any) -> Pass:
    tables = {key: f"lake.{key}" for key in keys}
    return Pass(run_id, "host", "2026-11-26T02:00:00Z", LEASE, tables, **values)


def claims(files: Any, own: Pass, **values: Any) -> Claims:
    return Claims(files, Uri("s3a://b/_passes"), own, clock=lambda: 0, **values)


class Player(threading.Thread):
    """Claims tables in a thread that does one request each time it is told to."""

    def __init__(self, store: Store, own: Pass) -> None:
        super().__init__(daemon=True)
        self.own, self.held = own, set[str]()
        self.granted, self.asks = threading.Semaphore(0), threading.Semaphore(0)
        self.claims = claims(Turns(store, self._turn), own, sleep=lambda _: None)
        self.ended = False
        self.start()
        self.asks.acquire()

    def _turn(self) -> None:
        self.asks.release()
        self.granted.acquire()

    def run(self) -> None:
        taken = self.claims.take()
        self.held = self.own.tables.keys() - taken.others.keys()
        self.ended = True
        self.asks.release()

    def step(self) -> None:
        self.granted.release()
        self.asks.acquire()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sets(st.sampled_from("xyz"), min_size=1), min_size=2, max_size=3),
    st.lists(st.integers(0, 2), max_size=40),
)
def test_a_table_has_one_pass_in_whatever_order_they_ask(wanted: list[set[str]], order: list[int]):
    store = Store()
    players = [Player(store, a_pass(str(i), "".join(keys))) for i, keys in enumerate(wanted)]
    waiting = list(players)
    for turn in [*order, *range(10**4)]:
        waiting = [player for player in waiting if not player.ended]
        if not waiting:
            break
        waiting[turn % len(waiting)].step()
    assert all(player.ended for player in players)
    held = [key for player in players for key in player.held]
    # Each table has exactly one, unless it was left to an older pass that had to leave it itself.
    assert len(held) == len(set(held))
    if len(players) == 2:
        assert set(held) == wanted[0] | wanted[1]


def seen(own: Pass | None, *, holds: bool, run_id: str = "") -> Seen:
    return Seen(own.run_id if own else run_id, own, holds, 0)


@pytest.mark.parametrize(
    ("others", "left", "undecided"),
    [
        ([], "", ()),
        ([seen(a_pass("1", "xy"), holds=True)], "x", ()),
        ([seen(a_pass("9", "xy"), holds=True)], "x", ()),
        ([seen(a_pass("1", "xy"), holds=False)], "x", ()),
        ([seen(a_pass("9", "xy"), holds=False)], "", ("9",)),
        ([seen(a_pass("9", "y"), holds=False)], "", ()),
        ([seen(None, holds=False, run_id="1")], "", ("1",)),
    ],
)
def test_who_gives_way(others: list[Seen], left: str, undecided: tuple[str, ...]):
    decision = decide("5", "xz", others)
    assert (set(decision.others), decision.undecided) == (set(left), undecided)


def test_a_pass_that_is_silent_for_longer_than_its_lease_is_lost():
    store = Store()
    first = claims(store, a_pass("1", "xy"))
    assert first.take().others == {}
    result = TableResult("lake.x", "done", "rewrote 3 files into 1", files_before=3, files_after=1)
    first.save(FleetResult("running", False, "then", tables=(result,), resumes="0"))
    store.seconds += LEASE - 1
    second = claims(store, a_pass("2", "xz")).take()
    assert (set(second.others), second.lost) == ({"x"}, ())
    assert second.others["x"].host == "host"
    store.seconds += LEASE + 1
    waits: list[float] = []
    third = claims(store, a_pass("3", "xyz"), sleep=waits.append)
    taken = third.take()
    assert taken.others == {}
    assert [lost.run_id for lost in sorted(taken.lost, key=lambda each: each.run_id)] == ["1", "2"]
    lost = next(each for each in taken.lost if each.run_id == "1")
    assert (lost.results, lost.resumes, set(lost.tables)) == ((result,), "0", {"x", "y"})
    # Files that are being renamed are missing for a moment, so it looked twice.
    assert len(waits) == 1
    third.forget("1")
    first.beat()
    assert first.lost.is_set()
    assert {name.split(".")[0] for name in store.files} == {"2", "3"}


def test_a_pass_that_shows_that_it_is_alive_keeps_its_tables():
    store = Store()
    first = claims(store, a_pass("1", "x"))
    first.take()
    for _ in range(5):
        store.seconds += LEASE - 1
        first.beat()
    store.seconds += 1
    assert set(claims(store, a_pass("2", "x")).take().others) == {"x"}
    first.stop()
    first.forget("1")
    assert claims(store, a_pass("3", "x")).take().others == {}


def test_a_file_that_is_not_written_to_its_end_is_waited_for():
    store = Store()
    store.files["1.wants.json"] = ("{", round(store.seconds * 1000))
    text = a_pass("1", "x").to_json()

    def finish(_: float) -> None:
        store.files["1.wants.json"] = (text, round(store.seconds * 1000))

    assert set(claims(store, a_pass("2", "x"), sleep=finish).take().others) == {"x"}
    store.files["1.wants.json"] = ("{", 0)
    said: list[str] = []
    late = claims(store, a_pass("3", "x"), sleep=lambda _: None, warn=said.append)
    assert late.take().others == {}
    assert "1.wants.json" not in store.files
    assert said == []


def test_a_wait_is_told_once():
    store, said = Store(), list[str]()
    store.files["1.wants.json"] = ("", round(store.seconds * 1000))

    def wait(_: float) -> None:
        if said:
            store.files["1.wants.json"] = ("", 0)

    claims(store, a_pass("2", "x"), sleep=wait, warn=said.append).take()
    assert said == ["waits for the claims of pass 1"]


def test_a_leftover_of_a_lost_pass_is_deleted():
    store = Store()
    written = round(store.seconds * 1000)
    store.files["1.holds.json"] = ("damaged", 0)
    store.files["0.holds.json"] = (a_pass("0", "x").to_json(), written)
    assert claims(store, a_pass("2", "x")).take().others == {}
    # The young one may belong to a pass whose first file is being renamed.
    assert store.files.keys() == {"0.holds.json", "2.holds.json", "2.wants.json"}


def test_a_pass_does_not_wait_for_ever():
    store = Store()
    store.files["1.wants.json"] = ("{", 10**12)
    seconds = 0.0

    def wait(_: float) -> None:
        nonlocal seconds
        seconds += 60

    own = a_pass("2", "x")
    claimed = Claims(store, Uri("s3a://b"), own, clock=lambda: seconds, sleep=wait)
    with pytest.raises(TimeoutError, match="for pass 1"):
        claimed.take()


def test_a_pass_that_cannot_claim_leaves_nothing_behind():
    store = Store()

    def refuse(place: Uri, text: str) -> None:
        Store.write(store, place, text)
        if place.name.endswith(".holds.json"):
            raise PermissionError("no more")

    store.write = refuse  # type: ignore[method-assign]
    with pytest.raises(PermissionError):
        claims(store, a_pass("1", "x")).take()
    assert store.files == {}


def test_a_pass_that_is_stopped_waits_for_nobody_and_holds_nothing():
    store, stop = Store(), threading.Event()
    store.files["1.wants.json"] = ("{", round(store.seconds * 1000))
    own = claims(store, a_pass("2", "x"), stop=stop, sleep=lambda _: stop.set())
    assert own.take().others == {}
    assert Pass.of_json(store.files["2.holds.json"][0]).tables == {}


def test_a_claim_of_another_version():
    store = Store()
    values = json.loads(a_pass("1", "x").to_json(FleetResult("running", False, "then")))
    result = {"table": "lake.x", "status": "done", "reason": "new", "colour": "blue"}
    values["summary"]["tables"], values["more"] = [result], True
    store.files["1.holds.json"] = (json.dumps(values), round(store.seconds * 1000))
    store.files["1.wants.json"] = (a_pass("1", "x").to_json(), round(store.seconds * 1000))
    taken = claims(store, a_pass("2", "x")).take()
    assert taken.others["x"].results == (TableResult("lake.x", "done", "new"),)


def test_a_claim_that_cannot_be_renewed_does_not_end_the_pass():
    store, said = Store(), list[str]()
    first = claims(store, a_pass("1", "x"), warn=said.append)
    first.take()

    def full(*_: Any) -> None:
        raise OSError("the store is full")

    store.write = full  # type: ignore[method-assign]
    first.save(FleetResult("running", False, "then"))
    assert said == ["the claim of pass 1 cannot be renewed: the store is full"]
    assert not first.lost.is_set()


def test_a_pass_reads_what_it_has_written():
    own = a_pass("1", "xy")
    assert Pass.of_json(own.to_json()) == own
    result = TableResult("lake.x", "skipped", "time budget")
    summary = FleetResult("running", False, "then", tables=(result,))
    assert Pass.of_json(own.to_json(summary)) == replace(own, results=(result,))

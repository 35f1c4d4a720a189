"""The check of the rooms finds what it is there to find."""

from __future__ import annotations

import sys

from processes import ROOT

sys.path.insert(0, str(ROOT / "project"))

from check_house import ADAPTER, faults, rooms_in, rooms_of, uses_of_delta

A, B = f"{ADAPTER}/a/One.class", f"{ADAPTER}/b/Two.class"
TABLE = "| `adapter.a` | ones | `adapter.b` |\n| `adapter.b` | twos | |\n"


def test_rooms_as_the_table_says():
    used = rooms_of({A: b"\1" + B.encode(), B: b""})
    assert used == {"adapter.a": {"adapter.b"}, "adapter.b": set()}
    assert list(faults(rooms_in(TABLE), used)) == []


def test_a_room_that_uses_what_it_may_not():
    used = rooms_of({A: b"\1" + B.encode(), B: b"\1" + A.encode()})
    (fault,) = faults(rooms_in(TABLE), used)
    assert "adapter.b uses adapter.a" in fault


def test_a_cycle_that_the_table_allows():
    used = {"adapter.a": {"adapter.b"}, "adapter.b": {"adapter.a"}}
    (fault,) = faults(used, used)
    assert "cycle" in fault


def test_a_use_that_is_gone():
    (fault,) = faults(rooms_in(TABLE), {"adapter.a": set(), "adapter.b": set()})
    assert "adapter.a does not use adapter.b" in fault


def test_a_class_of_deltas_outside_the_adapter():
    found = uses_of_delta(
        {"io/deltaupkeep/Options.class": b"\1org/apache/spark/sql/delta/Snapshot"}
    )
    assert "Options.class uses org/apache/spark/sql/delta/Snapshot" in next(iter(found))

"""The check of the rooms finds what it is there to find."""

from __future__ import annotations

import sys
from pathlib import Path

from support.processes import ROOT

sys.path.insert(0, str(ROOT / "project"))

from check_house import (
    ADAPTER,
    MOST_FILES,
    SHARE,
    faults,
    files_of_tests,
    lines_of_versions,
    names_of_delta,
    not_sendable,
    rows_in,
    sizes,
    strange_tests,
    uses_of,
    uses_of_delta,
)

A, B, C = (f"{ADAPTER}/{room}.class" for room in ("a/One", "b/Two", "c/Three"))
TABLE = """
| 1 | `delta.a` | ones | |
| 2 | `delta.b` | twos | |
| 2 | `delta.c` | threes | `delta.b` |
"""
BELOW = b"\1" + A.encode()


def faults_of(classes: dict[str, bytes], table: str = TABLE) -> list[str]:
    return list(faults(rows_in(table), uses_of(classes)))


def test_rooms_as_the_table_says():
    classes = {A: b"", B: BELOW, C: BELOW + b"\1" + B.encode()}
    assert uses_of(classes) == {
        "delta.a": set(),
        "delta.b": {"delta.a"},
        "delta.c": {"delta.a", "delta.b"},
    }
    assert faults_of(classes) == []


def test_a_room_that_uses_a_higher_floor():
    (fault,) = faults_of({A: b"\1" + B.encode(), B: b"", C: B.encode()})
    assert "delta.a uses delta.b, which is on a higher floor" in fault


def test_a_room_that_uses_another_of_its_floor():
    (fault,) = faults_of({A: b"", B: C.encode(), C: B.encode()})
    assert "delta.b uses delta.c of its floor" in fault


def test_a_cycle_that_the_table_allows():
    table = TABLE.replace("twos | |", "twos | `delta.c` |")
    (fault,) = faults_of({A: b"", B: C.encode(), C: B.encode()}, table)
    assert "cycle" in fault


def test_a_use_that_is_gone():
    (fault,) = faults_of({A: b"", B: b"", C: b""})
    assert "delta.c names delta.b" in fault


def test_a_room_that_the_table_does_not_have_and_one_that_is_empty():
    new = f"{ADAPTER}/d/Four.class"
    assert [fault.split()[0] for fault in faults_of({A: b"", B: b"", new: b""})] == [
        "delta.d",
        "delta.c",
    ]


def test_a_row_that_names_a_room_without_a_row():
    table = TABLE.replace("| 2 | `delta.b` | twos | |", "")
    found = faults_of({A: b"", B: b"", C: B.encode()}, table)
    assert [fault.split()[0] for fault in found] == ["delta.b", "delta.c"]


def test_a_room_that_has_grown_too_large():
    (fault,) = sizes({"a": [f"File{i}" for i in range(MOST_FILES + 1)]})
    assert fault.startswith(f"a has {MOST_FILES + 1} files")


def test_a_folder_of_tests_that_has_grown_too_large(tmp_path: Path):
    for folder, count in (("core/a", MOST_FILES + 1), ("core/a/b", 1), ("contract/a", MOST_FILES)):
        (tmp_path / folder).mkdir(parents=True)
        for i in range(count):
            (tmp_path / folder / f"{folder.replace('/', '_')}{i}Suite.scala").touch()
    (fault,) = sizes(files_of_tests(tmp_path))
    assert fault.startswith(f"{tmp_path}/core/a has {MOST_FILES + 1} files")


def test_a_name_that_stands_twice():
    (fault,) = sizes({"a": ["One"], "b": ["One", "Two"]})
    assert fault == "One stands in a and in b"


def test_tests_outside_the_rooms(tmp_path: Path):
    for folder in ("delta", "delta/a", "delta/e"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Suite.scala").touch()
    (fault,) = strange_tests(rows_in(TABLE), tmp_path)
    assert fault.endswith("delta/e is no room")


def test_code_for_versions_that_has_outgrown_its_share(tmp_path: Path):
    for root, lines in {"delta": 10 * SHARE, "core": 1000, "delta-3.2": 6, "spark-4.1": 4}.items():
        (tmp_path / root).mkdir()
        (tmp_path / root / "A.scala").write_text("// a line\n" * lines)
    assert list(lines_of_versions(tmp_path)) == []
    (tmp_path / "scala-2.12").mkdir()
    (tmp_path / "scala-2.12/A.scala").write_text("// a line\n")
    (fault,) = lines_of_versions(tmp_path)
    assert fault.startswith("11 lines")


def test_a_class_of_deltas_outside_the_adapter():
    (found,) = uses_of_delta(
        {"io/deltaupkeep/Options.class": b"\1org/apache/spark/sql/delta/Snapshot"}
    )
    assert "Options.class uses org/apache/spark/sql/delta/Snapshot" in found


def test_a_constant_of_deltas_outside_the_adapter(tmp_path: Path):
    for root in ("core", "delta"):
        (tmp_path / root).mkdir()
        (tmp_path / root / "A.scala").write_text("import org.apache.spark.sql.delta.Snapshot\n")
    (found,) = names_of_delta(tmp_path)
    assert "core/A.scala:1" in found


def test_objects_that_scala_2_12_cannot_send(tmp_path):
    core = tmp_path / "core"
    core.mkdir()
    (core / "A.scala").write_text(
        'sealed abstract class Sent(\n    val name: String = ("a")\n) extends Serializable\n'
        "sealed abstract class Empty {}\n"
    )
    assert not list(not_sendable(tmp_path))
    (core / "B.scala").write_text("sealed abstract class Lost[A](val name: String)\n\nobject Lost")
    (found,) = not_sendable(tmp_path)
    assert "B.scala: Lost has parameters" in found

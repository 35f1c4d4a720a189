"""Checks the rooms of the sources against the table of rooms, and that only the adapter uses Delta.

A room may use the floors below its own, and on its own floor the rooms that its row names. A class
file names every class that it uses, so types that are inferred but never imported are found too.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from zipfile import ZipFile

Uses = Mapping[str, set[str]]

ADAPTER = "org/apache/spark/sql/delta/upkeep"
COMMON = "io/deltaupkeep"
ROOM = re.compile(rf"({ADAPTER}|{COMMON})((?:/[a-z]\w*)*)/[A-Z]".encode())
ROW = re.compile(r"^\| (\d) \| `([\w.]+)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
OF_DELTA = re.compile(rb"(?:org/apache/spark/sql/delta/(?!upkeep/)|io/delta/(?!upkeep))[\w/$]+")
IN_SOURCE = re.compile(
    r"org\.apache\.spark\.sql\.delta\.(?!upkeep\b|catalog\.DeltaCatalog\b)|io\.delta\.(?!sql\.Delta)"
)
# Objects of such a class fail on their way from an executor: with Scala 2.12, Java calls a
# constructor without arguments of the first class above them that is not Serializable.
NOT_SENDABLE = re.compile(
    r"sealed abstract class (\w+)(?:\[[^\]]*\])?\([^()]*(?:\([^()]*\)[^()]*)*\)(?!\s*extends)"
)
SOURCES = Path("scala/src")
TABLE = Path("python/docs/contributing.md")
# Code for single versions of Spark, Delta and Scala: at most 1 / SHARE of the adapter's lines.
SHARE = 8
MOST_FILES = 15


@dataclass(frozen=True)
class Row:
    """What the table says about a room."""

    floor: int
    uses: frozenset[str]  # on its own floor


def rows_in(page: str) -> Mapping[str, Row]:
    """The rooms of the table."""
    return {
        room: Row(int(floor), frozenset(re.findall(r"`([\w.]+)`", uses)))
        for floor, room, uses in ROW.findall(page)
    }


def room_of(match: re.Match[bytes]) -> str:
    """Name the room of a class, as the table does."""
    parts = match[2].decode().strip("/").replace("/", ".")
    if match[1].decode() == ADAPTER:
        return f"delta.{parts}" if parts else "delta"
    return parts or "base"


def uses_of(classes: Mapping[str, bytes]) -> Uses:
    """The other rooms that the classes of each room use."""
    used: dict[str, set[str]] = {}
    for name, content in classes.items():
        home = ROOM.match(name.encode())
        if home:
            room = room_of(home)
            found = {room_of(match) for match in ROOM.finditer(content)}
            used.setdefault(room, set()).update(found - {room})
    return used


def faults(rows: Mapping[str, Row], used: Uses) -> Iterator[str]:
    """Report where the table and the classes differ, and any cycle."""
    for room in sorted(used.keys() - rows.keys()):
        yield f"{room} is not in the table of rooms"
    for room, row in rows.items():
        if room not in used:
            yield f"{room} is in the table of rooms, and no class is in it"
            continue
        for other in sorted(used[room] & rows.keys()):
            if rows[other].floor > row.floor:
                yield f"{room} uses {other}, which is on a higher floor"
            elif rows[other].floor == row.floor and other not in row.uses:
                yield f"{room} uses {other} of its floor, which its row does not name"
        for other in sorted(row.uses):
            if other not in used[room] & rows.keys() or rows[other].floor != row.floor:
                yield f"{room} names {other}, which it does not use or which is on another floor"
    try:
        TopologicalSorter({room: row.uses for room, row in rows.items()}).prepare()
    except CycleError as e:
        yield f"rooms use each other in a cycle: {' -> '.join(e.args[1])}"


def uses_of_delta(classes: Mapping[str, bytes]) -> Iterator[str]:
    """Uses of Delta's classes outside the adapter."""
    for name, content in classes.items():
        if not name.startswith(ADAPTER):
            for used in sorted(set(OF_DELTA.findall(content))):
                yield f"{name} uses {used.decode()}"


def names_of_delta(main: Path) -> Iterator[str]:
    """The same in sources: a class file does not tell where an inlined constant is from."""
    for file in sorted(main.rglob("*.scala")):
        if not file.relative_to(main).parts[0].startswith("delta"):
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                if IN_SOURCE.search(line):
                    yield f"{file}:{number}: {line.strip()}"


def not_sendable(main: Path) -> Iterator[str]:
    """Sealed classes whose objects cannot be sent between Spark's processes on Scala 2.12."""
    for file in sorted((main / "core").rglob("*.scala")):
        for name in NOT_SENDABLE.findall(file.read_text()):
            yield f"{file}: {name} has parameters, so it has to extend Serializable"


def files_of(main: Path) -> Mapping[str, list[str]]:
    """The names of the files of each room."""
    found: dict[str, list[str]] = {}
    for root, prefix in ((main / "core", ()), (main / "delta", ("delta",))):
        for file in root.rglob("*.scala"):
            room = ".".join((*prefix, *file.parent.relative_to(root).parts)) or "base"
            found.setdefault(room, []).append(file.stem)
    return found


def files_of_tests(test: Path) -> Mapping[str, list[str]]:
    """The names of the files of each folder of tests."""
    found: dict[str, list[str]] = {}
    for file in test.rglob("*.scala"):
        found.setdefault(str(file.parent), []).append(file.stem)
    return found


def sizes(files: Mapping[str, list[str]]) -> Iterator[str]:
    """Rooms, or folders of tests, that have grown too large, and names that are in two of them."""
    for room, names in sorted(files.items()):
        if len(names) > MOST_FILES:
            yield f"{room} has {len(names)} files, more than {MOST_FILES}"
    counted = Counter(name for names in files.values() for name in names)
    for name in sorted(name for name, count in counted.items() if count > 1):
        rooms = sorted(room for room, names in files.items() if name in names)
        yield f"{name} stands in {' and in '.join(rooms)}"


def strange_tests(rows: Mapping[str, Row], test: Path) -> Iterator[str]:
    """Test folders that are not rooms; those above rooms hold what several rooms share."""
    known = {room.removeprefix("base") for room in rows}
    above = {".".join(room.split(".")[:n]) for room in known for n in range(room.count(".") + 1)}
    for root, prefix in (
        (test / "core", ()),
        (test / "delta", ("delta",)),
        (test / "contract", ()),
    ):
        for folder in {file.parent for file in root.rglob("*.scala")}:
            room = ".".join((*prefix, *folder.relative_to(root).parts))
            if room not in known | above:
                yield f"{folder} is no room"


def lines_of_versions(main: Path) -> Iterator[str]:
    """Whether code for single versions has outgrown its share."""
    roots = [
        root for root in main.iterdir() if root.name.startswith(("spark-", "delta-", "scala-"))
    ]
    own = sum(lines_below(root) for root in roots)
    most = lines_below(main / "delta") // SHARE
    if own > most:
        yield f"{own} lines are for single versions of Spark, Delta and Scala, more than {most}"


def lines_below(root: Path) -> int:
    """Count the lines of the sources below a directory."""
    return sum(len(file.read_text().splitlines()) for file in root.rglob("*.scala"))


def main(jars: list[Path]) -> int:
    """Check jars, and the sources below the current directory."""
    rows = rows_in(TABLE.read_text())
    sources = SOURCES / "main"
    found = [
        *names_of_delta(sources),
        *not_sendable(sources),
        *sizes(files_of(sources)),
        *sizes(files_of_tests(SOURCES / "test")),
        *strange_tests(rows, SOURCES / "test"),
        *lines_of_versions(sources),
    ]
    for jar in jars:
        with ZipFile(jar) as archive:
            names = [name for name in archive.namelist() if name.endswith(".class")]
            classes = {name: archive.read(name) for name in names}
        if not classes or not rows:
            raise SystemExit(f"no classes in {jar}, or no table of rooms in {TABLE}")
        found += [f"{jar.name}: {fault}" for fault in faults(rows, uses_of(classes))]
        found += [f"{jar.name}: {fault}" for fault in uses_of_delta(classes)]
    print("\n".join(found) or f"{len(rows)} rooms use what the table says, and no cycle is in them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main([Path(jar) for jar in sys.argv[1:]]))

"""Checks the rooms of the sources by README's table, and that the adapter alone reaches Delta.

A class file names every class that it uses, so what was inferred and never imported is found too.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from zipfile import ZipFile

Rooms = Mapping[str, set[str]]

ADAPTER = "org/apache/spark/sql/delta/upkeep"
COMMON = "io/deltaupkeep"
ROOM = re.compile(rf"({ADAPTER}|{COMMON})((?:/[a-z]\w*)*)/[A-Z]".encode())
ROW = re.compile(r"^\| `([\w.]+)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
OF_DELTA = re.compile(rb"(?:org/apache/spark/sql/delta/(?!upkeep/)|io/delta/(?!upkeep))[\w/$]+")
IN_SOURCE = re.compile(
    r"org\.apache\.spark\.sql\.delta\.(?!upkeep\b|catalog\.DeltaCatalog\b)|io\.delta\.(?!sql\.Delta)"
)
SOURCES = Path("scala/src/main")
# What is for versions of Spark, Delta and Scala has at most this share of the adapter's lines.
SHARE = 8


def rooms_in(readme: str) -> Rooms:
    """What each room may use, by the table."""
    return {room: set(re.findall(r"`([\w.]+)`", uses)) for room, uses in ROW.findall(readme)}


def room_of(match: re.Match[bytes]) -> str:
    """Name the room of a class, as the table does."""
    parts = match[2].decode().strip("/").replace("/", ".")
    return f"adapter.{parts}" if match[1].decode() == ADAPTER else parts or "base"


def rooms_of(classes: Mapping[str, bytes]) -> Rooms:
    """What the classes of each room use, of other rooms; what is at the root is for all of them."""
    used: dict[str, set[str]] = {}
    for name, content in classes.items():
        home = ROOM.match(name.encode())
        if home:
            room = room_of(home)
            found = {room_of(match) for match in ROOM.finditer(content)}
            used.setdefault(room, set()).update(found - {room, "base"})
    return used


def faults(allowed: Rooms, used: Rooms) -> Iterator[str]:
    """Tell in what the table and the classes differ, and whether a cycle is in it."""
    for room in sorted(allowed.keys() | used.keys()):
        for other in sorted(used.get(room, set()) - allowed.get(room, set())):
            yield f"{room} uses {other}, which README's table of rooms does not allow"
        for other in sorted(allowed.get(room, set()) - used.get(room, set())):
            yield f"{room} does not use {other}, which README's table of rooms says"
    try:
        TopologicalSorter(allowed).prepare()
    except CycleError as e:
        yield f"rooms use each other in a cycle: {' -> '.join(e.args[1])}"


def uses_of_delta(classes: Mapping[str, bytes]) -> Iterator[str]:
    """Uses of Delta's classes outside the adapter."""
    for name, content in classes.items():
        if not name.startswith(ADAPTER):
            for used in sorted(set(OF_DELTA.findall(content))):
                yield f"{name} uses {used.decode()}"
    for root in sorted(SOURCES.iterdir()):
        if root.name.startswith("delta"):
            continue
        for file in sorted(root.rglob("*.scala")):
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                if IN_SOURCE.search(line):
                    yield f"{file}:{number}: {line.strip()}"


def lines_of_versions(main: Path) -> Iterator[str]:
    """Whether what is for single versions has grown beyond its share."""
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


def main(jar: Path) -> int:
    """Check a jar, and the sources below the current directory."""
    with ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class")]
        classes = {name: archive.read(name) for name in names}
    allowed = rooms_in(Path("README.md").read_text())
    if not classes or not allowed:
        raise SystemExit(f"no classes in {jar}, or no table of rooms in README.md")
    found = [
        *faults(allowed, rooms_of(classes)),
        *uses_of_delta(classes),
        *lines_of_versions(SOURCES),
    ]
    print("\n".join(found) or f"{len(allowed)} rooms use what README says, and no cycle is in them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

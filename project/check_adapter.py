"""Checks that the adapter alone reaches Delta's private classes: in the sources and in the jar.

A class file names every class that it uses, so what was inferred and never imported is found too.
"""

import re
import sys
from pathlib import Path
from zipfile import ZipFile

ADAPTER = "org/apache/spark/sql/delta/upkeep/"
SOURCES = Path("scala/src/main/scala")
IN_SOURCE = re.compile(
    r"org\.apache\.spark\.sql\.delta\.(?!upkeep\b|catalog\.DeltaCatalog\b)|io\.delta\.(?!sql\.Delta)"
)
IN_CLASS = re.compile(rb"(?:org/apache/spark/sql/delta/(?!upkeep/)|io/delta/(?!upkeep))[\w/$]+")


def in_sources() -> list[str]:
    """Lines outside the adapter that name a class of Delta's."""
    outside = (file for file in SOURCES.rglob("*.scala") if ADAPTER not in file.as_posix())
    return [
        f"{file}:{number}: {line.strip()}"
        for file in sorted(outside)
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        if IN_SOURCE.search(line)
    ]


def in_jar(jar: Path) -> list[str]:
    """Classes outside the adapter that use a class of Delta's."""
    with ZipFile(jar) as archive:
        outside = [n for n in archive.namelist() if n.endswith(".class") and ADAPTER not in n]
        if not outside:
            raise SystemExit(f"{jar} has no classes to check")
        return [
            f"{jar}: {name} uses {used.decode()}"
            for name in outside
            for used in sorted(set(IN_CLASS.findall(archive.read(name))))
        ]


if __name__ == "__main__":
    found = in_sources() + in_jar(Path(sys.argv[1]))
    print("\n".join(found) or "the adapter alone reaches Delta's private classes")
    sys.exit(bool(found))

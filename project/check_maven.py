"""Checks a Maven layout for what Maven Central demands, except for signatures.

The demands are those that its documentation lists as requirements.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

NAMESPACE = {"": "http://maven.apache.org/POM/4.0.0"}
ELEMENTS = (
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/name",
    "scm/url",
    "scm/connection",
    "scm/developerConnection",
)
# What the name of a file of a kind ends with, and what is in it.
JARS = {".jar": ".class", "-sources.jar": ".scala", "-javadoc.jar": "index.html"}
CHECKSUMS = ("md5", "sha1")
# A checksum or a signature needs no checksum of its own.
BARE = (".asc", *(f".{name}" for name in CHECKSUMS))


def text_of(element: ElementTree.Element, path: str) -> str:
    """Return the text at a path, empty if there is none."""
    return (element.findtext(path, "", NAMESPACE) or "").strip()


def faults_of_pom(pom: Path, layout: Path) -> Iterator[str]:
    """Report what a POM lacks, a wrong place, and versions that are not released."""
    root = ElementTree.parse(pom).getroot()
    for path in ELEMENTS:
        if not text_of(root, path):
            yield f"{pom.name} has no {path}"
    group, artifact, version = (text_of(root, key) for key in ("groupId", "artifactId", "version"))
    place = Path(*group.split("."), artifact, version, f"{artifact}-{version}.pom")
    if pom.relative_to(layout) != place:
        yield f"{pom.relative_to(layout)} should be {place}"
    dependencies = root.iterfind("dependencies/dependency", NAMESPACE)
    versions = {text_of(d, "artifactId"): text_of(d, "version") for d in dependencies}
    for name, used in {artifact: version, **versions}.items():
        if not used or used.endswith("-SNAPSHOT"):
            yield f"{pom.name}: {name} has {used or 'no version'}, which is not a released version"


def faults_of_jars(pom: Path) -> Iterator[str]:
    """Report jars that are missing beside a POM, or that hold nothing of their kind."""
    for ending, content in JARS.items():
        jar = pom.with_name(f"{pom.stem}{ending}")
        if not jar.exists():
            yield f"{jar.name} is missing"
            continue
        with ZipFile(jar) as opened:
            if not any(name.endswith(content) for name in opened.namelist()):
                yield f"{jar.name} has no {content}"


def faults_of_checksums(file: Path) -> Iterator[str]:
    """Report checksums that are missing beside a file, or that are of another content."""
    for name in CHECKSUMS:
        checksum = file.with_name(f"{file.name}.{name}")
        if not checksum.exists():
            yield f"{checksum.name} is missing"
        elif checksum.read_text().strip() != hashlib.new(name, file.read_bytes()).hexdigest():
            yield f"{checksum.name} is not that of {file.name}"


def faults(layout: Path) -> Iterator[str]:
    """Report everything that Maven Central would refuse."""
    poms = sorted(layout.rglob("*.pom"))
    if not poms:
        yield f"there is no artifact in {layout}"
    for pom in poms:
        yield from faults_of_pom(pom, layout)
        yield from faults_of_jars(pom)
    for file in sorted(layout.rglob("*")):
        if file.is_file() and file.suffix not in BARE:
            yield from faults_of_checksums(file)


def main(layout: Path) -> int:
    """Check a layout and say what is wrong with it."""
    found = list(faults(layout))
    print("\n".join(found) or f"{layout} has what Maven Central demands, but for signatures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""What a release is: the same version and the same jar, whichever way it comes."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from delta_upkeep import __version__
from support.processes import ROOT, run

sys.path.insert(0, str(ROOT / "project"))

from check_maven import faults, text_of

DIST = ROOT / "dist"
LAYOUT = DIST / "maven"
ARTIFACT = "delta-upkeep_4.2_2.13"
MAVEN = LAYOUT / f"io/deltaupkeep/{ARTIFACT}/{__version__}"
JAR = f"{ARTIFACT}-{__version__}.jar"
WHEEL = DIST / f"delta_upkeep-{__version__}-py3-none-any.whl"
SDIST = DIST / f"delta_upkeep-{__version__}.tar.gz"
LINES = {
    f"delta-upkeep_{line}" for line in ("3.5_2.12", "3.5_2.13", "4.0_2.13", "4.1_2.13", "4.2_2.13")
}
PYTHON = ROOT / "python"
SOURCES = {
    str(file.relative_to(PYTHON))
    for file in (PYTHON / "delta_upkeep").rglob("*")
    if file.suffix in (".py", ".css")
}


@pytest.fixture(scope="module")
def jar() -> bytes:
    return (MAVEN / JAR).read_bytes()


def jars_of_lines() -> list[Path]:
    return sorted(LAYOUT.rglob(f"delta-upkeep_?.?_2.1?/{__version__}/*_2.1?-{__version__}.jar"))


def names(archive: bytes) -> set[str]:
    with ZipFile(io.BytesIO(archive)) as opened:
        return set(opened.namelist())


def test_the_wheel_and_the_source_distribution_carry_the_jars_of_all_lines():
    jars = {f"delta_upkeep/jars/{jar.name}": jar for jar in jars_of_lines()}
    assert len(jars) == len(LINES)
    with ZipFile(WHEEL) as wheel:
        for name, jar in jars.items():
            assert names(wheel.read(name)) == names(jar.read_bytes())
        assert set(wheel.namelist()) >= SOURCES
    with tarfile.open(SDIST) as source:
        found = {str(Path(*Path(name).parts[1:])) for name in source.getnames()}
    assert SOURCES | {*jars, "pyproject.toml"} <= found


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_every_artifact_has_the_licence(name: str):
    text = (ROOT / name).read_bytes()
    stem = f"delta_upkeep-{__version__}"
    with ZipFile(WHEEL) as wheel:
        assert wheel.read(f"{stem}.dist-info/licenses/{name}") == text
    with tarfile.open(SDIST) as source:
        assert source.extractfile(f"{stem}/{name}").read() == text
    jars = list(LAYOUT.rglob("*.jar"))
    assert len(jars) == 3 * len(LINES)  # classes, sources and documentation
    for file in jars:
        with ZipFile(file) as jar:
            assert jar.read(f"META-INF/{name}") == text, file


def test_there_is_one_artifact_for_each_line_as_maven_central_demands():
    assert {directory.name for directory in MAVEN.parents[1].iterdir()} == LINES
    assert list(faults(LAYOUT)) == []


def test_the_poms_say_what_the_wheel_says():
    with ZipFile(WHEEL) as wheel:
        said = message_from_bytes(wheel.read(f"delta_upkeep-{__version__}.dist-info/METADATA"))
    urls = dict(url.split(", ") for url in said.get_all("Project-URL"))
    home = urls["Homepage"]
    assert all(url.startswith(home) for url in urls.values())
    for pom in LAYOUT.rglob("*.pom"):
        root = ElementTree.parse(pom).getroot()
        assert text_of(root, "version") == said["Version"] == __version__
        assert text_of(root, "description") == said["Summary"]
        assert text_of(root, "url") == text_of(root, "scm/url") == home
        assert text_of(root, "licenses/license/name") == said["License-Expression"]
        assert text_of(root, "developers/developer/name") == said["Author"]


def bill(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what a bill of materials is of, and its components by name."""
    written = json.loads(file.read_text())
    return written["metadata"]["component"], {c["name"]: c for c in written["components"]}


def sha256(content: bytes) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]


def test_every_jar_has_a_bill_of_what_it_needs():
    for jar in jars_of_lines():
        of, needs = bill(jar.with_name(f"{jar.stem}-cyclonedx.json"))
        assert of["purl"].startswith(
            f"pkg:maven/io.deltaupkeep/{jar.parents[1].name}@{__version__}"
        )
        assert of["hashes"] == sha256(jar.read_bytes())
        names = {re.sub(r"(_[\d.]+)+$", "", name) for name in needs}
        assert names == {"antlr4-runtime", "delta-spark", "scala-library", "spark-sql"}
        assert all(need["licenses"] and need["version"] for need in needs.values())


def test_the_wheel_has_a_bill_of_its_jars_and_of_what_it_needs():
    of, components = bill(DIST / f"delta_upkeep-{__version__}.cdx.json")
    assert of["hashes"] == sha256(WHEEL.read_bytes())
    assert components.keys() == LINES | {"pyspark", "delta-spark", "tomli", "matplotlib"}
    with ZipFile(WHEEL) as wheel:
        for line in LINES:
            jar = wheel.read(f"delta_upkeep/jars/{line}-{__version__}.jar")
            assert components[line]["hashes"] == sha256(jar)
    optional = {name for name, c in components.items() if c.get("scope") == "optional"}
    assert optional == {"matplotlib", "pyspark", "delta-spark"}


def test_the_jar_has_the_python_package_and_nothing_of_others(jar: bytes):
    assert {"delta_upkeep/tables.py", "delta_upkeep/_report/style.css"} <= SOURCES <= names(jar)
    ours = ("META-INF/", "delta_upkeep/", "io/", "io/deltaupkeep/", "org/")
    others = {name for name in names(jar) if not name.startswith(ours)}
    assert others == set()
    adapter = "org/apache/spark/sql/delta/upkeep/"
    below_org = {name for name in names(jar) if name.startswith("org/")}
    assert any(name.startswith(adapter) and name.endswith(".class") for name in below_org)
    assert {n for n in below_org if not (adapter.startswith(n) or n.startswith(adapter))} == set()


def test_the_report_is_styled_from_within_the_jar():
    python = f"import sys; sys.path.insert(0, {str(MAVEN / JAR)!r})"
    script = "from delta_upkeep._report import style; print(style.__file__, style.style())"
    output = run([sys.executable, "-c", f"{python}; {script}"], ROOT)
    assert f"{JAR}/delta_upkeep/_report/style.py .delta-upkeep-health" in output


def test_the_artifact_needs_the_delta_of_its_line():
    pom = (MAVEN / f"{ARTIFACT}-{__version__}.pom").read_text()
    assert "<artifactId>delta-spark_4.2_2.13</artifactId>" in pom


def test_the_changes_begin_with_this_version_and_are_by_kind():
    changes = (DIST / "CHANGELOG.md").read_text()
    newest = re.findall(r"^## ([\d.]+), ", changes, re.MULTILINE)[0]
    assert newest == __version__
    kinds = set(re.findall(r"^### (.*)", changes, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert kinds


def test_the_guide_names_this_version():
    pages = [ROOT / "README.md", *(ROOT / "python/docs").glob("*.md")]
    text = "".join(page.read_text() for page in pages)
    said = re.findall(r"delta-upkeep_4\.\d_2\.13:([\w.]+)", text)
    assert set(said) == {__version__}

"""What a release is: the same version and the same jar, whichever way it comes."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from delta_upkeep import __version__
from support.processes import ROOT, run

DIST = ROOT / "dist"
MAVEN = DIST / f"maven/io/deltaupkeep/delta-upkeep_2.13/{__version__}"
JAR = f"delta-upkeep_2.13-{__version__}.jar"
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
    return sorted(
        MAVEN.parent.parent.glob(f"delta-upkeep_?.?_2.1?/{__version__}/*_2.1?-{__version__}.jar")
    )


def names(archive: bytes) -> set[str]:
    with ZipFile(io.BytesIO(archive)) as opened:
        return set(opened.namelist())


def test_the_wheel_and_the_source_distribution_carry_the_jars_of_all_lines():
    jars = {f"delta_upkeep/jars/{jar.name}": jar for jar in jars_of_lines()}
    assert len(jars) > 2
    with ZipFile(DIST / f"delta_upkeep-{__version__}-py3-none-any.whl") as wheel:
        for name, jar in jars.items():
            assert names(wheel.read(name)) == names(jar.read_bytes())
        assert set(wheel.namelist()) >= SOURCES
    with tarfile.open(DIST / f"delta_upkeep-{__version__}.tar.gz") as source:
        found = {str(Path(*Path(name).parts[1:])) for name in source.getnames()}
    assert SOURCES | {*jars, "pyproject.toml"} <= found


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_every_artifact_has_the_licence(name: str):
    text = (ROOT / name).read_bytes()
    stem = f"delta_upkeep-{__version__}"
    with ZipFile(DIST / f"{stem}-py3-none-any.whl") as wheel:
        assert wheel.read(f"{stem}.dist-info/licenses/{name}") == text
    with tarfile.open(DIST / f"{stem}.tar.gz") as source:
        assert source.extractfile(f"{stem}/{name}").read() == text
    jars = list(MAVEN.parent.parent.glob(f"*/{__version__}/*.jar"))
    assert len(jars) == 3 * 6  # classes, sources and documentation
    for file in jars:
        with ZipFile(file) as jar:
            assert jar.read(f"META-INF/{name}") == text, file


def test_the_artifact_of_spark_4_2_has_two_names(jar: bytes):
    other = MAVEN.parent.parent / f"delta-upkeep_4.2_2.13/{__version__}"
    assert names((other / f"delta-upkeep_4.2_2.13-{__version__}.jar").read_bytes()) == names(jar)


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


def test_the_artifact_has_sources_documentation_and_a_pom():
    found = {file.name for file in MAVEN.iterdir()}
    stem = f"delta-upkeep_2.13-{__version__}"
    assert {JAR, f"{stem}-sources.jar", f"{stem}-javadoc.jar", f"{stem}.pom"} <= found
    pom = (MAVEN / f"{stem}.pom").read_text()
    assert "<artifactId>delta-spark_4.2_2.13</artifactId>" in pom
    assert "Apache-2.0" in pom


def test_the_changes_begin_with_this_version():
    changes = (DIST / "CHANGELOG.md").read_text()
    assert changes.startswith(f"## Changes\n\n**{__version__}**")
    assert changes.count("\n## ") == 0


def test_the_readme_names_this_version():
    said = re.findall(r"delta-upkeep_4\.\d_2\.13:([\w.]+)", (ROOT / "README.md").read_text())
    assert set(said) == {__version__}

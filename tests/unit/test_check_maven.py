"""The check of a Maven layout finds what Maven Central would refuse."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from support.processes import ROOT

sys.path.insert(0, str(ROOT / "project"))

from check_maven import CHECKSUMS, ELEMENTS, JARS, faults

STEM = "thing_2.13-1.0"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>io.example</groupId><artifactId>thing_2.13</artifactId><version>1.0</version>
  <name>Thing</name><description>Does things</description><url>https://example.io</url>
  <licenses><license><name>Apache-2.0</name><url>https://example.io/licence</url></license></licenses>
  <developers><developer><name>Ada</name></developer></developers>
  <scm>
    <url>https://example.io</url><connection>scm:git:a</connection>
    <developerConnection>scm:git:b</developerConnection>
  </scm>
  <dependencies>
    <dependency><groupId>g</groupId><artifactId>other</artifactId><version>2.0</version></dependency>
  </dependencies>
</project>"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "io/example/thing_2.13/1.0"


def publish(home: Path, pom: str = POM) -> Path:
    """Write an artifact, and return its layout."""
    home.mkdir(parents=True)
    (home / f"{STEM}.pom").write_text(pom)
    for ending, content in JARS.items():
        with ZipFile(home / f"{STEM}{ending}", "w") as jar:
            jar.writestr(f"io/example/{content}", "")
    for file in list(home.iterdir()):
        for name in CHECKSUMS:
            digest = hashlib.new(name, file.read_bytes()).hexdigest()
            file.with_name(f"{file.name}.{name}").write_text(digest)
    return home.parents[3]


def test_a_whole_artifact(home: Path):
    assert list(faults(publish(home))) == []


def test_no_artifact(tmp_path: Path):
    assert len(list(faults(tmp_path))) == 1


@pytest.mark.parametrize("path", ELEMENTS)
def test_a_pom_that_lacks_an_element(path: str, home: Path):
    outer, _, tag = path.rpartition("/")
    start = POM.index(f"<{outer.rpartition('/')[2]}>") if outer else POM.index("</version>")
    pom = POM[:start] + POM[start:].replace(f"<{tag}>", "<no>", 1).replace(f"</{tag}>", "</no>", 1)
    assert list(faults(publish(home, pom))) == [f"{STEM}.pom has no {path}"]


@pytest.mark.parametrize("ending", JARS)
def test_a_jar_that_is_missing_or_empty(ending: str, home: Path):
    layout = publish(home)
    jar = home / f"{STEM}{ending}"
    ZipFile(jar, "w").close()
    assert f"{jar.name} has no {JARS[ending]}" in list(faults(layout))
    jar.unlink()
    assert f"{jar.name} is missing" in list(faults(layout))


@pytest.mark.parametrize("version", ["2.0-SNAPSHOT", ""])
def test_a_dependency_that_is_no_release(version: str, home: Path):
    (fault,) = faults(publish(home, POM.replace(">2.0<", f">{version}<")))
    assert "other has" in fault


def test_an_artifact_in_the_place_of_another(home: Path):
    (fault,) = faults(publish(home, POM.replace("thing_2.13", "thing_2.12")))
    assert "should be io/example/thing_2.12/1.0/thing_2.12-1.0.pom" in fault


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_checksum_that_is_missing_or_wrong(name: str, home: Path):
    layout = publish(home)
    checksum = home / f"{STEM}.jar.{name}"
    checksum.write_text("0")
    assert list(faults(layout)) == [f"{checksum.name} is not that of {STEM}.jar"]
    checksum.unlink()
    assert list(faults(layout)) == [f"{checksum.name} is missing"]

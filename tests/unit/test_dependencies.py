"""What we depend on is pinned, and listed with its licence."""

from __future__ import annotations

import re

import pytest

from support.processes import ROOT

PAGE = ROOT / "python/docs/contributing.md"
SECTION = PAGE.read_text().split("## Dependencies")[1].split("\n## ")[0]
REQUIREMENTS = [
    line
    for file in sorted((ROOT / "python").glob("requirements-*.txt"))
    for line in file.read_text().splitlines()
    if line and not line.startswith("#")
]
LIBRARY = re.compile(r'"[\w.]+" %%? "([\w.-]+)" % ')


def libraries() -> list[str]:
    texts = ((ROOT / name).read_text() for name in ("build.sbt", "project/plugins.sbt"))
    return [name for text in texts for name in LIBRARY.findall(text)]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_a_requirement_is_pinned_and_listed(requirement: str):
    name, version = requirement.split("==")
    assert re.fullmatch(r"[\d.]+", version)
    assert f"`{name.split('[')[0]}`" in SECTION


def test_the_wheel_never_replaces_the_spark_that_is_there():
    project = (ROOT / "python/pyproject.toml").read_text()
    (required,) = re.findall(r"^dependencies = \[(.*?)\]$", project, re.M | re.S)
    assert re.findall(r'"([a-z-]+)', required) == ["tomli"]


def test_libraries_of_the_build_are_listed():
    assert len(libraries()) > 4
    # Spark and Delta are known by their Python names, and Delta's has Spark's version in it.
    own = {"spark-sql": "pyspark", "delta-spark_4.2_2.13": "delta-spark"}
    assert [name for name in libraries() if f"`{own.get(name, name)}`" not in SECTION] == []

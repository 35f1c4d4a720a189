"""The pages for contributors, and those that leave the repository, lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.processes import ROOT

HOME = re.search(r'^Homepage = "(.*)"$', (ROOT / "python/pyproject.toml").read_text(), re.MULTILINE)
PAGES = [
    *(ROOT / ".github").rglob("*.*"),
    *(path for path in (ROOT / "python").glob("*.*") if path.is_file()),
    *(ROOT / "python/docs").glob("c*.md"),
]
LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_link_to_a_file_leads_to_one(page: Path):
    paths = [path for path, _ in LINK.findall(page.read_text()) if "://" not in path]
    assert [path for path in paths if not (page.parent / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_address_of_the_project_is_below_its_home(page: Path):
    assert HOME
    urls = re.findall(r"https://[\w./-]*delta-upkeep[\w./-]*", page.read_text())
    assert [url for url in urls if not f"{url}/".startswith(f"{HOME[1]}/")] == []


def test_the_page_of_the_python_index_has_no_link_that_only_works_here():
    links = [path for path, _ in LINK.findall((ROOT / "python/README.md").read_text())]
    assert links
    assert all(link.startswith("https://") for link in links)

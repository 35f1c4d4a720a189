"""The check of the site's links finds what it is there to find."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.processes import ROOT

sys.path.insert(0, str(ROOT / "project"))

from check_links import external, faults


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="guide/other.html">', None),
        ('<a href="guide/other.html#there">', None),
        ('<h1 id="here"></h1><a href="#here">', None),
        ('<a href="https://example.com/gone#x">', None),
        ("<pre>a[i][j]</pre>", None),
        ('<a href="guide/gone.html">', "guide/gone.html does not exist"),
        ('<img src="gone.png">', "gone.png does not exist"),
        ('<a href="guide/other.html#gone">', "guide/other.html#gone has no such anchor"),
        ('<a href="#gone">', "#gone has no such anchor"),
        ("<p>see [Spark][spark-conf]</p>", "[Spark][spark-conf] is not defined"),
    ],
)
def test_a_dead_link_is_a_fault(tmp_path: Path, html: str, fault: str | None):
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide/other.html").write_text('<p id="there"></p>')
    (tmp_path / "index.html").write_text(html)
    assert list(faults(tmp_path)) == ([f"index.html: {fault}"] if fault else [])


def test_links_that_leave_the_site_are_listed(tmp_path: Path):
    (tmp_path / "a.html").write_text('<a href="https://b.example"><a href="a.html">')
    (tmp_path / "scala").mkdir()
    (tmp_path / "scala/index.html").write_text('<a href="https://c.example"><a href="gone.html">')
    assert external(tmp_path) == {"https://b.example"}
    assert list(faults(tmp_path)) == []

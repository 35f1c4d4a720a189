"""The guide and the pages of the Python API build into a site whose links lead somewhere."""

from __future__ import annotations

import sys
from pathlib import Path

from support.processes import ROOT, run


def test_the_site_builds_without_a_warning(tmp_path: Path):
    sphinx = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-c", "python/docs"]
    run([*sphinx, "-d", tmp_path / "doctrees", "-b", "html", ".", tmp_path / "site"], ROOT)
    assert "Delta Upkeep" in (tmp_path / "site/README.html").read_text()

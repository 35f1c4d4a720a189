"""The report as an object: what it shows and that it escapes what it shows."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_upkeep import HealthCheck, HealthReport

CHECKS = (
    HealthCheck("files", "ok", 3.0, "files", "3 files.", None),
    HealthCheck("smallFiles", "info", 2.0, "files", "2 are small.", "OPTIMIZE t"),
    HealthCheck("log", "critical", None, "bytes", "It is <b>broken</b>.", "MAINTAIN t"),
)
REPORT = HealthReport("file:/t", CHECKS)


def test_findings_are_worst_first():
    assert [check.check for check in REPORT.findings] == ["log", "smallFiles"]


def test_text_names_each_check_and_its_remedy():
    lines = str(REPORT).splitlines()
    assert lines[0] == "Health of file:/t"
    assert len(lines) == 4
    assert lines[2].endswith("2 are small. -> OPTIMIZE t")


def test_dict_is_ready_for_json():
    assert json.loads(json.dumps(REPORT.toDict()))["checks"][1]["remedy"] == "OPTIMIZE t"


def test_page_is_one_file_that_needs_no_network(tmp_path: Path):
    page = tmp_path / "health.html"
    REPORT.toHtml(page)
    text = page.read_text()
    assert "&lt;b&gt;broken" in text
    assert "http" not in text


@given(st.text(), st.text())
def test_html_escapes_every_text(message: str, remedy: str):
    check = HealthCheck("c", "ok", None, "", f"<script>{message}", f"<script>{remedy}")
    assert "<script>" not in HealthReport("<script>", (check,))._repr_html_()


def test_plot_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"delta-upkeep\[plot\]"):
        REPORT.plot()

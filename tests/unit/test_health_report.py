"""The report as an object: what it shows, and that it escapes what it shows."""

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row

from delta_upkeep import HealthCheck, HealthDetail, HealthReport
from delta_upkeep._report.checks import SEVERITIES
from delta_upkeep._report.page import page, summary
from delta_upkeep.cli.one_table import _is_due
from support.health_sample import empty, sample

MARK = "<script>'\"&"
VOID = {"meta"}


class Elements(HTMLParser):
    """Reads a page: its elements, their attributes, and that each of them is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def with_texts(text: str) -> HealthReport:
    """The sample's first details, with a text of the table's in every place that has one."""
    checks = tuple(
        HealthCheck(
            f"{check.check}{text}" if i % 2 else check.check,
            check.severity,
            check.value,
            text,
            text,
            text,
            text,
            tuple(
                replace(d, series=f"{d.series}{text}" if i % 3 else d.series, label=text + d.label)
                for name in check.series_names
                for d in check.series(name)[:3]
            ),
        )
        for i, check in enumerate(sample().checks)
    )
    return HealthReport(text, checks)


def unknown(*details: HealthDetail, severity: str = "info") -> HealthReport:
    check = HealthCheck("bloomFilters", severity, 3.5, "parrots", "Seen.", "Why.", None, details)
    return HealthReport("file:/t", (check,))


def test_rows_become_checks_and_details():
    row = Row(
        path="file:/t",
        check="files",
        severity="ok",
        value=1.0,
        unit="files",
        message="m",
        why="w",
        remedy=None,
        details=[Row(series="size", label="under 1 MiB", count=1, bytes=2)],
    )
    report = HealthReport.of(SimpleNamespace(collect=lambda: [row]))
    detail = HealthDetail("size", "under 1 MiB", 1, 2)
    check = HealthCheck("files", "ok", 1.0, "files", "m", "w", None, (detail,))
    assert report == HealthReport("file:/t", (check,))


def test_findings_are_worst_first():
    found = [(check.severity, check.check) for check in sample().findings]
    assert found == [
        ("critical", "smallFiles"),
        ("warning", "clustering"),
        ("warning", "deletedRows"),
        ("warning", "commitsSinceCheckpoint"),
        ("warning", "expiredLog"),
        ("info", "rowGroups"),
        ("info", "statistics"),
        ("info", "orphans"),
    ]


def test_text_names_each_check_with_its_remedy_and_sums_its_details_up():
    lines = str(sample()).splitlines()
    assert lines[0] == "Health of file:/data/warehouse/events"
    small = next(i for i, line in enumerate(lines) if "smallFiles" in line)
    assert lines[small].endswith(" -> OPTIMIZE delta.`/data/events`")
    assert lines[small + 1].strip() == "gain: files 8,060, requests 16,120, bytes 41.0 MiB"
    files = next(i for i, line in enumerate(lines) if "sizeAfter" in line)
    assert lines[files].strip().startswith("size: 8,108 (13.2 GiB) in 7; sizeAfter: 48 (13.2 GiB)")
    assert len(lines) == 1 + 15 + 7
    assert "however little is in it" not in str(sample())


def test_dict_is_ready_for_json():
    check = json.loads(json.dumps(sample().toDict()))["checks"][1]
    assert check["remedy"] == "OPTIMIZE delta.`/data/events`"
    assert check["details"][2] == {
        "series": "gain",
        "label": "bytes",
        "count": 0,
        "bytes": 42991616,
    }


def test_page_is_one_file_that_needs_nothing(tmp_path: Path):
    file = tmp_path / "health.html"
    sample().toHtml(file)
    text = file.read_text(encoding="utf-8")
    elements = Elements(text)
    assert elements.open == []
    for reference in ("http", "src=", "url(", "@import", "<script", "<link"):
        assert reference not in text
    assert not {name for name, _ in elements.attributes} & {"src", "href", "onclick", "onload"}
    assert text.startswith("<!doctype html>")


def test_page_has_all_of_every_check_and_detail():
    text = sample()._repr_html_()
    for check in sample().checks:
        assert check.message in text
        assert (check.why in text) == (check.severity != "ok")
        assert all(f">{detail.label}<" in text for detail in check.details)
    for title in (
        "Files by size",
        "Data by size",
        "Log",
        "Partitions",
        "Row groups",
        "Expired log",
        "Clustering",
        "Files by values of user",
    ):
        assert f"<h3>{title}</h3>" in text


def test_rules_are_all_below_the_class_of_the_report():
    rules = re.findall(r"<style>(.*?)</style>", sample()._repr_html_(), re.DOTALL)[0]
    plain = re.sub(r"@(media|container)[^{]*\{", "", rules)
    selectors = [s for group in re.findall(r"([^{}]+)\{", plain) for s in group.split(",")]
    assert len(selectors) > 50
    assert [s for s in selectors if ".delta-upkeep-health.delta-upkeep-health" not in s] == []


def test_each_theme_has_one_palette():
    rules = re.findall(r"<style>(.*?)</style>", page("/t", ()))
    palettes = re.findall(r"{(color-scheme:[^{}]*--page[^{}]*)}", rules[1])
    light, *dark = [dict(re.findall(r"([\w-]+): ([^;]+);", palette)) for palette in palettes]
    assert dark[0] == dark[1] and dark[0].keys() == light.keys()
    bodies = re.findall(r"color-scheme: (\w+); background: (#\w+)", rules[0])
    assert bodies == [(theme["color-scheme"], theme["--page"]) for theme in (light, dark[0])]


HARMLESS = Elements(page("x", with_texts("x").checks))


@settings(deadline=None)
@given(st.text())
def test_every_text_is_escaped(text: str):
    report = with_texts(f"{MARK}{text}")
    found = page(report.path, report.checks)
    assert "<script" not in found
    elements = Elements(found)
    assert elements.open == []
    assert elements.tags == HARMLESS.tags
    assert [name for name, _ in elements.attributes] == [n for n, _ in HARMLESS.attributes]


@pytest.mark.parametrize("severity", ["ok", "info", "warning", "critical"])
def test_a_severity_is_told_by_a_word_and_a_shape(severity: str):
    word = {"ok": "OK", "info": "Note", "warning": "Warning", "critical": "Critical"}[severity]
    text = unknown(severity=severity)._repr_html_()
    assert re.search(rf'aria-label="{severity}".*?</svg><span>{word}</span>', text)


def test_unknown_checks_and_series_are_shown():
    details = (HealthDetail("fill", "half", 5, 0), HealthDetail("fill", "full", 1, 0))
    text = unknown(*details)._repr_html_()
    assert "Bloom filters" in text
    assert "3.5 parrots" in text
    assert "<h3>Bloom filters</h3>" in text
    assert text.count(">half<") == 3  # a label, what a pointer on it is told, and a row
    assert "fill: half 5, full 1" in str(unknown(*details))


def test_a_long_series_is_cut_in_the_figure_alone():
    details = [HealthDetail("fill", f"column {i}", i, 0) for i in range(30)]
    text = unknown(*details)._repr_html_()
    assert "6 more in the data below" in text
    assert text.count(">column 29<") == 1
    assert text.count(">column 23<") == 3


def test_other_partitions_are_told_beside_the_strip():
    text = sample()._repr_html_()
    assert "120 partitions; 80 other partitions: 1,204 files, 3.0 GiB" in text
    assert text.count('class="cell heat') == 2 * 120 + 2 * 5
    assert "<title>day=2026-01-02: 4 files, 57.0 MiB</title>" in text


def test_an_empty_table_has_no_figures_of_nothing():
    text = empty()._repr_html_()
    assert "3 checks found nothing that needs attention." in text
    assert "Files by size" not in text


def test_a_report_without_checks_is_still_one():
    report = HealthReport("file:/t", ())
    assert str(report) == "Health of file:/t"
    assert "0 checks" in report._repr_html_()


def test_the_summary_counts_and_names_the_worst():
    said = "1 critical, 4 warnings and 3 notes in 15 checks; look at small files first."
    assert summary(sample().checks) == said
    assert summary(unknown().checks) == "1 note in 1 check; look at bloom filters first."


def test_an_unpartitioned_table_has_no_strip_of_one_cell():
    whole = HealthDetail("partition", "", 3, 3)
    files = HealthCheck("files", "ok", 3.0, "files", "3 files.", "", None, (whole,))
    text = HealthReport("file:/t", (files,))._repr_html_()
    assert "Partitions" not in text
    assert "whole table" in text


DETAILS = st.builds(
    HealthDetail,
    st.sampled_from(
        ["size", "sizeAfter", "partition", "otherPartitions", "gain", "day", "load", "other"]
    ),
    st.text(max_size=5) | st.dates().map(str),
    st.integers(0, 2**40),
    st.integers(0, 2**63 - 1),
)
CHECKS = st.builds(
    HealthCheck,
    st.sampled_from(["files", "smallFiles", "log", "checkpoint", "other"]),
    st.sampled_from(["ok", "info", "warning", "critical"]),
    st.none() | st.floats(0, 1e18),
    st.sampled_from(["files", "bytes", "percent", "version", "hours"]),
    st.text(),
    st.text(),
    st.none() | st.text(),
    st.lists(DETAILS, max_size=40).map(tuple),
)
# A count that is not whole, and so small that a share of it is no number.
FRACTIONS = tuple(
    replace(sample().checks[0], check=name, value=value)
    for name, value in [("files", 5e-324), ("smallFiles", 1.0)]
)


@settings(deadline=None)
@given(st.lists(CHECKS, max_size=6).map(tuple))
@example(FRACTIONS)
def test_any_report_can_be_shown(checks: tuple[HealthCheck, ...]):
    report = HealthReport("file:/t", checks)
    shown = report._repr_html_()
    assert Elements(shown).open == []
    assert str(report).startswith("Health of file:/t")
    for number in re.findall(r' (?:x|width|y|height)="([-\d.e+]+)%?"', shown):
        assert float(number) >= 0


@pytest.mark.parametrize("report", [sample(), empty(), HealthReport("/$a$/b_{c", ())])
def test_plot_draws_the_figures(report: HealthReport, tmp_path: Path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = report.plot()
    axes[0].figure.savefig(tmp_path / "health.png")
    titles = [place.get_title(loc="left").split("\n")[0] for place in axes]
    drawn = re.findall(r"<figure class=[^>]*><h3>([^<]*)", report._repr_html_())
    assert titles == (drawn or [""])
    matplotlib.pyplot.close(axes[0].figure)


def test_plot_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "delta_upkeep._report.plot", raising=False)
    monkeypatch.delattr("delta_upkeep._report.plot", raising=False)
    with pytest.raises(ImportError, match=r"delta-upkeep\[plot\]"):
        sample().plot()


def test_one_check_of_a_report():
    report = sample()
    first = report.checks[0]
    assert report[first.check] == first
    assert list(report) == list(report.checks)
    assert first.check in report and first in report and "nothing" not in report
    with pytest.raises(KeyError, match="nothing is not one of"):
        report["nothing"]


def test_the_severity_of_a_report_is_that_of_its_worst_check():
    assert HealthReport("file:/t", ()).severity == "ok"
    report = sample()
    assert report.severity == report.findings[0].severity
    assert {check.severity for check in report} <= set(
        SEVERITIES[: SEVERITIES.index(report.severity) + 1]
    )


def test_the_page_is_returned_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = sample()
    file = tmp_path / "page.html"
    assert report.toHtml(file) is None
    assert report.toHtml() == file.read_text(encoding="utf-8")
    report.show()
    assert capsys.readouterr().out == f"{report}\n"


@pytest.mark.parametrize("limit", [None, *SEVERITIES[1:]])
def test_work_is_due_from_a_severity_on(limit: str | None):
    for severity in SEVERITIES:
        report = HealthReport("t", (replace(sample().checks[0], severity=severity),))
        due = limit is not None and SEVERITIES.index(severity) >= SEVERITIES.index(limit)
        assert _is_due(report, limit) == due

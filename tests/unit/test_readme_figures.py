"""What the guide says was measured is what the pages of the benchmark say."""

from __future__ import annotations

import pytest

from support.processes import ROOT

MEASURED = (ROOT / "python/docs/measured.md").read_text().split("\n## ")[0]
WARM, AFTER = "Compaction in warm sessions", "After 10 commits"
SMALL, FIRST = "OPTIMIZE 200 files", "in a fresh session"
VECTORS, ROW_IDS, EVERYTHING = "in every file;", "with row ids |", "a widened type"
APPENDS = "worst of 400 appends"
PARTITIONED, CLEANUP = "OPTIMIZE 2,920", "CLEANUP LOG of 10,000"
LARGE, LITTLE = "CHECKPOINT of 200,000", "CHECKPOINT of 2,000"
NEW = "CHECKPOINT of a table of 200,000"


def rows(page: str, heading: str) -> list[dict[str, str]]:
    """Read the first table of a section, a row by its column's names."""
    text = (ROOT / f"tests/bench/results/{page}.md").read_text()
    section = text.split(f"\n## {heading}")[1].split("\n## ")[0]
    lines = section.split("\n|", 1)[1].split("\n\n")[0].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(table[0], row, strict=True)) for row in table[2:]]


@pytest.mark.parametrize(
    ("work", "page", "heading", "where", "engines"),
    [
        (
            SMALL,
            "optimize",
            WARM,
            {"case": "small"},
            {"Delta Upkeep s": "1.2", "Delta s": "23.8", "delta-rs s": "2.8"},
        ),
        (
            FIRST,
            "optimize",
            "First OPTIMIZE",
            {"case": "first"},
            {"Delta Upkeep s": "4.7", "Delta s": "21.6"},
        ),
        (
            PARTITIONED,
            "optimize",
            WARM,
            {"case": "partitioned"},
            {"Delta Upkeep s": "3.6", "Delta s": "34.1", "delta-rs s": "4.3"},
        ),
        (
            VECTORS,
            "optimize",
            WARM,
            {"case": "dv_all"},
            {"Delta Upkeep s": "1.6", "Delta s": "24.0", "delta-rs s": "4.3"},
        ),
        (
            VECTORS,
            "optimize",
            WARM,
            {"case": "dv_some"},
            {"Delta Upkeep s": "1.2", "Delta s": "24.1", "delta-rs s": "4.1"},
        ),
        (
            ROW_IDS,
            "optimize",
            WARM,
            {"case": "rowtrack"},
            {"Delta Upkeep s": "1.3", "Delta s": "25.5"},
        ),
        (
            EVERYTHING,
            "optimize",
            WARM,
            {"case": "everything"},
            {"Delta Upkeep s": "1.7", "Delta s": "28.0"},
        ),
        (
            LARGE,
            "checkpoint",
            AFTER,
            {"case": "checkpoint_200k", "policy": "classic"},
            {"Delta Upkeep s": "0.4", "Delta s": "9.2", "delta-rs s": "1.1"},
        ),
        (
            LARGE,
            "checkpoint",
            AFTER,
            {"case": "checkpoint_200k", "policy": "v2"},
            {"Delta Upkeep s": "0.3", "Delta s": "8.2", "delta-rs s": "1.1"},
        ),
        (
            LITTLE,
            "checkpoint",
            AFTER,
            {"case": "checkpoint_1k", "policy": "classic"},
            {"Delta Upkeep s": "0.2", "Delta s": "1.7", "delta-rs s": "0.03"},
        ),
        (
            NEW,
            "checkpoint",
            "First checkpoint",
            {"case": "checkpoint_200k", "policy": "classic"},
            {"Delta Upkeep s": "1.8", "Delta s": "9.3", "delta-rs s": "2.1"},
        ),
        (
            "the same of 1,000,000",
            "checkpoint",
            "First checkpoint",
            {"case": "checkpoint_1m", "policy": "v2"},
            {"Delta Upkeep s": "9.5", "Delta s": "42.5", "delta-rs s": "15.9"},
        ),
        (
            APPENDS,
            "appends",
            "100 appends to a table of 200,000",
            {"engine": "Delta Upkeep"},
            {"worst s": "0.6", "median s": "0.25"},
        ),
        (
            APPENDS,
            "appends",
            "100 appends to a table of 200,000",
            {"engine": "Delta"},
            {"worst s": "12.1"},
        ),
        (CLEANUP, "cleanup", "10,000", {"engine": "Delta Upkeep"}, {"s": "16"}),
        (CLEANUP, "cleanup", "10,000", {"engine": "Delta Upkeep, 250 files a call"}, {"s": "4"}),
        (CLEANUP, "cleanup", "10,000", {"engine": "Delta"}, {"s": "416"}),
    ],
)
def test_a_figure_is_that_of_its_page(
    work: str, page: str, heading: str, where: dict[str, str], engines: dict[str, str]
):
    (row,) = [row for row in rows(page, heading) if where.items() <= row.items()]
    (said,) = [line for line in MEASURED.splitlines() if work in line]
    assert engines, "a case names the figures that it compares"
    for column, text in engines.items():
        digits = len(text.partition(".")[2])
        assert abs(float(row[column]) - float(text)) <= 0.5001 * 10**-digits
        assert f" {text} s" in said.replace("**", "")

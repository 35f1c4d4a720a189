"""The page of the benchmark of appends."""

from pathlib import Path

import pytest
from test_bench_report import SETTING

from bench.appends_chart import draw
from bench.appends_report import markdown, quantile
from bench.results import AppendRuns, AppendsResult, load, save

OURS = AppendRuns((0.1, 0.2, 0.1, 0.1), (0.5, 1.25))
DELTAS = AppendRuns((0.1, 0.2, 8.0, 0.1), (0.0,))
RESULTS = {
    "appends_1k": AppendsResult("4 appends", SETTING, 1000, {"upkeep": OURS, "delta": DELTAS}),
    "appends_200k": AppendsResult("none", SETTING, 9, {"upkeep": AppendRuns(error="full disk")}),
}


@pytest.mark.parametrize(
    ("share", "figure"), [(0.0, 1), (0.01, 1), (0.5, 50), (0.9, 90), (0.99, 99), (1, 100)]
)
def test_quantiles(share: float, figure: int):
    assert quantile(range(1, 101), share) == figure
    assert quantile([], share) is None


def test_compares_the_slowest():
    page = markdown(RESULTS)
    assert "| Delta Upkeep | 4 | 0.100 | 0.200 | 0.200 | 0.200 | 2.00x | 1.25 |" in page
    assert "| Delta | 4 | 0.150 | 8.000 | 8.000 | 8.000 | 53.33x | 0.00 |" in page
    assert "- appends_200k, Delta Upkeep: full disk" in page


def test_results_are_kept_and_drawn(tmp_path: Path):
    save(RESULTS, tmp_path / "appends.json")
    assert load(tmp_path / "appends.json") == RESULTS
    draw(RESULTS, tmp_path / "appends.png")
    assert (tmp_path / "appends.png").stat().st_size > 0

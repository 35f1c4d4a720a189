"""The page of tables that grow and are put in order again, and what a query opens of them."""

import json
from pathlib import Path

import pytest
from test_bench_report import SETTING

from bench.cluster_report import markdown
from bench.results import Round, RoundsResult, load, save
from bench.rounds_measure import Queries, bytes_of_new

RESULT = RoundsResult(
    "lineitem",
    SETTING,
    {
        "Delta Upkeep": (Round(3.0, 10, 10, 14, 0.25), Round(2.0, 10, 40, 16, 0.5)),
        "Delta": (Round(20.0, 10, 200, 13, 0.3),),
    },
)


def added(path: str, size: int, low: int, high: int) -> dict[str, object]:
    stats = {"minValues": {"k": low}, "maxValues": {"k": high}}
    return {"path": path, "size": size, "stats": json.dumps(stats)}


def test_a_row_has_what_all_rounds_wrote_and_what_the_last_left():
    page = markdown({"rounds": RESULT})
    assert "| Delta Upkeep | 2.50 | 2.50x | 16 | 50% | 38% |" in page
    assert "| Delta | 20.00 | 20.00x | 13 | 30% | 30% |" in page


def test_results_are_kept(tmp_path: Path):
    save({"rounds": RESULT}, tmp_path / "cluster.json")
    assert load(tmp_path / "cluster.json") == {"rounds": RESULT}


def test_a_query_opens_the_files_whose_range_has_its_value():
    live = [added("a", 10, 0, 4), added("b", 30, 5, 9)]
    assert Queries({"k": [1, 5]}).opened(live) == pytest.approx((10 + 30) / 2 / 40)
    assert bytes_of_new(live[:1], live) == 30

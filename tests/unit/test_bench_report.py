"""The page of the benchmark: what it compares, and that nothing is left out."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.engines import ENGINES, rotated
from bench.environment import Setting
from bench.families import chosen
from bench.layout import Layout
from bench.report import change, markdown, median, number, ratio, table, times
from bench.results import EngineRuns, FirstResult, HeapResult, HeapRun, OptimizeResult, load, save

SETTING = Setting(
    cpu="a processor",
    cpus=2,
    memory_gib=8.0,
    kernel="Linux 6",
    java="17",
    spark="4.2.0",
    delta="4.4.0",
    delta_rs="1.6.6",
    upkeep="0.1.0",
    cores=2,
    driver_memory="4g",
    scale=1.0,
    runs=3,
    date="2026-01-01",
)
BEFORE = Layout(files=2_000, row_groups=2_000, rows=10, bytes=4_000_000)
AFTER = Layout(files=1, row_groups=2, rows=10, bytes=3_000_000)
OURS = EngineRuns((2.0, 1.0, 9.0), (300.0,), (90.0,), ("splice",), (1.0,), (0.5,), AFTER)
DELTAS = replace(OURS, seconds=(8.0, 8.0, 7.0), tiers=(), output=replace(AFTER, bytes=4_000_000))
RUST = EngineRuns(seconds=(1.0, 1.0, 1.0), scan_seconds=(2.0,), select_seconds=(2.0,), output=AFTER)
COMPACTED = OptimizeResult(
    "small files", SETTING, BEFORE, {"upkeep": OURS, "delta": DELTAS, "delta-rs": RUST}
)
FIRST = FirstResult("cold", SETTING, BEFORE, {"upkeep": OURS, "delta": DELTAS})
HEAP = HeapResult("heap", SETTING, "1g", HeapRun(BEFORE, OURS), HeapRun(BEFORE, OURS))


def test_compares_medians():
    page = markdown({"tiny": COMPACTED})
    assert (
        "| tiny | small files | 2,000 -> 1 | 2,000 -> 2 | 4 | 2.00 | 8.00 | 1.00 | 4.00x | 0.50x |"
        in page
    )
    assert "| tiny | 0.75x | 1.00x | 1.00x | 1.00x | 0.50x | 0.25x |" in page
    assert "| tiny | Delta Upkeep | splice | 2.00 | 1.00 to 9.00 |" in page


def test_shows_first_and_heap_in_sections_of_their_own():
    page = markdown({"first": FIRST, "heap": HEAP})
    assert "| first | cold | 2,000 -> 1 | 2.00 | 8.00 | 4.00x |" in page
    assert "| heap: heap | 1g | 4 | 2,000 -> 1 | 90 | 1.00x |" in page
    assert "warm sessions\n" not in page


def test_shows_an_engine_that_failed():
    failed = {**COMPACTED.engines, "delta-rs": EngineRuns(error="no such codec\n at line 1")}
    page = markdown({"tiny": replace(COMPACTED, engines=failed)})
    assert "| 2.00 | 8.00 | - | 4.00x | - |" in page
    assert "- tiny, delta-rs: no such codec" in page


def test_says_which_cases_were_measured_elsewhere():
    other = replace(FIRST, setting=replace(SETTING, scale=0.1))
    page = markdown({"tiny": COMPACTED, "heap": HEAP, "first": other})
    assert "tiny, heap: scale factor 1, 3 runs" in page
    assert "first: scale factor 0.1, 3 runs" in page


def test_keeps_results_as_json(tmp_path: Path):
    results = {"tiny": COMPACTED, "first": FIRST, "heap": HEAP}
    save(results, tmp_path / "optimize.json")
    assert load(tmp_path / "optimize.json") == results
    assert load(tmp_path / "none.json") == {}


def test_takes_turns():
    assert [rotated(ENGINES, turn)[0] for turn in range(4)] == [*ENGINES, ENGINES[0]]


def test_chooses_cases_by_name():
    assert list(chosen(["first", "tiny"])) == ["tiny", "first"]
    assert {"small", "heap"} <= set(chosen([]))
    with pytest.raises(ValueError, match=r"no case mall\. The cases are: small, tiny"):
        chosen(["mall"])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (times(ratio(3.0, 2.0)), "1.50x"),
        (times(ratio(None, 2.0)), "-"),
        (times(ratio(3.0, 0.0)), "-"),
        (number(median([])), "-"),
        (number(median([1.0, 2.0])), "1.50"),
        (change(BEFORE, None, "files"), "2,000 -> -"),
        (table(["a", "b"], [["1", "2"]]), "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
    ],
)
def test_writes_figures(written: str, expected: str):
    assert written == expected

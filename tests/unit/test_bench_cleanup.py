"""The page of CLEANUP LOG's benchmark, and the log that it cleans."""

from pathlib import Path

from test_bench_report import SETTING

from bench.cleanup_chart import draw
from bench.cleanup_report import markdown
from bench.cleanup_table import left_in, write_commit
from bench.layout import linked_copy
from bench.results import CleanupHeapResult, CleanupResult, CleanupRuns, load, save

CLEANED = CleanupResult(
    "10 expired commits, 20 ms a call",
    SETTING,
    20,
    {
        "Delta Upkeep": CleanupRuns((2.0, 1.0, 4.0), "delete=20, list=3", (300.0,)),
        "Delta": CleanupRuns((40.0,), "delete=20, list=9", (500.0,)),
        "another": CleanupRuns(error="no such store\nat line 1"),
    },
)
HEAP = CleanupHeapResult("ours only", SETTING, "1g", {10: 40.0, 500: 51.6}, {10: 50.0, 500: 61.4})
RESULTS = {"cleanup": CLEANED, "cleanup_heap": HEAP}


def test_compares_seconds_and_states_requests():
    page = markdown(RESULTS)
    assert "## 10 expired commits, 20 ms a call: 20 files to delete" in page
    assert "| Delta Upkeep | 2.00 | 1.00 to 4.00 | 1.00x | delete=20, list=3 | 300 |" in page
    assert "| Delta | 40.00 | 40.00 to 40.00 | 20.00x | delete=20, list=9 | 500 |" in page
    assert "- another: no such store" in page
    assert "| 500 | 52 | 61 |" in page


def test_results_are_kept(tmp_path: Path):
    save(RESULTS, tmp_path / "cleanup.json")
    assert load(tmp_path / "cleanup.json") == RESULTS


def test_draws_what_there_is(tmp_path: Path):
    draw(RESULTS, tmp_path / "cleanup.png")
    assert (tmp_path / "cleanup.png").stat().st_size > 0


def test_a_copy_of_a_log_can_lose_files(tmp_path: Path):
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    for version in range(3):
        write_commit(tmp_path / "table", version)
    copy = linked_copy(tmp_path / "table", tmp_path / "copy")
    (copy / "_delta_log" / f"{0:020}.json").unlink()
    assert (left_in(copy), left_in(tmp_path / "table")) == (2, 3)

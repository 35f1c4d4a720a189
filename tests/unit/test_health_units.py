"""Numbers and names of the health report, as people write them."""

import pytest

from delta_upkeep._report.svg import heat_steps
from delta_upkeep._units import amount_text, bytes_text, listed, name_text
from support.processes import ROOT

SIZES = [line.split(",") for line in (ROOT / "tests/sizes.csv").read_text().splitlines()[1:]]


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_sizes_are_written_as_the_statements_write_them(count: str, text: str):
    assert bytes_text(int(count)) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12345.0, "files", "12,345 files"),
        (1.0, "files", "1 file"),
        (7.25, "percent", "7.2%"),
        (1160.0, "version", "version 1160"),
        (2.0**31, "bytes", "2.0 GiB"),
        (26.4, "hours", "26.4 hours"),
        (3.0, "", "3"),
        (None, "files", "\N{EN DASH}"),
    ],
)
def test_amounts(value: float | None, unit: str, text: str):
    assert amount_text(value, unit) == text


def test_names_are_words():
    assert name_text("commitsSinceCheckpoint") == "Commits since checkpoint"
    assert name_text("log") == "Log"
    assert name_text("") == ""


def test_lists_are_sentences():
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_heat_is_logarithmic():
    assert heat_steps([1, 10, 100]) == [0, 2, 4]
    assert heat_steps([5, 5]) == [2, 2]

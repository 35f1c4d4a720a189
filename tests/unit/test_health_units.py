"""Numbers and names of the health report, as people write them."""

import pytest

from delta_upkeep._report.svg import heat_steps
from delta_upkeep._units import amount_text, bytes_text, listed, name_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (2**20 - 1, "1.0 MiB"),
        (1288490188, "1.2 GiB"),
        (150 * 2**30, "150 GiB"),
        (2**63, "8,192 PiB"),
    ],
)
def test_bytes(count: int, text: str):
    assert bytes_text(count) == text


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

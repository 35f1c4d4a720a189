"""The line that shows how far work is, and that it is quiet where nobody looks."""

from __future__ import annotations

import io
from typing import Any

import pytest

from delta_upkeep._table.progress import Notebook, Progress, Terminal

HALF = Progress("OPTIMIZE t: 840 files in 40 bins", 10, 40, 2 << 30, 4.0)


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (HALF, "10 of 40 done, 2.0 GiB, 512.0 MiB/s, 12 s left | OPTIMIZE t: 840 files in 40 bins"),
        (Progress("x", 0, 4, 0, 9.0), "0 of 4 done | x"),
        (Progress("x", 4, 4, 0, 9.0), "4 of 4 done | x"),
        (Progress("x", 1, 31, 0, 3.0), "1 of 31 done, 1 min 30 s left | x"),
        (Progress("x", 1, 2, 5, 0.0), "1 of 2 done, 0 s left | x"),
    ],
)
def test_text(progress: Progress, text: str):
    assert progress.text == text


def test_a_terminal_has_one_line_and_then_none():
    stream = io.StringIO()
    terminal = Terminal(stream, 24)
    terminal.show(HALF)
    terminal.clear()
    first, last = stream.getvalue().split("\r")[1:]
    assert first == "10 of 40 done, 2.0 GiB,\x1b[K"
    assert last == "\x1b[K"
    assert "\n" not in stream.getvalue()


def test_a_notebook_has_one_output_that_changes():
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, display_id: bool) -> Any:
        assert display_id
        shown.append(html)
        return Handle()

    notebook = Notebook(display, lambda html: html)
    notebook.show(Progress("OPTIMIZE <t>", 1, 2, 0, 1.0))
    notebook.clear()
    assert shown[0] == shown[2] == ""
    assert (
        "<progress max='2' value='1'></progress> 1 of 2 done, 1 s left | OPTIMIZE &lt;t&gt;"
        in shown[1]
    )

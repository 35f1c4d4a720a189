"""Shows a live line in a terminal or a notebook while a statement runs."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from shutil import get_terminal_size
from threading import Event, Thread, current_thread, main_thread
from typing import Any, Protocol, TextIO

from pyspark.sql import SparkSession

from delta_upkeep._table.java import api_of
from delta_upkeep._units import bytes_text

_FIRST_SECONDS = 1.0
_EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Progress:
    """The progress of a Spark job.

    Attributes:
        description: What the job does.
        done: Tasks that have ended. In a compaction, a task rewrites a bin.
        tasks: All tasks.
        bytes: Bytes that the tasks have read.
        seconds: Seconds since the job was first seen.
    """

    description: str
    done: int
    tasks: int
    bytes: int
    seconds: float

    @property
    def text(self) -> str:
        """The line that is shown."""
        parts = [f"{self.done} of {self.tasks} done"]
        if self.bytes and self.seconds > 0:
            rate = bytes_text(round(self.bytes / self.seconds))
            parts.append(f"{bytes_text(self.bytes)}, {rate}/s")
        if 0 < self.done < self.tasks:
            left = self.seconds / self.done * (self.tasks - self.done)
            parts.append(f"{_duration(left)} left")
        # The description goes last, because a terminal may cut the end of the line.
        return ", ".join(parts) + f" | {self.description}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class Display(Protocol):
    """A place that shows progress."""

    def show(self, progress: Progress) -> None:
        """Replace what was shown before."""

    def clear(self) -> None:
        """Remove what was shown."""


class Terminal:
    """The last line of a terminal."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self._stream = stream
        self._width = width

    def show(self, progress: Progress) -> None:
        """Overwrite the line."""
        self._write(progress.text[: self._width - 1])

    def clear(self) -> None:
        """Clear the line."""
        self._write("")

    def _write(self, text: str) -> None:
        # Go to the start of the line, write the text, and erase the rest of the line.
        self._stream.write(f"\r{text}\x1b[K")
        self._stream.flush()


class Notebook:
    """An output of the running cell."""

    def __init__(self, display: Callable[..., Any], html: Callable[[str], Any]) -> None:
        self._html = html
        self._handle = display(html(""), display_id=True)

    def show(self, progress: Progress) -> None:
        """Show a bar and the text."""
        bar = f"<progress max='{progress.tasks}' value='{progress.done}'></progress>"
        self._handle.update(self._html(f"{bar} {escape(progress.text)}"))

    def clear(self) -> None:
        """Clear the output."""
        self._handle.update(self._html(""))


@contextmanager
def shown(spark: SparkSession) -> Iterator[None]:
    """Show the progress of this thread's Spark jobs, in a terminal or a notebook."""
    make = _display(spark)
    if make is None:
        yield
        return
    context = spark.sparkContext
    tag = f"delta-upkeep-{uuid.uuid4()}"
    context.addJobTag(tag)
    ended = Event()
    watcher = Thread(target=_watch, args=(spark, tag, make, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        context.removeJobTag(tag)


def _watch(spark: SparkSession, tag: str, make: Callable[[], Display], ended: Event) -> None:
    if ended.wait(_FIRST_SECONDS):
        return
    display = make()
    begun: dict[str, float] = {}
    while not ended.wait(_EVERY_SECONDS):
        job = api_of(spark).progress(spark._jsparkSession, tag)
        if job is not None:
            description = str(job.description())
            seconds = time.monotonic() - begun.setdefault(description, time.monotonic())
            counts = int(job.tasksDone()), int(job.tasks()), int(job.bytesRead())
            display.show(Progress(description, *counts, seconds))
    display.clear()


def _display(spark: SparkSession) -> Callable[[], Display] | None:
    """Choose where to show progress; None if there is nowhere, or if Spark shows its own line.

    There is only one line, and it belongs to the main thread.
    """
    if current_thread() is not main_thread():
        return None
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        from IPython.display import HTML, display

        return lambda: Notebook(display, HTML)
    if not sys.stderr.isatty():
        return None
    if spark.sparkContext.getConf().get("spark.ui.showConsoleProgress") == "true":
        return None
    return lambda: Terminal(sys.stderr, get_terminal_size().columns)

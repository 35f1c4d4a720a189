"""The engines, as worker processes to talk to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.paths import DRIVER_MEMORY, LOGS

UPKEEP, DELTA, KERNEL, DELTA_RS, DUCKDB = "upkeep", "delta", "kernel", "delta-rs", "duckdb"
ENGINES = (UPKEEP, DELTA, DELTA_RS)
"""Which of them compact."""
_DELTA = tuple(int(part) for part in version("delta-spark").split(".")[:2])
# Since 4.2 Delta brings the Kernel that the worker knows.
CHECKPOINTERS = (UPKEEP, DELTA, *((KERNEL,) if _DELTA >= (4, 2) else ()), DELTA_RS)
LABELS = {
    UPKEEP: "Delta Upkeep",
    DELTA: "Delta",
    KERNEL: "Delta Kernel",
    DELTA_RS: "delta-rs",
}
STOP_SECONDS = 60


class EngineError(Exception):
    """An engine could not do what it was asked for."""


class Worker:
    """A process with one engine, ready when this is made."""

    def __init__(self, engine: str, memory: str = DRIVER_MEMORY, cluster: str = "") -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        self._log = LOGS / f"{engine}.log"
        paths = {
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "SPARK_CONF_DIR": str(Path("conf").resolve()),
        }
        options = ["--memory", memory, "--cluster", cluster]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.worker", engine, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **paths},
            )
        self._answer()

    def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Have the engine do something.

        Raises:
            EngineError: It failed, or the process ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # Its end is found by the answer that does not come.
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EngineError(f"The process ended with {self._process.wait()}; see {self._log}.")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise EngineError(reply["error"])
        return reply

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def rotated(names: Sequence[str], turn: int) -> list[str]:
    """Order names for a round: another one comes first each time."""
    at = turn % len(names)
    return [*names[at:], *names[:at]]

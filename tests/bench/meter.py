"""What a call costs the process that carries it out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import SparkSession

IO = Path("/proc/self/io")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Cost:
    """What one call has cost.

    Attributes:
        seconds: By the clock.
        bytes_read: By system calls, from files and the page cache; None where the system does
            not tell.
        peak_heap_mb: Garbage included; None if there is no JVM.
    """

    seconds: float
    bytes_read: int | None = None
    peak_heap_mb: float | None = None


class Meter:
    """Measures calls that this process carries out itself."""

    def measure(self, work: Callable[[], Done]) -> tuple[Done, Cost]:
        """Do some work, and say what it has cost."""
        before = self._bytes_read()
        started = time.perf_counter()
        done = work()
        seconds = time.perf_counter() - started
        after = self._bytes_read()
        read = None if before is None or after is None else after - before
        return done, Cost(seconds, read)

    def _bytes_read(self) -> int | None:
        return read_by(IO.read_text()) if IO.exists() else None


class JvmMeter(Meter):
    """Measures calls that the JVM of a session carries out."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        beans = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        self._pools = [pool for pool in beans if pool.getType().name() == "HEAP"]

    def measure(self, work: Callable[[], Done]) -> tuple[Done, Cost]:
        """Do some work from a clean heap, and say what it has cost."""
        self.collect_garbage()
        for pool in self._pools:
            pool.resetPeakUsage()
        done, cost = super().measure(work)
        peak = sum(pool.getPeakUsage().getUsed() for pool in self._pools)
        return done, Cost(cost.seconds, cost.bytes_read, peak / 2**20)

    def collect_garbage(self) -> None:
        """Make a full collection."""
        self._jvm.java.lang.System.gc()

    def live_mb(self) -> float:
        """Say how much the last collection of garbage left."""
        live: float = sum(pool.getCollectionUsage().getUsed() for pool in self._pools)
        return live / 2**20

    def _bytes_read(self) -> int | None:
        if not IO.exists():
            return None
        # What the JVM reads here is its own.
        file = self._jvm.java.io.File(str(IO)).toPath()
        return read_by(self._jvm.java.nio.file.Files.readString(file))


def read_by(text: str) -> int | None:
    """Find the bytes that a process has read: 42 in `rchar: 42`."""
    found = re.search(r"rchar: (\d+)", text)
    return int(found.group(1)) if found else None

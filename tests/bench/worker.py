"""One engine in a process of its own, which stays warm: commands come as JSON lines on stdin.

A command such as `{"do": "optimize", "path": "/table"}` is answered by one JSON line on stdout:
what was measured, or `{"error": "..."}`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol

from bench.paths import CORES, DRIVER_MEMORY, LOGS, TARGET_BYTES

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
COLLECTION_SECONDS = 0.1
"""Between two collections of garbage, where what is live is measured."""
Reply = dict[str, Any]


class Engine(Protocol):
    """What carries out the commands."""

    def optimize(self, path: str) -> Reply:
        """Compact the table and say how long it took."""


class SparkEngine:
    """A Spark session, with Delta Upkeep's extension or with Delta's alone."""

    def __init__(self, ours: bool, memory: str) -> None:
        from pyspark.sql import SparkSession

        from delta_upkeep import configure_spark_with_delta_upkeep

        self._ours = ours
        builder = (
            SparkSession.builder.appName("Delta Upkeep bench")
            .master(f"local[{CORES}]")
            .config("spark.driver.memory", memory)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", str(CORES))
            .config("spark.databricks.delta.snapshotPartitions", str(CORES))
            .config("spark.sql.session.timeZone", "UTC")
        )
        builder = configure_spark_with_delta_upkeep(builder)
        if not ours:
            # The sessions differ in this and nothing else.
            builder.config("spark.sql.extensions", DELTA_EXTENSION)
        self._spark = builder.getOrCreate()

    def optimize(self, path: str) -> Reply:
        """Run the statement, and check that it was the engine's own."""
        pools = self._heap_pools()
        self._collect_garbage()
        for pool in pools:
            pool.resetPeakUsage()
        started = time.perf_counter()
        result = self._spark.sql(f"OPTIMIZE delta.`{path}`")
        row = result.collect()[0]
        seconds = time.perf_counter() - started
        peak = sum(pool.getPeakUsage().getUsed() for pool in pools)
        if ("bins" in result.columns) != self._ours:
            raise RuntimeError(f"OPTIMIZE was another engine's: it returned {result.columns}.")
        return {
            "seconds": seconds,
            "peak_heap_mb": peak / 2**20,
            "tiers": sorted({bin.tier for bin in row.bins}) if self._ours else [],
        }

    def optimize_collecting(self, path: str) -> Reply:
        """Run the statement with one full collection of garbage after another beside it."""
        pools = self._heap_pools()
        live = 0

        def collect(ended: Event) -> None:
            nonlocal live
            while not ended.wait(COLLECTION_SECONDS):
                self._collect_garbage()
                live = max(live, sum(pool.getCollectionUsage().getUsed() for pool in pools))

        ended = Event()
        collector = Thread(target=collect, args=(ended,))
        collector.start()
        try:
            reply = self.optimize(path)
        finally:
            ended.set()
            collector.join()
        return {**reply, "live_heap_mb": live / 2**20}

    def scan(self, path: str) -> Reply:
        """Read every column of every row."""
        return self._read(path, "true")

    def select(self, path: str, where: str) -> Reply:
        """Read every column of the rows that a condition keeps."""
        return self._read(path, where)

    def write(self, case: str, path: str, scale: float) -> Reply:
        """Write the table of a case; it appears at the path when it is complete."""
        from bench.cases import CASE_OF

        unfinished = Path(f"{path}.tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        CASE_OF[case].write(self._spark, unfinished, scale)
        unfinished.rename(path)
        return {}

    def _read(self, path: str, where: str) -> Reply:
        started = time.perf_counter()
        rows = self._spark.read.format("delta").load(path).where(where)
        rows.write.format("noop").mode("overwrite").save()
        return {"seconds": time.perf_counter() - started}

    def _collect_garbage(self) -> None:
        jvm: Any = self._spark._jvm
        jvm.java.lang.System.gc()

    def _heap_pools(self) -> list[Any]:
        jvm: Any = self._spark._jvm
        beans = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        return [pool for pool in beans if pool.getType().name() == "HEAP"]


class RustEngine:
    """delta-rs, writing with the codec that the table has."""

    def optimize(self, path: str) -> Reply:
        """Open the table and compact it, as the statement does."""
        from deltalake import DeltaTable, WriterProperties

        properties = WriterProperties(compression=codec_of(path))
        started = time.perf_counter()
        table = DeltaTable(path)
        table.optimize.compact(target_size=TARGET_BYTES, writer_properties=properties)
        return {"seconds": time.perf_counter() - started}


def codec_of(path: str) -> Any:
    """Name the codec of the table's first file."""
    import pyarrow.parquet as pq

    file = next(Path(path).rglob("*.parquet"))
    return pq.ParquetFile(file).metadata.row_group(0).column(0).compression


def start(engine: str, memory: str) -> Engine:
    """Start an engine by its name."""
    if engine == "delta-rs":
        return RustEngine()
    return SparkEngine(ours=engine == "upkeep", memory=memory)


def hold_to_cores() -> None:
    """Keep the process to as many processors as Spark has task slots, so all have the same."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def serve(engine: Engine, answer: Callable[[Reply], None]) -> None:
    """Carry out commands until stdin ends."""
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer(getattr(engine, command.pop("do"))(**command))
        except Exception as e:
            answer({"error": f"{type(e).__name__}: {e}"})


def main() -> None:
    """Start the engine, say that it is ready, and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=("upkeep", "delta", "delta-rs"))
    parser.add_argument("--memory", default=DRIVER_MEMORY)
    arguments = parser.parse_args()
    # The JVM and libraries may print: only answers go to the stdout that the caller reads.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    hold_to_cores()
    LOGS.mkdir(parents=True, exist_ok=True)
    engine = start(arguments.engine, arguments.memory)
    answers.write('{"ready": true}\n')
    serve(engine, lambda reply: print(json.dumps(reply), file=answers))


if __name__ == "__main__":
    main()

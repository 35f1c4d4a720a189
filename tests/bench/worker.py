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
from dataclasses import asdict
from pathlib import Path
from threading import Event, Thread
from typing import Any

from pyspark.sql import Row, SparkSession

from bench.checkpoint_log import newest_version
from bench.engines import CHECKPOINTERS, DUCKDB, UPKEEP
from bench.meter import JvmMeter, Meter
from bench.paths import (
    CORES,
    DRIVER_MEMORY,
    EXECUTOR_MEMORY,
    EXECUTORS,
    LOGS,
    TARGET_BYTES,
    TEST_CLASSES,
)
from delta_upkeep import configure_spark_with_delta_upkeep
from support.cluster import jars_of

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
LATEST_SECONDS = 60
"""After its commit a checkpoint must be there."""
COLLECTION_SECONDS = 0.1
"""Between two collections of garbage, where what is live is measured."""
Reply = dict[str, Any]


def session(memory: str, ours: bool = False, cluster: str = "") -> SparkSession:
    """Start a session with Delta's extension, and with ours if it is asked for.

    Args:
        memory: Of the driver.
        ours: Whether our statements run in it.
        cluster: The address of a cluster, and the class path of its executors after a space. If it
            is empty, all tasks run in the driver.
    """
    builder = (
        SparkSession.builder.appName("Delta Upkeep bench")
        .master(f"local[{CORES}]")
        .config("spark.driver.memory", memory)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(CORES))
        .config("spark.databricks.delta.snapshotPartitions", str(CORES))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraClassPath", str(TEST_CLASSES))
        .config("spark.hadoop.fs.latency.impl", "io.deltaupkeep.store.LatencyFileSystem")
        .config("spark.hadoop.fs.latency.impl.disable.cache", "true")
        .config("spark.delta.logStore.latency.impl", "io.delta.storage.LocalLogStore")
    )
    if cluster:
        master, class_path = cluster.split()
        builder.master(master).config("spark.driver.host", "127.0.0.1")
        builder.config("spark.executor.memory", EXECUTOR_MEMORY)
        builder.config("spark.executor.cores", "1").config("spark.cores.max", str(EXECUTORS))
        builder.config("spark.executor.extraClassPath", class_path)
    builder = configure_spark_with_delta_upkeep(builder)
    if not ours:
        # The sessions differ in this and nothing else.
        builder.config("spark.sql.extensions", DELTA_EXTENSION)
    return builder.getOrCreate()


class SparkEngine:
    """A Spark session, with Delta Upkeep's extension or with Delta's alone."""

    def __init__(self, ours: bool, memory: str, cluster: str = "") -> None:
        self._ours = ours
        self._spark = session(memory, ours, cluster)
        self._jvm: Any = self._spark._jvm
        self._meter = JvmMeter(self._spark)
        self._checkpointed = ""

    def jars(self) -> Reply:
        """List what executors need."""
        return {"jars": jars_of(self._spark)}

    def optimize(self, path: str) -> Reply:
        """Run the statement, and check that it was the engine's own."""

        def run() -> tuple[list[str], Row]:
            result = self._spark.sql(f"OPTIMIZE delta.`{path}`")
            return result.columns, result.collect()[0]

        (columns, row), cost = self._meter.measure(run)
        if ("bins" in columns) != self._ours:
            raise RuntimeError(f"OPTIMIZE was another engine's: it returned {columns}.")
        return {
            **asdict(cost),
            "tiers": sorted({bin.tier for bin in row.bins}) if self._ours else [],
        }

    def optimize_collecting(self, path: str) -> Reply:
        """Run the statement with one full collection of garbage after another beside it."""
        return self._collecting(lambda: self.optimize(path))

    def cleanup_collecting(self, path: str) -> Reply:
        """Do the same for a cleanup of a log that is near."""
        return self._collecting(lambda: self.cleanup(path, bulk=1, call_ms=0))

    def open_collecting(self, path: str) -> Reply:
        """Do the same for opening a table."""

        def opened() -> Reply:
            self._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            log = self._jvm.org.apache.spark.sql.delta.DeltaLog
            log.forTable(self._spark._jsparkSession, f"latency://{path}").update(
                False, self._jvm.scala.Option.empty(), self._jvm.scala.Option.empty()
            )
            return {}

        self._spark.conf.set("fs.latency.ms", "0")
        return self._collecting(opened)

    def _collecting(self, run: Callable[[], Reply]) -> Reply:
        live = 0.0

        def collect(ended: Event) -> None:
            nonlocal live
            while not ended.wait(COLLECTION_SECONDS):
                self._meter.collect_garbage()
                live = max(live, self._meter.live_mb())

        ended = Event()
        collector = Thread(target=collect, args=(ended,))
        collector.start()
        try:
            reply = run()
        finally:
            ended.set()
            collector.join()
        return {**reply, "live_heap_mb": live}

    def checkpoint(self, path: str) -> Reply:
        """Make a checkpoint, with nothing cached of other tables."""
        if path != self._checkpointed:
            self._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            self._checkpointed = path
        make = self._checkpoint if self._ours else self._checkpoint_by_delta
        mode, cost = self._meter.measure(lambda: make(path))
        return {**asdict(cost), "mode": mode}

    def _checkpoint(self, path: str) -> str:
        row = self._spark.sql(f"CHECKPOINT delta.`{path}`").collect()[0]
        if row.status != "written":
            raise RuntimeError(f"CHECKPOINT wrote nothing: {row.status}, {row.reason}.")
        mode: str = row.mode
        return mode

    def _checkpoint_by_delta(self, path: str) -> None:
        none = self._jvm.scala.Option.empty()
        logs = self._jvm.org.apache.spark.sql.delta.DeltaLog
        log = logs.forTable(self._spark._jsparkSession, path)
        log.checkpoint(log.update(False, none, none), none)

    def cleanup(self, path: str, bulk: int, call_ms: int) -> Reply:
        """Clean a log on a store where each call takes so long, with nothing cached of it."""
        self._spark.conf.set("fs.latency.bulk.page", str(bulk))
        self._spark.conf.set("fs.latency.ms", str(call_ms))
        self._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        requests = self._jvm.io.deltaupkeep.store.LatencyFileSystem
        requests.reset()
        clean = self._cleanup if self._ours else self._cleanup_by_delta
        _, cost = self._meter.measure(lambda: clean(f"latency://{path}"))
        return {**asdict(cost), "requests": requests.summary()}

    def _cleanup(self, path: str) -> None:
        self._spark.sql(f"CLEANUP LOG delta.`{path}`").collect()

    def _cleanup_by_delta(self, path: str) -> None:
        none = self._jvm.scala.Option.empty()
        logs = self._jvm.org.apache.spark.sql.delta.DeltaLog
        log = logs.forTable(self._spark._jsparkSession, path)
        log.doLogCleanup(log.update(False, none, none), none)

    def statement(self, path: str, statement: str, conf: dict[str, str] | None = None) -> Reply:
        """Run a statement, with `{t}` for the name of the table."""
        for key, value in (conf or {}).items():
            self._spark.conf.set(key, value)
        try:
            sql = statement.format(t=f"delta.`{path}`")
            return asdict(self._meter.measure(lambda: self._spark.sql(sql).collect())[1])
        finally:
            for key in conf or ():
                self._spark.conf.unset(key)

    def collect_files(self, path: str) -> Reply:
        """Collect the actions of all files, as OPTIMIZE of Delta does first."""
        none = self._jvm.scala.Option.empty()
        logs = self._jvm.org.apache.spark.sql.delta.DeltaLog

        def run() -> None:
            snapshot = logs.forTable(self._spark._jsparkSession, path).update(False, none, none)
            snapshot.allFiles().collect()

        return asdict(self._meter.measure(run)[1])

    def append_sample(self, path: str, source: str, share: float, seed: int) -> Reply:
        """Append some rows of another table, in four files."""
        rows = self._spark.read.format("delta").load(source).sample(share, seed=seed)
        rows.repartition(4).write.format("delta").mode("append").save(path)
        return {}

    def prepare_appends(self, path: str, interval: int) -> Reply:
        """Make a checkpoint due every so many commits."""
        self._spark.sql(
            f"ALTER TABLE delta.`{path}` "
            f"SET TBLPROPERTIES ('delta.checkpointInterval' = '{interval}')"
        )
        return {}

    def append(self, path: str, commits: int, interval: int) -> Reply:
        """Commit a row so many times, then wait until all checkpoints are there that fell due."""
        row = self._spark.range(1).selectExpr("id").coalesce(1)
        seconds = []
        first = newest_version(Path(path)) + 1
        for _ in range(commits):
            started = time.perf_counter()
            row.write.format("delta").mode("append").save(path)
            seconds.append(time.perf_counter() - started)
        ended = time.perf_counter()
        log = Path(path) / "_delta_log"
        for version in range(first, first + commits):
            if version % interval == 0:
                while not list(log.glob(f"{version:020}.checkpoint*parquet")):
                    if time.perf_counter() - ended > LATEST_SECONDS:
                        raise RuntimeError(f"There is no checkpoint of version {version}.")
                    time.sleep(0.02)
        return {"seconds": seconds, "late_seconds": time.perf_counter() - ended}

    def scan(self, path: str) -> Reply:
        """Read every column of every row."""
        return self._read(path, "true")

    def select(self, path: str, where: str) -> Reply:
        """Read every column of the rows that a condition keeps."""
        return self._read(path, where)

    def write(self, case: str, path: str, scale: float) -> Reply:
        """Write the table of a case; it appears at the path when it is complete."""
        from bench.cases import CASE_OF

        unfinished = unfinished_at(path)
        CASE_OF[case].write(self._spark, unfinished, scale)
        unfinished.rename(path)
        return {}

    def _read(self, path: str, where: str) -> Reply:
        started = time.perf_counter()
        rows = self._spark.read.format("delta").load(path).where(where)
        rows.write.format("noop").mode("overwrite").save()
        return {"seconds": time.perf_counter() - started}

    def write_log(self, path: str, files: int, policy: str) -> Reply:
        """Write the log of a table to checkpoint; it appears at the path when it is complete."""
        from bench.checkpoint_table import write_log

        unfinished = unfinished_at(path)
        write_log(self._spark, unfinished, files, policy)
        unfinished.rename(path)
        return {}


def unfinished_at(path: str) -> Path:
    """Make way for a table that is to be written."""
    unfinished = Path(f"{path}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    return unfinished


class KernelEngine:
    """Delta Kernel: of a Spark session it needs only the JVM that has its classes."""

    def __init__(self, memory: str) -> None:
        self._spark = session(memory)
        self._meter = JvmMeter(self._spark)
        jvm: Any = self._spark._jvm
        self._kernel = jvm.io.delta.kernel
        hadoop = self._spark._jsc.hadoopConfiguration()
        self._engine = self._kernel.defaults.engine.DefaultEngine.create(hadoop)

    def checkpoint(self, path: str) -> Reply:
        """Load the newest version and have it written."""

        def run() -> None:
            table = self._kernel.Table.forPath(self._engine, path)
            table.getLatestSnapshot(self._engine).writeCheckpoint(self._engine)

        return asdict(self._meter.measure(run)[1])


class RustEngine:
    """delta-rs, writing with the codec that the table has."""

    def optimize(self, path: str, codec: Any = None) -> Reply:
        """Open the table and compact it, as the statement does."""
        from deltalake import DeltaTable, WriterProperties

        properties = WriterProperties(compression=codec or codec_of(path))
        started = time.perf_counter()
        table = DeltaTable(path)
        table.optimize.compact(target_size=TARGET_BYTES, writer_properties=properties)
        return {"seconds": time.perf_counter() - started}

    def z_order(self, path: str, keys: list[str], target: int) -> Reply:
        """Open the table and put its rows in Z-order."""
        from deltalake import DeltaTable, WriterProperties

        properties = WriterProperties(compression=codec_of(path))
        started = time.perf_counter()
        table = DeltaTable(path)
        table.optimize.z_order(keys, target_size=target, writer_properties=properties)
        return {"seconds": time.perf_counter() - started}

    def vacuum(self, path: str, full: bool) -> Reply:
        """Open the table and delete what it does not need."""
        from deltalake import DeltaTable

        return asdict(Meter().measure(lambda: DeltaTable(path).vacuum(dry_run=False, full=full))[1])

    def repair(self, path: str) -> Reply:
        """Open the table and look for its files."""
        from deltalake import DeltaTable

        return asdict(Meter().measure(lambda: DeltaTable(path).repair(dry_run=True))[1])

    def checkpoint(self, path: str) -> Reply:
        """Open the table and have it written."""
        from deltalake import DeltaTable

        return asdict(Meter().measure(lambda: DeltaTable(path).create_checkpoint())[1])


class DuckEngine:
    """DuckDB, which knows nothing of commits: it reads the files of a new table."""

    def copy(self, path: str) -> Reply:
        """Decode all files and write one with zstd."""
        rows = f"FROM read_parquet('{path}/*.parquet')"
        return self._write(rows, path, "COMPRESSION zstd, COMPRESSION_LEVEL 3")

    def sort(self, path: str, keys: list[str]) -> Reply:
        """Sort the rows of all files and write one with their codec."""
        rows = f"FROM read_parquet('{path}/*.parquet') ORDER BY {', '.join(keys)}"
        return self._write(rows, path, f"COMPRESSION {codec_of(path)}")

    def select(self, files: list[str], where: str) -> Reply:
        """Read every column of the rows that a condition keeps."""
        import duckdb

        connection = duckdb.connect(config={"threads": CORES})
        rows = f"SELECT * FROM read_parquet({files}) WHERE {where}"
        return asdict(Meter().measure(lambda: connection.sql(rows).fetchall())[1])

    def _write(self, rows: str, path: str, options: str) -> Reply:
        import duckdb

        connection = duckdb.connect(config={"threads": CORES})
        copy = f"COPY ({rows}) TO '{path}/copy.parquet' (FORMAT parquet, {options})"
        return asdict(Meter().measure(lambda: connection.sql(copy))[1])


def codec_of(path: str) -> Any:
    """Name the codec of the table's first file."""
    import pyarrow.parquet as pq

    file = next(Path(path).rglob("*.parquet"))
    return pq.ParquetFile(file).metadata.row_group(0).column(0).compression


def start(engine: str, memory: str, cluster: str) -> object:
    """Start an engine by its name."""
    if engine == "delta-rs":
        return RustEngine()
    if engine == DUCKDB:
        return DuckEngine()
    if engine == "kernel":
        return KernelEngine(memory)
    return SparkEngine(engine == UPKEEP, memory, cluster)


def hold_to_cores() -> None:
    """Keep the process to as many processors as Spark has task slots, so all have the same."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def serve(engine: object, answer: Callable[[Reply], None]) -> None:
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
    parser.add_argument("engine", choices=(*CHECKPOINTERS, DUCKDB))
    parser.add_argument("--memory", default=DRIVER_MEMORY)
    parser.add_argument("--cluster", default="", help="its address, and a class path")
    arguments = parser.parse_args()
    # The JVM and libraries may print: only answers go to the stdout that the caller reads.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    hold_to_cores()
    LOGS.mkdir(parents=True, exist_ok=True)
    engine = start(arguments.engine, arguments.memory, arguments.cluster)
    answers.write('{"ready": true}\n')
    serve(engine, lambda reply: print(json.dumps(reply), file=answers))


if __name__ == "__main__":
    main()

"""Interrupts a statement at one request to the store after the other, and looks at the table."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet
from deltalake import DeltaTable as DeltaRs
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from faults import killed_process
from faults.scenarios import Scenario, newest
from foreign.delta_rs import ids_by_delta_rs
from foreign.kernel import ids_by_kernel
from support.processes import CLEAN, ROOT
from support.sessions import meanwhile, session_conf

FAULTS = (
    "crash",
    "crash after",
    "torn write",
    "error",
    "success told as failure",
    "failure told as success",
    "listed late",
)
HANG_SECONDS = 180
# Reads of a few rows are most of what a point costs: no tasks for nothing.
READS = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
}
LONG_AGO = time.time() - 60 * 24 * 3600


class Matrix:
    """A statement, its table as it is before, and what the table must hold whatever happens."""

    def __init__(self, spark: SparkSession, scenario: Scenario, root: Path) -> None:
        self._spark = spark
        self.scenario = scenario
        self._root = root
        self._faults = spark._jvm.io.deltaupkeep.store.FaultFileSystem
        self._template = root / "template"
        scenario.build(spark, url(self._template))
        self._newest = newest(self._template)
        versions = range(scenario.oldest, self._newest + 1)
        self._turn = cycle(versions)
        self._rows = {v: ids_by_kernel(spark, url(self._template), v) for v in versions}

    def requests(self) -> int:
        """Count the requests of a run in which nothing fails, and check what it leaves."""
        path = self.copy()
        self._faults.arm("crash", -1)
        self.run(path)
        count = int(self._faults.requests())
        self._faults.disarm()
        self._check_done(path)
        shutil.rmtree(path)
        return count

    def interrupt(self, fault: str, request: int) -> bool:
        """Have a request of a run fail, and assert that nothing is lost.

        Returns:
            Whether there was a request of that number; their order differs from run to run.
        """
        path = self.copy()
        before = visible(path)
        at = self.fail(path, fault, request)
        with told(f"{self.scenario.name}: {fault} at request {request}, {at}; {path}"):
            self._check_survives(path, before)
        return at != ""

    def fail(self, path: Path, fault: str, request: int) -> str:
        """Have a request of a run fail, and say which it was."""
        self._faults.arm(fault, request)
        try:
            self.run(path)
        except (PySparkException, Py4JJavaError):
            pass  # The statement may fail.
        finally:
            at = str(self._faults.failed())
            self._faults.disarm()
        return at

    def kill(self, request: int) -> bool:
        """Kill the process of a run at a request, and assert that nothing is lost."""
        path = self.copy()
        before = visible(path)
        arguments = [self.scenario.name, str(url(path)), str(request)]
        # Spark's copies of its packages, 100 MB, would outlive it.
        with TemporaryDirectory() as local:
            child = subprocess.run(
                [sys.executable, "-m", killed_process.__name__, *arguments],
                env={**CLEAN, "PYTHONPATH": str(ROOT / "tests"), "SPARK_LOCAL_DIRS": local},
                capture_output=True,
                text=True,
                timeout=HANG_SECONDS,
            )
        with told(
            f"{self.scenario.name}: killed at request {request}; {path}\n{child.stderr[-2000:]}"
        ):
            assert killed_process.STARTED in child.stdout
            self._check_survives(path, before)
        return killed_process.DONE not in child.stdout

    def _check_survives(self, path: Path, before: dict[str, tuple[int, int]]) -> None:
        if visible(path) != before and not self.scenario.damage:
            self.check(path)
        self.run(path)
        self._check_done(path)
        self._check_tidy(path)
        shutil.rmtree(path)

    def copy(self) -> Path:
        """Make a table as it is before the statement."""
        path = self._root / f"at-{time.monotonic_ns()}"
        # With times: what is expired goes by them.
        shutil.copytree(self._template, path)
        if self.scenario.damage:
            self.scenario.damage(path)
        return path

    def run(self, path: Path) -> None:
        """Run the statement as a process would that has just started."""
        self._spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        try:
            with session_conf(self._spark, self.scenario.settings):
                self._sql(self.scenario.statement, path, self.scenario.meanwhile)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _sql(self, statement: str, path: Path, change: str = "") -> None:
        name = f"delta.`{url(path)}`"
        if change:
            meanwhile(self._spark, statement.format(t=name), change.format(t=name))
        else:
            self._spark.sql(statement.format(t=name)).collect()

    def _check_done(self, path: Path) -> None:
        assert self.scenario.done(path), "the statement has not done what it is for"
        self.check(path)

    def check(self, path: Path) -> None:
        """Read what is promised: all by a stranger, the newest version and one in turn by Delta."""
        self._spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        last = newest(path)
        rows = {v: self._rows[min(v, self._newest)] for v in range(self.scenario.oldest, last + 1)}
        assert {version: self._ids_by_stranger(path, version) for version in rows} == rows
        with session_conf(self._spark, READS):
            for version in {last, next(self._turn)}:
                assert self._ids_by_delta(path, version) == rows[version], f"version {version}"

    def _ids_by_stranger(self, path: Path, version: int) -> list[int]:
        if self.scenario.has_vectors:
            return ids_by_kernel(self._spark, url(path), version)
        return ids_by_delta_rs(path, version)

    def _ids_by_delta(self, path: Path, version: int) -> list[int]:
        reader = self._spark.read.format("delta").option("versionAsOf", version)
        return sorted(row.id for row in reader.load(str(url(path))).select("id").collect())

    def _check_tidy(self, path: Path) -> None:
        """Assert that what an interrupted run left goes with VACUUM, or CLEANUP LOG once old."""
        orphans = data_files(path) - data_files(self._template) - live_files(path)
        assert orphans <= vacuumed(path)
        if leftovers(path):
            self._sql("CHECKPOINT {t}", path)
            for file in (path / "_delta_log").rglob("*"):
                os.utime(file, (LONG_AGO, LONG_AGO))
            self._sql("CLEANUP LOG {t}", path)
            assert leftovers(path) == set()


def url(path: Path) -> Path:
    """Name a path on the file system whose requests fail."""
    return Path(f"fault:{path}")


@contextmanager
def told(note: str) -> Iterator[None]:
    """Say in an error where it happened."""
    try:
        yield
    except Exception as e:
        e.add_note(note)
        raise


def visible(path: Path) -> dict[str, tuple[int, int]]:
    """List what readers may look at: if it is the same, so is what they see."""
    found = {}
    for file in path.rglob("*"):
        in_log = file.is_relative_to(path / "_delta_log")
        if file.is_file() and not (in_log and file.name.startswith(".")):
            status = file.stat()
            found[str(file.relative_to(path))] = (status.st_size, status.st_mtime_ns)
    return found


def data_files(path: Path) -> set[str]:
    """List the files outside the log, by their names within the table."""
    files = (file for file in path.rglob("*") if file.is_file())
    return {
        str(file.relative_to(path))
        for file in files
        if not file.is_relative_to(path / "_delta_log")
    }


def live_files(path: Path) -> set[str]:
    """List the data files of the newest version, and their deletion vectors."""
    return {str(Path(uri).relative_to(path)) for uri in DeltaRs(str(path)).file_uris()}


def vacuumed(path: Path) -> set[str]:
    """List the files that a VACUUM deletes that keeps none of the past."""
    return set(DeltaRs(str(path)).vacuum(0, enforce_retention_duration=False, full=True))


def leftovers(path: Path) -> set[str]:
    """List files of the log that nobody needs: temporary, empty, and sidecars of no checkpoint."""
    log = path / "_delta_log"
    files = {file for file in log.iterdir() if file.is_file()}
    useless = {file.name for file in files if file.suffix == ".tmp" or not file.stat().st_size}
    sidecars = {file.name for file in log.glob("_sidecars/*")}
    return useless | (sidecars - sidecars_of(log))


def sidecars_of(log: Path) -> set[str]:
    """List the sidecars that the checkpoints of a log name."""
    names = set()
    for file in log.glob("[0-9]*.checkpoint.*"):
        if not file.stat().st_size:
            continue  # As readers do.
        if file.suffix == ".json":
            rows = [json.loads(line) for line in file.read_text().splitlines()]
        elif "sidecar" in pyarrow.parquet.read_schema(file).names:
            rows = pyarrow.parquet.read_table(file, columns=["sidecar"]).to_pylist()
        else:
            rows = []
        names |= {Path(row["sidecar"]["path"]).name for row in rows if row.get("sidecar")}
    return names

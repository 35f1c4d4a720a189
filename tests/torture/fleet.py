"""Whether a fleet can be left alone: `python -m torture.fleet`.

Many tables in a Hive metastore, and two passes over overlapping parts of them. Their driver is
killed halfway, and two passes of another driver resume them. No row is lost, each table is
compacted once, and the history has all of it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from delta_upkeep.fleet import run_fleet
from delta_upkeep.fleet.maintenance import SparkMaintainer
from support.processes import SHORT_LIVED, small_session

SCHEMAS = ("one", "two", "three")
FLEETS = (SCHEMAS[:2], SCHEMAS[1:])
APPENDS = 3
LEASE_SECONDS = 20


def main() -> int:
    """Run it, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--driver", type=int, metavar="KILL_AFTER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.driver is not None:
        drive(Path.cwd(), arguments.driver)
        return 0
    directory = Path(tempfile.mkdtemp(prefix="fleet-"))
    places = [directory / SCHEMAS[i % 3] / f"t{i:03}" for i in range(arguments.tables)]
    for place in places:
        for i in range(APPENDS):
            write_deltalake(place, pyarrow.table({"id": [i]}), mode="append")
    killed = driver(directory, kill_after=arguments.tables // 2)
    assert killed == -signal.SIGKILL, f"the first driver ended with {killed}"
    time.sleep(LEASE_SECONDS)
    assert driver(directory, kill_after=0) == 0
    check(directory, places)
    shutil.rmtree(directory)
    return 0


def driver(directory: Path, kill_after: int) -> int:
    """Run two passes in a process of their own, and return its exit code."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "torture.fleet", "--driver", str(kill_after)]
    with (directory / f"driver-{kill_after}.log").open("w") as log:
        code = subprocess.run(command, cwd=directory, stderr=log, check=False).returncode
    print(f"driver: exit code {code} after {time.monotonic() - begun:.0f} s", flush=True)
    return code


def drive(directory: Path, kill_after: int) -> None:
    """Run two passes that overlap, in this process; it is killed after so many tables."""
    spark = session()
    if not spark.catalog.databaseExists(SCHEMAS[0]):
        for schema in SCHEMAS:
            spark.sql(f"CREATE SCHEMA {schema}")
            for place in sorted((directory / schema).iterdir()):
                spark.sql(f"CREATE TABLE {schema}.{place.name} USING delta LOCATION '{place}'")
    if kill_after:
        kill_after_tables(kill_after)
    with ThreadPoolExecutor(len(FLEETS)) as pool:
        passes = [pool.submit(run_pass, spark, directory, schemas) for schemas in FLEETS]
        print("passes:", [running.result() for running in passes], flush=True)
    spark.stop()


def run_pass(spark: SparkSession, directory: Path, schemas: tuple[str, ...]) -> dict[str, int]:
    """Maintain the tables of some schemas, and count the results."""
    config: dict[str, Any] = {
        "tables": {"include": [f"{schema}.*" for schema in schemas]},
        "run": {"history": str(directory / "history"), "lease": LEASE_SECONDS},
    }
    result = run_fleet(spark, config, resume=True)
    earlier = sum(table.earlier for table in result.tables)
    own = Counter(table.status for table in result.tables if not table.earlier)
    return {"earlier": earlier, **own}


def kill_after_tables(count: int) -> None:
    """Kill this process when so many tables have been maintained."""
    maintain, lock, left = SparkMaintainer.maintain, threading.Lock(), count

    def counted(self: SparkMaintainer, chosen: Any, max_bytes: Any, dry_run: bool) -> Any:
        nonlocal left
        work = maintain(self, chosen, max_bytes, dry_run)
        if not dry_run:
            with lock:
                left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return work

    SparkMaintainer.maintain = counted  # type: ignore[method-assign]


def session() -> SparkSession:
    """Start a session with an embedded metastore in the working directory."""
    os.environ["SPARK_SUBMIT_OPTS"] = SHORT_LIVED
    builder = small_session("2g").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.catalogImplementation", "hive")
    spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def check(directory: Path, places: list[Path]) -> None:
    """Compare the tables and the history with what two passes should have done."""
    for place in places:
        table = DeltaTable(place)
        found = sorted(table.to_pyarrow_table()["id"].to_pylist())
        assert found == list(range(APPENDS)), f"{place}: {found}"
        operations = Counter(commit["operation"] for commit in table.history())
        assert operations["OPTIMIZE"] == 1, f"{place}: {operations}"
    rows = DeltaTable(directory / "history").to_pyarrow_table().to_pylist()
    names = {f"spark_catalog.{place.parent.name}.{place.name}" for place in places}
    complete = {row["table"] for row in rows if row["complete"]}
    assert names <= complete, f"not in the history: {sorted(names - complete)}"
    compacted = Counter(
        r["table"] for r in rows if r["status"] == "done" and r["step"] == "optimize"
    )
    twice = [name for name in names if compacted[name] > 1]
    assert not twice, f"compacted twice: {twice}"
    runs = {row["run_id"] for row in rows}
    assert len(runs) == 2 * len(FLEETS), f"passes in the history: {runs}"
    assert not list((directory / "history/_passes").glob("*.json")), "a claim was left"
    # The driver was killed before the last of them was recorded.
    recorded = sum(compacted[name] for name in names)
    print(f"{len(places)} tables, {recorded} compactions recorded, {len(rows)} rows in the history")


if __name__ == "__main__":
    sys.exit(main())

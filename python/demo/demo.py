"""Maintains a real table: TPC-H lineitem, written by many commits of small files, with deletes.

Shows health, OPTIMIZE, CHECKPOINT, CLEANUP LOG and health again, and a query before and after.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from delta_upkeep import HealthReport, UpkeepTable, configure_spark_with_delta_upkeep

DELETE_EVERY = 6
AGED_DAYS = 40
WORK = Path("build/demo")
TABLE = WORK.resolve() / "lineitem"

QUERY = f"""
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
       avg(l_discount) AS discount, count(*) AS orders
FROM delta.`{TABLE}`
WHERE l_shipdate <= DATE '1998-09-02'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus
"""


def main() -> None:
    """Run the demo and fail if a row was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale-factor", default="0.1", help="of TPC-H; 1 makes 6 million rows")
    parser.add_argument("--commits", type=int, default=30, help="that append its rows")
    arguments = parser.parse_args()

    shutil.rmtree(WORK, ignore_errors=True)
    parquet = generate(arguments.scale_factor)
    spark = session()
    try:
        write_table(spark, parquet, arguments.commits)
        age_log()
        maintain(spark)
    finally:
        spark.stop()


def generate(scale_factor: str) -> Path:
    """Make TPC-H's lineitem as one Parquet file."""
    title(f"TPC-H lineitem, scale factor {scale_factor}")
    tool = Path(sys.executable).with_name("tpchgen-cli")
    arguments = ["parquet", "-s", scale_factor, "--tables=lineitem", f"--output-dir={WORK}"]
    subprocess.run([tool, *arguments], check=True, stdout=subprocess.DEVNULL)
    return WORK / "lineitem.parquet"


def session() -> SparkSession:
    """Start Spark with both extensions; the conf directory keeps the log quiet."""
    os.environ.setdefault("SPARK_CONF_DIR", str(Path("conf").resolve()))
    builder = (
        SparkSession.builder.appName("Delta Upkeep demo")
        .master("local[*]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.databricks.delta.snapshotPartitions", "4")
    )
    return configure_spark_with_delta_upkeep(builder).getOrCreate()


def write_table(spark: SparkSession, parquet: Path, commits: int) -> None:
    """Write the table by many commits, as a stream of small batches would, with deletes between."""
    started = time.monotonic()
    spark.sql(
        f"CREATE TABLE delta.`{TABLE}` USING delta PARTITIONED BY (year) TBLPROPERTIES ("
        "'delta.enableDeletionVectors' = 'true', 'delta.enableExpiredLogCleanup' = 'false') "
        f"AS SELECT *, year(l_shipdate) AS year FROM parquet.`{parquet.resolve()}` WHERE false"
    )
    rows = spark.read.parquet(str(parquet)).withColumn("year", f.year("l_shipdate")).cache()
    for commit in range(commits):
        batch = rows.where(f.pmod(f.hash("l_orderkey"), f.lit(commits)) == commit)
        batch.repartition(4).write.format("delta").mode("append").save(str(TABLE))
        if commit % DELETE_EVERY == DELETE_EVERY - 1:
            spark.sql(
                f"DELETE FROM delta.`{TABLE}` "
                f"WHERE year = {1992 + commit // DELETE_EVERY} AND l_linenumber = 7"
            )
    rows.unpersist()
    detail = spark.sql(f"DESCRIBE DETAIL delta.`{TABLE}`").first()
    assert detail is not None
    seconds = time.monotonic() - started
    print(
        f"{detail.numFiles} files of {mib(detail.sizeInBytes)}, partitioned by year, by "
        f"{commits} appends and {commits // DELETE_EVERY} deletes in {seconds:.1f} s"
    )


def age_log() -> None:
    """Backdate the log, a minute for each version, except for its last three versions."""
    log = TABLE / "_delta_log"
    files = [file for file in log.iterdir() if file.name[:20].isdigit()]
    newest = max(int(file.name[:20]) for file in files)
    start = time.time() - AGED_DAYS * 24 * 3600
    for file in files:
        version = int(file.name[:20])
        if version <= newest - 3:
            os.utime(file, (start + 60 * version, start + 60 * version))
    print(
        f"The log up to version {newest - 3} is backdated by {AGED_DAYS} days: a part has expired."
    )


def maintain(spark: SparkSession) -> None:
    """Run every statement and compare the query before and after."""
    table = UpkeepTable.forPath(spark, str(TABLE))
    show_health(table.health())
    before, slow = timed_query(spark)

    title("OPTIMIZE, first as a dry run")
    plan = timed("table.optimize().dryRun()", lambda: table.optimize().dryRun())
    show_plan(plan.bins)
    done = timed(f"OPTIMIZE '{TABLE.name}'", lambda: spark.sql(f"OPTIMIZE '{TABLE}'"))
    removed, added = done.metrics.filesRemoved, done.metrics.filesAdded
    print(f"    removed {removed.totalFiles} files of {mib(removed.totalSize)}")
    print(f"    added   {added.totalFiles} files of {mib(added.totalSize)}")
    show_engine(done.metrics)

    title("CHECKPOINT")
    done = timed("table.checkpoint()", table.checkpoint)
    print(f"    version {done.version}, {done.policy}, {done.numAddFiles} files, {done.status}")

    title("CLEANUP LOG, first as a dry run")
    plan = timed(
        f"CLEANUP LOG '{TABLE.name}' DRY RUN",
        lambda: spark.sql(f"CLEANUP LOG '{TABLE}' DRY RUN").where("file IS NULL"),
    )
    print(f"    {plan.message}")
    for total in plan.reasons:
        size = mib(total.bytes)
        print(f"    {total.verdict:<7}{total.files:>4} files {size:>9}  {total.reason}")
    done = timed("table.cleanupLog()", table.cleanupLog)
    print(f"    deleted {done.filesDeleted} files of {mib(done.bytesDeleted)}; ", end="")
    print(f"versions from {done.oldestReadableVersion} on stay readable")

    show_health(table.health())
    after, fast = timed_query(spark)
    title("The same query, before and after")
    print(
        f"    median of 3: {slow:.2f} s before, {fast:.2f} s after: {slow / fast:.1f} times as fast"
    )
    if before != after:
        sys.exit("The results differ: rows were lost or made up.")
    print(f"    the result is unchanged: {len(after)} rows")


def show_plan(bins: list[Row]) -> None:
    """Print how many bins go which way, and why."""
    ways: Counter[tuple[str, str]] = Counter()
    files: Counter[tuple[str, str]] = Counter()
    for part in bins:
        ways[part.tier, part.reason] += 1
        files[part.tier, part.reason] += part.inputFiles
    for (tier, reason), count in ways.most_common():
        print(f"    {count} bins of {files[tier, reason]} files, {tier}: {reason}")


def show_engine(metrics: Row) -> None:
    """Print what each tier has rewritten, and which hidden rows are gone."""
    ways = [f"{mib(way.bytes)} by {way.tier}" for way in metrics.tiers if way.bytes]
    print(f"    rewrote {', '.join(ways)}")
    if vectors := metrics.deletionVectorStats:
        print(
            f"    dropped {vectors.numDeletionVectorsRemoved} deletion vectors, "
            f"and the {vectors.numDeletionVectorRowsRemoved:,} rows that they hid"
        )


def timed(statement: str, run: Callable[[], DataFrame]) -> Row:
    """Run a statement, print its seconds and return its one row."""
    started = time.monotonic()
    row = run().first()
    assert row is not None
    print(f"  {statement}  [{time.monotonic() - started:.2f} s]")
    return row


def timed_query(spark: SparkSession) -> tuple[list[Row], float]:
    """Run the query once to warm up, then three times: its rows and the median seconds."""
    rows = spark.sql(QUERY).collect()
    seconds = []
    for _ in range(3):
        started = time.monotonic()
        rows = spark.sql(QUERY).collect()
        seconds.append(time.monotonic() - started)
    return rows, statistics.median(seconds)


def show_health(report: HealthReport) -> None:
    """Print the checks and their remedies."""
    title("Health")
    for check in report.checks:
        remedy = f"  -> {check.remedy.split(' delta.')[0]}" if check.remedy else ""
        print(f"    {check.severity:<9}{check.check:<24}{check.message}{remedy}")


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}")


def mib(count: Any) -> str:
    """Write bytes as MiB."""
    return f"{count / 2**20:.1f} MiB"


if __name__ == "__main__":
    main()

"""The benchmarks of ZORDER BY and of clustering: each returns its result."""

from __future__ import annotations

from collections.abc import Callable

from bench.cases import CASE_OF
from bench.engines import DELTA, DELTA_RS, DUCKDB, UPKEEP, Worker
from bench.layout import linked_copy
from bench.measure import Bench
from bench.paths import DRIVER_MEMORY, WORK
from bench.results import SpaceResult
from bench.space_measure import Job, run

KEYS = ["l_shipdate", "l_partkey"]
COLUMNS = ", ".join(KEYS)
# So that a table of 200 MB gets more than one file.
FILE_BYTES = 16 << 20
CONF = {"spark.databricks.delta.optimize.maxFileSize": str(FILE_BYTES)}
SORT = Job("DuckDB, sorted into one file", DUCKDB, "sort", {"keys": KEYS})


def statement(engine: str, label: str, text: str) -> Job:
    """Have a Spark engine run a statement that makes files of 16 MiB."""
    return Job(label, engine, "statement", {"statement": text, "conf": CONF})


ZORDER = (
    statement(UPKEEP, "Delta Upkeep", f"OPTIMIZE {{t}} ZORDER BY ({COLUMNS})"),
    statement(DELTA, "Delta", f"OPTIMIZE {{t}} ZORDER BY ({COLUMNS})"),
    Job("delta-rs", DELTA_RS, "z_order", {"keys": KEYS, "target": FILE_BYTES}),
    SORT,
)
LIQUID = (
    statement(UPKEEP, "Delta Upkeep", "OPTIMIZE {t} FULL"),
    statement(DELTA, "Delta", "OPTIMIZE {t} FULL"),
)


def zorder(bench: Bench) -> SpaceResult:
    """Put all rows in Z-order."""
    runs = run(bench, ZORDER, bench.table(CASE_OF["small"]), linked_copy, warm=3)
    return SpaceResult(f"lineitem in files of 1 MB, ZORDER BY ({COLUMNS})", bench.setting, runs)


def liquid(bench: Bench) -> SpaceResult:
    """Cluster all rows of a table with CLUSTER BY."""
    table = linked_copy(bench.table(CASE_OF["small"]), WORK / "clustered")
    clause = f"ALTER TABLE {{t}} CLUSTER BY ({COLUMNS})"
    with Worker(DELTA, DRIVER_MEMORY) as worker:
        worker.call("statement", path=str(table), statement=clause)
    runs = run(bench, LIQUID, table, linked_copy, warm=3)
    return SpaceResult(f"lineitem in files of 1 MB, CLUSTER BY ({COLUMNS})", bench.setting, runs)


BENCHMARKS: dict[str, Callable[[Bench], SpaceResult]] = {"zorder": zorder, "liquid": liquid}

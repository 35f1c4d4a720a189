"""Statements of Delta Upkeep, each with a table that gives it all of its work to do."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow.parquet
from deltalake import DeltaTable as DeltaRs
from pyspark.sql import SparkSession

from support.logs import live
from support.templates import copy_template

DAY_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Scenario:
    """A statement to interrupt.

    Attributes:
        name: Of the scenario.
        statement: With `{t}` for the table.
        build: Makes its table at a path.
        oldest: The first version that is inside retention.
        done: Whether the table at a path is as the statement leaves it.
        settings: Of the session, while the statement runs.
        has_vectors: Whether its table has deletion vectors, which delta-rs does not read.
        meanwhile: What another writer does before the statement commits, if one does. It changes no
            ids.
        damage: What happens to the table before the statement, which repairs it. Until then nobody
            may be able to read it.
    """

    name: str
    statement: str
    build: Callable[[SparkSession, Path], None]
    done: Callable[[Path], bool]
    oldest: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    has_vectors: bool = False
    meanwhile: str = ""
    damage: Callable[[Path], None] | None = None


def small_files(*properties: tuple[str, str]) -> Callable[[SparkSession, Path], None]:
    """Make a table of ids 1 to 5, a commit and a small file for each, in two partitions."""

    def build(spark: SparkSession, path: Path) -> None:
        to = Path(str(path).removeprefix("fault:"))
        copy_template(spark, to, ("small files", properties), partial(from_scratch, spark))

    def from_scratch(spark: SparkSession, path: Path) -> None:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties)
        clause = f"TBLPROPERTIES ({pairs})" if pairs else ""
        name = f"delta.`{path}`"
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, p INT, text STRING) USING delta "
            f"PARTITIONED BY (p) {clause}"
        )
        for i in range(1, 6):
            spark.sql(f"INSERT INTO {name} VALUES ({i}, {i % 2}, 'text {i}')")

    return build


def then(
    build: Callable[[SparkSession, Path], None], *statements: str
) -> Callable[[SparkSession, Path], None]:
    """Run statements on the table, with `{t}` for its name."""

    def both(spark: SparkSession, path: Path) -> None:
        build(spark, path)
        for statement in statements:
            spark.sql(statement.format(t=f"delta.`{path}`"))

    return both


def checkpointed(
    build: Callable[[SparkSession, Path], None], options: str = ""
) -> Callable[[SparkSession, Path], None]:
    """Add a checkpoint, and commits that add and remove after it."""
    return then(
        build,
        f"CHECKPOINT {{t}} {options}",
        "INSERT INTO {t} VALUES (11, 1, 'later')",
        "DELETE FROM {t} WHERE id = 2",
    )


def expired(
    build: Callable[[SparkSession, Path], None], up_to: int
) -> Callable[[SparkSession, Path], None]:
    """Make files of the log of versions up to one 40 days old, and leave some that nobody needs."""

    def aged(spark: SparkSession, path: Path) -> None:
        build(spark, path)
        log = Path(str(path).removeprefix("fault:")) / "_delta_log"
        (log / f".{0:020}.json.0f9e.tmp").write_text("torn")
        start = time.time() - 40 * DAY_SECONDS
        for file in [*log.iterdir(), *log.glob("_sidecars/*")]:
            digits = file.name.split(".")[0]
            if not digits.isdigit() or int(digits) <= up_to:
                when = start + 60 * int(digits if digits.isdigit() else 0)
                os.utime(file, (when, when))

    return aged


def newest(path: Path) -> int:
    commits = (path / "_delta_log").glob("*.json")
    return max(int(file.stem) for file in commits if file.stem.isdigit())


def is_compact(path: Path) -> bool:
    files = [Path(uri) for uri in DeltaRs(str(path)).file_uris()]
    return len(files) == len({file.parent for file in files})


def is_carried_over(path: Path) -> bool:
    """Whether it is compact but for the file of the other writer."""
    files = [Path(uri) for uri in DeltaRs(str(path)).file_uris()]
    return len(files) <= len({file.parent for file in files}) + 1


def is_ordered(path: Path) -> bool:
    """Whether each partition has files in the order that was asked for."""
    adds = live(path / "_delta_log").values()
    ordered = {add["partitionValues"]["p"] for add in adds if add.get("tags")}
    return ordered == {add["partitionValues"]["p"] for add in adds}


def is_checkpointed(path: Path) -> bool:
    pointer = json.loads((path / "_delta_log/_last_checkpoint").read_text())
    names = {file.name for file in (path / "_delta_log").iterdir()}
    prefix = f"{newest(path):020}.checkpoint."
    return pointer["version"] == newest(path) and any(name.startswith(prefix) for name in names)


def is_vacuumed(path: Path) -> bool:
    found = {
        file for file in path.rglob("*.parquet") if not file.is_relative_to(path / "_delta_log")
    }
    return found == {Path(uri) for uri in DeltaRs(str(path)).file_uris()}


def has_statistics(path: Path) -> bool:
    adds = live(path / "_delta_log").values()
    return all("id" in json.loads(add["stats"])["minValues"] for add in adds)


def with_orphan(
    build: Callable[[SparkSession, Path], None],
) -> Callable[[SparkSession, Path], None]:
    """Add a file that a writer left without a commit."""

    def both(spark: SparkSession, path: Path) -> None:
        build(spark, path)
        to = Path(str(path).removeprefix("fault:"))
        shutil.copy(next(to.glob("p=1/*.parquet")), to / "p=1" / "orphan.parquet")

    return both


def cut_checkpoints(path: Path) -> None:
    for file in [*path.glob("_delta_log/*.checkpoint.parquet"), *path.glob("_delta_log/_last*")]:
        file.write_bytes(file.read_bytes()[:40])


def has_whole_checkpoints(path: Path) -> bool:
    log = path / "_delta_log"
    version = json.loads((log / "_last_checkpoint").read_text())["version"]
    adds = pyarrow.parquet.read_table(log / f"{version:020}.checkpoint.parquet")["add"]
    return adds.null_count < len(adds)


def is_cleaned(path: Path) -> bool:
    return not (path / "_delta_log" / f"{0:020}.json").exists()


ROWS = {"spark.deltaUpkeep.optimize.engine": "rows"}
DVS = ("delta.enableDeletionVectors", "true")
NO_DVS = ("delta.enableDeletionVectors", "false")
BY_V2 = ("delta.checkpointPolicy", "v2")
OFTEN = ("delta.checkpointInterval", "2")
NO_CLEANUP = ("delta.enableExpiredLogCleanup", "false")

OPTIMIZES = (
    Scenario("OPTIMIZE, spliced", "OPTIMIZE {t}", small_files(NO_DVS), is_compact),
    Scenario("OPTIMIZE, by rows", "OPTIMIZE {t}", small_files(NO_DVS), is_compact, settings=ROWS),
    Scenario(
        "OPTIMIZE, deleted rows",
        "OPTIMIZE {t}",
        then(
            small_files(DVS),
            "INSERT INTO {t} SELECT id, 0, 'more' FROM range(20, 30)",
            "DELETE FROM {t} WHERE id IN (21, 22, 3)",
        ),
        is_compact,
        has_vectors=True,
    ),
    Scenario(
        "OPTIMIZE, an update meanwhile",
        "OPTIMIZE {t}",
        then(
            small_files(DVS),
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 0, 'more' FROM range(20, 40)",
        ),
        is_carried_over,
        has_vectors=True,
        meanwhile="UPDATE {t} SET text = 'changed' WHERE id IN (21, 25)",
    ),
    Scenario("OPTIMIZE, Z-order", "OPTIMIZE {t} ZORDER BY (id)", small_files(NO_DVS), is_compact),
    Scenario(
        "OPTIMIZE, in order by one task, an update meanwhile",
        "OPTIMIZE {t} ORDER BY (id DESC)",
        then(
            small_files(DVS),
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 0, 'more' FROM range(20, 40)",
        ),
        is_ordered,
        has_vectors=True,
        meanwhile="UPDATE {t} SET text = 'changed' WHERE id IN (21, 25)",
    ),
    Scenario(
        "OPTIMIZE, in order by several tasks, an update meanwhile",
        "OPTIMIZE {t} ORDER BY (id DESC)",
        then(
            small_files(DVS),
            "INSERT INTO {t} SELECT /*+ REPARTITION(6) */ id, 0, sha2(string(id), 512) "
            "FROM range(20, 3000)",
        ),
        is_ordered,
        has_vectors=True,
        settings={"spark.deltaUpkeep.optimize.clusterBytes": "160k"},
        meanwhile="UPDATE {t} SET text = 'changed' WHERE id IN (21, 1500, 2999)",
    ),
    Scenario(
        "OPTIMIZE, several commits",
        "OPTIMIZE {t} OPTIONS (maxBytesPerCommit = 1)",
        small_files(NO_DVS),
        is_compact,
    ),
)
CHECKPOINTS = (
    Scenario("CHECKPOINT, classic", "CHECKPOINT {t}", small_files(NO_DVS), is_checkpointed),
    Scenario(
        "CHECKPOINT, classic on the last",
        "CHECKPOINT {t}",
        checkpointed(small_files(NO_DVS)),
        is_checkpointed,
    ),
    Scenario(
        "CHECKPOINT, several parts",
        "CHECKPOINT {t} OPTIONS (partSize = 2)",
        small_files(NO_DVS),
        is_checkpointed,
    ),
    Scenario("CHECKPOINT, v2", "CHECKPOINT {t}", small_files(NO_DVS, BY_V2), is_checkpointed),
    Scenario(
        "CHECKPOINT, v2 as Parquet",
        "CHECKPOINT {t} OPTIONS (format = 'parquet', partSize = 2)",
        small_files(NO_DVS, BY_V2),
        is_checkpointed,
    ),
    Scenario(
        "CHECKPOINT, v2 on the last",
        "CHECKPOINT {t} OPTIONS (partSize = 2)",
        checkpointed(small_files(NO_DVS, BY_V2), "OPTIONS (partSize = 2)"),
        is_checkpointed,
    ),
)
CLEANUPS = (
    Scenario(
        "CLEANUP LOG, classic",
        "CLEANUP LOG {t}",
        expired(
            then(
                checkpointed(small_files(NO_DVS, NO_CLEANUP)),
                "CHECKPOINT {t}",
                "INSERT INTO {t} VALUES (12, 0, 'last')",
            ),
            up_to=6,
        ),
        is_cleaned,
        oldest=6,
    ),
    Scenario(
        "CLEANUP LOG, v2",
        "CLEANUP LOG {t}",
        expired(
            then(
                checkpointed(small_files(NO_DVS, NO_CLEANUP, BY_V2)),
                "CHECKPOINT {t}",
                "INSERT INTO {t} VALUES (12, 0, 'last')",
            ),
            up_to=6,
        ),
        is_cleaned,
        oldest=6,
    ),
)
MAINTAINS = (
    Scenario(
        "MAINTAIN",
        "MAINTAIN {t} OPTIONS (minFileSize = '1m')",
        expired(checkpointed(small_files(NO_DVS, NO_CLEANUP, OFTEN)), up_to=6),
        lambda path: is_compact(path) and is_checkpointed(path),
        oldest=6,
    ),
)
VACUUMS = tuple(
    Scenario(
        f"VACUUM, by {'log' if mode == 'log' else 'listing'}",
        f"VACUUM {{t}} RETAIN 0 HOURS OPTIONS (mode = '{mode}')",
        build(then(small_files(NO_DVS), "OPTIMIZE {t}", "INSERT INTO {t} VALUES (12, 0, 'last')")),
        is_vacuumed,
        oldest=7,
        settings={"spark.databricks.delta.retentionDurationCheck.enabled": "false"},
    )
    for mode, build in {"log": lambda build: build, "full": with_orphan}.items()
)
ANALYZES = (
    Scenario(
        "ANALYZE",
        "ANALYZE TABLE {t} COMPUTE DELTA STATISTICS",
        then(
            small_files(NO_DVS, ("delta.dataSkippingNumIndexedCols", "0")),
            "ALTER TABLE {t} SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '32')",
        ),
        has_statistics,
    ),
)
FSCKS = (
    Scenario(
        "FSCK, a damaged log",
        "FSCK REPAIR TABLE {t} OPTIONS (deep = true)",
        checkpointed(small_files(NO_DVS)),
        has_whole_checkpoints,
        damage=cut_checkpoints,
    ),
)
ALL = (*OPTIMIZES, *CHECKPOINTS, *CLEANUPS, *MAINTAINS, *VACUUMS, *ANALYZES, *FSCKS)

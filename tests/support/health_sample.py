"""A health report with every check and every series, as of a table that nobody maintained."""

from __future__ import annotations

from datetime import date, timedelta

from delta_upkeep import HealthCheck, HealthDetail, HealthReport

MIB, GIB = 2**20, 2**30
BUCKETS = (
    "under 1 MiB",
    "1 to 4 MiB",
    "4 to 16 MiB",
    "16 to 64 MiB",
    "64 to 256 MiB",
    "256 MiB to 1 GiB",
    "1 GiB and more",
)


def series(name: str, *numbers: tuple[str, int, int]) -> tuple[HealthDetail, ...]:
    return tuple(HealthDetail(name, label, count, size) for label, count, size in numbers)


def histogram(name: str, *numbers: tuple[int, int]) -> tuple[HealthDetail, ...]:
    rows = zip(BUCKETS, numbers, strict=True)
    return series(name, *((label, count, mib * MIB) for label, (count, mib) in rows))


def days(count: int) -> list[str]:
    return [str(date(2026, 1, 1) + timedelta(days=i)) for i in range(count)]


PARTITIONS = series(
    "partition",
    *((f"day={day}", 3 + i * i % 97, (20 + i * 37 % 190) * MIB) for i, day in enumerate(days(120))),
)
OTHER_PARTITIONS = series("otherPartitions", ("80 other partitions", 1204, 3 * GIB))
LOG_DAYS = series(
    "day",
    *((day, 40 + i % 7, (i * 13 % 31 + 1) * 30_000) for i, day in enumerate(days(45)) if i % 9),
)
FILES = (
    histogram(
        "size", (7120, 3204), (840, 1900), (96, 810), (12, 402), (31, 4100), (9, 3100), (0, 0)
    )
    + histogram("sizeAfter", (0, 0), (2, 4), (1, 9), (0, 0), (31, 4100), (9, 3100), (5, 6262))
    + PARTITIONS
    + OTHER_PARTITIONS
)
GAIN = series("gain", ("files", 8060, 0), ("requests", 16120, 0), ("bytes", 0, 41 * MIB))
ROW_GROUPS = series(
    "rowGroup",
    ("under 1 MiB", 61, 30 * MIB),
    ("1 to 4 MiB", 22, 44 * MIB),
    ("4 to 16 MiB", 4, 40 * MIB),
)
CLUSTERED = series(
    "clustered",
    ("clustered", 2048, 3 * GIB),
    ("clustered by other columns", 0, 0),
    ("not clustered", 6060, 9 * GIB),
)
VALUES = series(
    "values of user",
    *((f"user-{i:04}", 5100 + i * i % 97, 9 * GIB) for i in range(0, 2400, 100)),
)
LOAD = series("load", ("checkpoint", 1, 2_400_000), ("commits since", 43, 690_000))
EXPIRED = series(
    "expired",
    ("commit", 1200, 18 * MIB),
    ("checkpoint", 12, 26 * MIB),
    ("checksum", 1198, 5 * MIB),
    ("sidecar", 8, 3 * MIB),
)
NAME = "delta.`/data/events`"


def sample() -> HealthReport:
    return HealthReport("file:/data/warehouse/events", CHECKS)


CHECKS = (
    HealthCheck(
        "files",
        "ok",
        8108.0,
        "files",
        "The table has 8108 data files of 13.2 GiB in all, 1.7 MiB on average.",
        "Each scan opens the files that its filter does not rule out.",
        None,
        FILES,
    ),
    HealthCheck(
        "smallFiles",
        "critical",
        8068.0,
        "files",
        "8068 files could become 8: each costs a scan a request and a footer.",
        "A file costs at least two requests to the store, however little is in it.",
        f"OPTIMIZE {NAME}",
        GAIN,
    ),
    HealthCheck(
        "clustering",
        "warning",
        64.0,
        "percent",
        "By the statistics of 8108 files, a query for one value of user opens up to 5189.1 files "
        "on average (64%), and a file overlaps 7901.0 others. 6060 files of 9.4 GiB are not "
        "clustered.",
        "A query for one value skips the files whose range of values does not hold it.",
        f"OPTIMIZE {NAME} ZORDER BY (user)",
        CLUSTERED + VALUES,
    ),
    HealthCheck(
        "rowGroups",
        "info",
        87.0,
        "row groups",
        "Most row groups of 24 files looked at are below 4 MiB.",
        "Statistics and dictionaries are kept for each row group.",
        f"OPTIMIZE {NAME}",
        ROW_GROUPS,
    ),
    HealthCheck(
        "compression",
        "ok",
        4.0,
        "percent",
        "Judging by a few pages of 8 files (snappy), the table would take 12.7 GiB with zstd.",
        "Smaller pages take less storage, and less time to fetch.",
        None,
        (),
    ),
    HealthCheck(
        "deletedRows",
        "warning",
        7.25,
        "percent",
        "120000 rows are hidden by deletion vectors: scans read them and drop them.",
        "Deleted rows are read, decoded and then thrown away by every scan.",
        f"OPTIMIZE {NAME}",
        (),
    ),
    HealthCheck(
        "statistics",
        "info",
        12.0,
        "files",
        "Statistics, or those of some columns, are missing for 12 files of 340.0 MiB.",
        "A scan skips files by their statistics.",
        f"ANALYZE TABLE {NAME} COMPUTE DELTA STATISTICS",
        (),
    ),
    HealthCheck(
        "orphans",
        "info",
        None,
        "files",
        "VACUUM has not run on this table yet.",
        "Files that no version names are paid for, and read by nobody.",
        f"VACUUM {NAME} OPTIONS (mode = 'full')",
        (),
    ),
    HealthCheck(
        "checkpoint",
        "ok",
        1160.0,
        "version",
        "The newest checkpoint is classic, of version 1160.",
        "A reader starts from a checkpoint, and replays the commits after it.",
        None,
        LOAD,
    ),
    HealthCheck(
        "checkpointAge",
        "ok",
        26.4,
        "hours",
        "The newest checkpoint is a day old.",
        "An old checkpoint keeps expired commits alive.",
        None,
        (),
    ),
    HealthCheck(
        "commitsSinceCheckpoint",
        "warning",
        43.0,
        "commits",
        "Readers replay 43 commits; delta.checkpointInterval is 10.",
        "Each commit is a request before a query can be planned.",
        f"CHECKPOINT {NAME}",
        (),
    ),
    HealthCheck(
        "checkpointAfterCommit",
        "ok",
        None,
        "version",
        "No commit of this application has made a checkpoint due.",
        "A checkpoint that fails repeatedly goes unnoticed.",
        None,
        (),
    ),
    HealthCheck(
        "log",
        "ok",
        float(sum(d.bytes for d in LOG_DAYS)),
        "bytes",
        "The log has 1700 files.",
        "A reader lists the log before anything else.",
        None,
        LOG_DAYS,
    ),
    HealthCheck(
        "expiredLog",
        "warning",
        2418.0,
        "files",
        "2418 files of 52.0 MiB have expired.",
        "Expired files make every listing longer.",
        f"CLEANUP LOG {NAME}",
        EXPIRED,
    ),
    HealthCheck(
        "oldestVersion",
        "ok",
        410.0,
        "version",
        "The log holds versions 410 to 1203, also after CLEANUP LOG. "
        "Time travel reaches back to version 980.",
        "Time travel and streams need the versions that they ask for.",
        None,
        (),
    ),
)


def empty() -> HealthReport:
    """A table of no files: the series are there, with nothing in them."""
    checks = (
        HealthCheck("files", "ok", 0.0, "files", "No data files.", "", None, NO_FILES),
        HealthCheck("smallFiles", "ok", 0.0, "files", "None.", "", None, ()),
        HealthCheck("log", "ok", 912.0, "bytes", "1 file.", "", None, LOG_DAYS[:1]),
    )
    return HealthReport("file:/data/warehouse/nothing", checks)


NO_FILES = histogram("size", *[(0, 0)] * 7) + histogram("sizeAfter", *[(0, 0)] * 7)

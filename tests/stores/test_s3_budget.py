"""What statements ask of S3, counted beside what Delta asks of it for the same table.

Delta's own figures are those of opening the table and of reading its files. Requests are those
of the stream by which Hadoop reads S3 unless it is told otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from stores import oracle
from stores.conftest import CopyFactory, Template
from stores.profiles import S3
from stores.s3 import Request
from stores.tables import StoredTable

FILES = 40
NOTHING_TO_DO = 4
COMMIT = 8


def many_files(t: StoredTable) -> None:
    t.sql("CREATE TABLE T (id BIGINT, p STRING, text STRING) USING delta")
    rows = t.spark.range(FILES).selectExpr("id", "'plain' p", "concat('text ', id) text")
    rows.repartition(FILES).write.format("delta").mode("append").save(t.uri)
    for i in range(4):
        t.insert(100 + 4 * i)


def with_checkpoint(t: StoredTable) -> None:
    many_files(t)
    t.sql("CHECKPOINT T")
    for i in range(3):
        t.insert(200 + 4 * i)


def with_v2_checkpoint(t: StoredTable) -> None:
    many_files(t)
    t.sql("ALTER TABLE T SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')")
    t.sql("CHECKPOINT T")
    for i in range(3):
        t.insert(200 + 4 * i)


def compacted(t: StoredTable) -> None:
    with_checkpoint(t)
    t.sql("OPTIMIZE T")


TABLES = (many_files, with_checkpoint, with_v2_checkpoint, compacted)


def is_of_log(request: Request) -> bool:
    return any(oracle.LOG in key + "/" for key in (request.key, *request.keys))


def of_log(requests: Sequence[Request]) -> list[Request]:
    return [request for request in requests if is_of_log(request)]


def seen(t: StoredTable, run: Callable[[], object]) -> list[Request]:
    """The requests of a session that knows nothing of the table."""
    t.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert isinstance(t.store, S3)
    with t.store.server.recording() as requests:
        run()
    return requests


def of_delta(t: StoredTable) -> list[Request]:
    jvm = t.spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    return of_log(
        seen(t, lambda: log.forTable(t.spark._jsparkSession, t.uri).snapshot().allFiles().count())
    )


def names(requests: Sequence[Request]) -> str:
    """For the message of a test that fails."""
    return "\n".join(f"{request.kind} {request.key.split('/', 1)[-1]}" for request in requests)


@pytest.mark.parametrize(
    "statement",
    [
        "EXPLAIN OPTIMIZE T",
        "OPTIMIZE T WHERE p = 'none'",
        "CHECKPOINT T DRY RUN",
        "CLEANUP LOG T",
        "ANALYZE TABLE T COMPUTE DELTA STATISTICS",
        "MAINTAIN T DRY RUN",
    ],
)
@pytest.mark.parametrize("build", TABLES, ids=lambda build: build.__name__)
def test_nothing_to_do(copy_of: CopyFactory, s3_store: S3, build: Template, statement: str):
    t = copy_of(build, s3_store).age()
    delta = of_delta(t)
    requests = seen(t, lambda: t.sql(statement))
    assert len(of_log(requests)) <= len(delta) + NOTHING_TO_DO, names(of_log(requests))


def commit_of_delta(copy_of: CopyFactory, store: S3, build: Template) -> list[Request]:
    t = copy_of(build, store).age()
    return of_log(seen(t, lambda: t.insert(1000)))


@pytest.mark.parametrize("build", TABLES[:3], ids=lambda build: build.__name__)
def test_a_compaction(copy_of: CopyFactory, s3_store: S3, build: Template):
    delta = commit_of_delta(copy_of, s3_store, build)
    t = copy_of(build, s3_store).age()
    inputs = t.data_names()
    requests = seen(t, lambda: t.sql("OPTIMIZE T"))
    log = of_log(requests)
    assert len(log) <= len(delta) + COMMIT, names(log)
    data = Counter(r.kind for r in requests if not is_of_log(r))
    print(data, len(inputs), len(log), len(delta))
    assert data["GetObject"] <= len(inputs) + 2


@pytest.mark.parametrize("policy", ["classic", "v2"])
@pytest.mark.parametrize("build", TABLES[:3], ids=lambda build: build.__name__)
def test_a_checkpoint(copy_of: CopyFactory, s3_store: S3, build: Template, policy: str):
    t = copy_of(build, s3_store).age()
    delta = of_delta(t)
    requests = of_log(seen(t, lambda: t.sql(f"CHECKPOINT T OPTIONS (policy = '{policy}')")))
    assert len(requests) <= len(delta) + COMMIT, names(requests)
    puts = [request.key for request in requests if request.kind == "PutObject"]
    assert len(puts) == (2 if policy == "classic" else 3), puts

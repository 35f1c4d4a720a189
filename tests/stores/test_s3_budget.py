"""What statements ask of S3, counted beside what Delta asks of it for the same table.

Delta's own figures are those of opening the table and of reading its files. Requests are those
of the stream by which Hadoop reads S3 unless it is told otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from stores import oracle
from stores.conftest import CopyFactory, Template
from stores.profiles import S3
from stores.servers import s3
from stores.servers.faulty import Request
from stores.tables import StoredTable, unchanged
from support.sessions import session_conf

FILES = 40
NOTHING_TO_DO = 4
COMMIT = 8
CHECKED = 4
READS = {"HeadObject", "ListObjects", "GetObject"}


def many_files(t: StoredTable) -> None:
    t.sql("CREATE TABLE T (id BIGINT, p STRING, text STRING) USING delta")
    rows = t.spark.range(FILES).selectExpr("id", "'plain' p", "concat('text ', id) text")
    rows.repartition(FILES).write.format("delta").mode("append").save(t.uri)
    for i in range(4):
        t.insert(100 + 4 * i)


def with_checkpoint(t: StoredTable, policy: str = "classic") -> None:
    many_files(t)
    if policy != "classic":
        t.sql(f"ALTER TABLE T SET TBLPROPERTIES ('delta.checkpointPolicy' = '{policy}')")
    t.sql("CHECKPOINT T")
    for i in range(3):
        t.insert(200 + 4 * i)


def with_v2_checkpoint(t: StoredTable) -> None:
    with_checkpoint(t, "v2")


def compacted(t: StoredTable) -> None:
    with_checkpoint(t)
    t.sql("OPTIMIZE T")


@pytest.fixture(scope="module")
def plain_store(spark: SparkSession, s3_client: Any, s3_server: tuple[s3.FaultyS3, str]) -> S3:
    """A bucket that Hadoop reads by its older stream, which asks for nothing before it reads."""
    spark.conf.set("fs.s3a.bucket.plain.input.stream.type", "classic")
    return S3(s3_client, s3_server[0], "plain")


TABLES = (many_files, with_checkpoint, with_v2_checkpoint, compacted)


def is_of_log(request: Request) -> bool:
    return any(oracle.LOG in key + "/" for key in (request.key, *request.keys))


def of_log(requests: Sequence[Request]) -> list[Request]:
    return [request for request in requests if is_of_log(request)]


def seen(t: StoredTable, run: Callable[[], object]) -> list[Request]:
    """The requests of a session that knows nothing of the table."""
    assert isinstance(t.store, S3)
    with t.forget().store.server.recording() as requests:
        run()
    return requests


def of_delta(t: StoredTable) -> list[Request]:
    jvm = t.spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    return of_log(
        seen(t, lambda: log.forTable(t.spark._jsparkSession, t.uri).snapshot().allFiles().count())
    )


def puts(requests: Sequence[Request]) -> list[str]:
    return [request.key.split(oracle.LOG)[1] for request in requests if request.kind == "PutObject"]


def checkpoint_of(t: StoredTable) -> str:
    return f"{oracle.newest_version(t.store, t.uri):020}.checkpoint.parquet"


def names(requests: Sequence[Request]) -> str:
    """For the message of a test that fails."""
    return "\n".join(f"{request.kind} {request.key.split('/', 1)[-1]}" for request in requests)


@pytest.mark.parametrize(
    "statement",
    [
        "EXPLAIN OPTIMIZE T",
        "OPTIMIZE T OPTIONS (minInputFiles = 100)",
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
    requests = of_log(seen(t, lambda: t.sql(statement)))
    # A step reads the top-level file of a v2 checkpoint again.
    more = build is with_v2_checkpoint and statement.startswith("MAINTAIN")
    assert len(requests) <= len(delta) + NOTHING_TO_DO + more, names(requests)
    assert not {request.kind for request in requests} - READS


@pytest.mark.parametrize("build", TABLES[:3], ids=lambda build: build.__name__)
def test_a_compaction(copy_of: CopyFactory, plain_store: S3, build: Template):
    t = copy_of(build, plain_store).age()
    delta = of_log(seen(t, lambda: t.sql("DELETE FROM T WHERE id = 1")))
    t = copy_of(build, plain_store).age()
    inputs = t.data_names()
    with session_conf(t.spark, {"spark.deltaUpkeep.optimize.verify": "false"}):
        requests = seen(t, lambda: t.sql("OPTIMIZE T"))
    log = of_log(requests)
    assert len(log) <= len(delta) + COMMIT, names(log)
    data = [r for r in requests if not is_of_log(r)]
    gets = Counter(r.key.split("/")[-1] for r in data if r.kind == "GetObject")
    (new,) = gets.keys() - inputs
    # The new file is compared with some of its inputs.
    assert inputs <= gets.keys() and sum(gets[name] > 1 for name in inputs) <= CHECKED
    others = [(r.kind, r.key.split("/")[-1]) for r in data if r.kind != "GetObject"]
    assert sorted(others) == [("HeadObject", new), ("PutObject", new)]


@pytest.mark.parametrize("build", [many_files, with_checkpoint], ids=lambda build: build.__name__)
def test_a_classic_checkpoint(copy_of: CopyFactory, s3_store: S3, build: Template):
    t = copy_of(build, s3_store).age()
    delta = of_delta(t)
    requests = of_log(seen(t, lambda: t.sql("CHECKPOINT T")))
    assert len(requests) <= len(delta) + COMMIT, names(requests)
    assert puts(requests) == [checkpoint_of(t), "_last_checkpoint"]


def test_a_v2_checkpoint(copy_of: CopyFactory, s3_store: S3):
    t = copy_of(with_v2_checkpoint, s3_store).age()
    delta = of_delta(t)
    requests = of_log(seen(t, lambda: t.sql("CHECKPOINT T")))
    # Delta writes the top-level file, and asks before and after.
    assert len(requests) <= len(delta) + COMMIT + 9, names(requests)
    assert len(puts(requests)) == 3


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_checkpoint_whose_name_is_taken_meanwhile(
    copy_of: CopyFactory, s3_store: S3, is_lost: bool
):
    """The answer of the store was lost, or another driver has put the same checkpoint."""
    t = copy_of(with_checkpoint, s3_store).age()
    twin = copy_of(with_checkpoint, s3_store)
    twin.sql("CHECKPOINT T")
    name = f"{oracle.LOG}{checkpoint_of(t)}"
    theirs = s3_store.read(twin.uri, name)

    def is_put(request: Request) -> bool:
        taken = request.kind == "PutObject" and request.key == s3_store.prefix(t.uri) + name
        if taken:
            s3_store.put(t.uri, {name: theirs})
        return taken and is_lost

    error = ("500 Internal Server Error", "InternalError")
    with unchanged(t), s3_store.server.refusing(is_put, *error, most=1):
        assert t.one("CHECKPOINT T").status == "written"
    assert s3_store.read(t.uri, name) == theirs

"""Bursts of faults: statements go on or fail, and neither rows nor uploads are left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest
from pyspark.errors import PySparkException

from delta_upkeep.errors import condition_of
from stores.conftest import CopyFactory
from stores.profiles import S3
from stores.proxied import Azure, Gcs
from stores.servers.faulty import Fault, Matches, Request
from stores.tables import FAILED, StoredTable, live_in, unchanged
from stores.test_store_optimize import with_large_rows

STATEMENTS = (
    "OPTIMIZE T",
    "CHECKPOINT T",
    "ANALYZE TABLE T COMPUTE DELTA STATISTICS",
    "FSCK REPAIR TABLE T OPTIONS (deep = true)",
    "VACUUM T RETAIN 0 HOURS OPTIONS (mode = 'full')",
    "CLEANUP LOG T",
    "DESCRIBE HEALTH T",
    "MAINTAIN T",
)
READS = ("ListObjects", "GetObject", "HeadObject")
KINDS = {
    "s3": (*READS, "PutObject", "DeleteObjects"),
    "azure": ("List", "Get", "Head", "Put", "PutBlock", "PutBlockList", "Copy", "Delete"),
    # Its emulator cannot go on with an upload.
    "gcs": ("List", "Get", "Head"),
}
# Nobody can end an upload whose number is lost.
UPLOADS = {
    "busy": ("CreateUpload", "UploadPart", "CompleteUpload"),
    "lost": ("UploadPart", "CompleteUpload"),
}


def old(copy_of: CopyFactory, store: S3 | Azure | Gcs) -> StoredTable:
    """A table that gives each statement something to do."""
    t = copy_of(live_in, store)
    t.put("orphan.parquet", "p=1/other.parquet")
    return t.age().age(days=40, most=5)


def of(t: StoredTable, *kinds: str) -> Matches:
    prefix = t.store.prefix(t.uri)

    def is_of_table(request: Request) -> bool:
        return request.kind in kinds and any(
            key.startswith(prefix) for key in request.keys or (request.key,)
        )

    return is_of_table


@contextmanager
def bursts(
    kinds: tuple[str, ...], fault: Callable[[str], AbstractContextManager[Fault]], hits: Counter
) -> Iterator[None]:
    """Let requests of each kind fail, and count them."""
    with ExitStack() as stack:
        faults = {kind: stack.enter_context(fault(kind)) for kind in kinds}
        yield
        hits.update({kind: fault.hits for kind, fault in faults.items()})


@pytest.mark.parametrize(("name", "kinds"), KINDS.items())
def test_a_busy_store_is_waited_for(
    request: pytest.FixtureRequest, copy_of: CopyFactory, name: str, kinds: tuple[str, ...]
):
    store: S3 | Azure | Gcs = request.getfixturevalue(f"{name}_store")
    t = old(copy_of, store)
    hits: Counter[str] = Counter()
    with unchanged(t):
        for statement in STATEMENTS:
            with bursts(kinds, lambda kind: store.server.slowing_down(kind, most=2), hits):
                t.sql(statement)
    assert min(hits[kind] for kind in kinds) > 0, hits
    assert "orphan.parquet" not in t.names()
    assert store.leftovers(t.uri) == []


def test_an_answer_that_is_lost_is_asked_for_again(copy_of: CopyFactory, s3_store: S3):
    t = old(copy_of, s3_store)
    hits: Counter[str] = Counter()
    with unchanged(t):
        for statement in STATEMENTS:
            with bursts(
                KINDS["s3"], lambda kind: s3_store.server.losing(of(t, kind), most=1), hits
            ):
                t.sql(statement)
    assert min(hits[kind] for kind in KINDS["s3"]) > 0, hits
    assert s3_store.leftovers(t.uri) == []


@pytest.mark.parametrize(("fault", "kinds"), UPLOADS.items())
def test_an_upload_in_parts_outlasts_a_burst(
    copy_of: CopyFactory, s3_store: S3, fault: str, kinds: tuple[str, ...]
):
    t = copy_of(with_large_rows, s3_store)
    server = s3_store.server
    hits: Counter[str] = Counter()

    def let_fail(kind: str) -> AbstractContextManager[Fault]:
        if fault == "busy":
            return server.slowing_down(kind, most=3)
        return server.losing(of(t, kind), most=1)

    with unchanged(t), bursts(kinds, let_fail, hits):
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2
    assert min(hits[kind] for kind in kinds) > 0, hits
    assert s3_store.leftovers(t.uri) == []


@pytest.mark.parametrize("kind", [*READS, "PutObject"])
def test_an_answer_that_comes_late_is_not_waited_for(
    copy_of: CopyFactory, impatient_store: S3, kind: str
):
    t = copy_of(live_in, impatient_store)
    with unchanged(t):
        with impatient_store.server.late(of(t, kind)) as repeated:
            t.sql("OPTIMIZE T")
        assert repeated.hits > 0


def test_an_upload_that_dies_in_the_middle_is_aborted(copy_of: CopyFactory, s3_store: S3):
    t = copy_of(with_large_rows, s3_store)
    before = t.names()
    with unchanged(t):
        with (
            s3_store.server.breaking(of(t, "UploadPart")) as fault,
            pytest.raises(FAILED),
        ):
            t.sql("OPTIMIZE T")
        assert fault.hits > 1
        assert t.names() == before
        assert s3_store.leftovers(t.uri) == []
        assert t.one("OPTIMIZE T").metrics.numFilesRemoved == 2


def first_looks(t: StoredTable) -> Callable[[Request], bool]:
    """The first requests for each file that is new in a table."""
    made: set[str] = set()
    before = {t.store.prefix(t.uri) + name for name in t.names()}

    def is_new(request: Request) -> bool:
        if request.kind == "PutObject":
            made.add(request.key)
        elif request.kind in ("GetObject", "HeadObject") and request.key in made - before:
            made.remove(request.key)
            return True
        return False

    return is_new


# Those that read what they have just written.
@pytest.mark.parametrize("statement", ["OPTIMIZE T", "MAINTAIN T"])
def test_a_new_file_that_is_not_there_yet(copy_of: CopyFactory, s3_store: S3, statement: str):
    t = old(copy_of, s3_store)
    with unchanged(t):
        with (
            s3_store.server.refusing(first_looks(t), "404 Not Found", "NoSuchKey") as fault,
            pytest.raises(PySparkException) as refused,
        ):
            t.sql(statement)
        assert fault.hits > 0
        assert str(condition_of(refused.value)).startswith("DELTA_UPKEEP.")
        t.sql(statement)
    assert s3_store.leftovers(t.uri) == []


def test_a_checkpoint_does_not_ask_for_what_it_has_put(copy_of: CopyFactory, s3_store: S3):
    t = old(copy_of, s3_store)
    with unchanged(t):
        with s3_store.server.refusing(first_looks(t), "404 Not Found", "NoSuchKey") as fault:
            assert t.one("CHECKPOINT T").status == "written"
        assert fault.hits == 0

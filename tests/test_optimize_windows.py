"""OPTIMIZE of a table with more small files than the driver plans at once."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from conftest import Table, TableFactory
from delta_upkeep.errors import condition_of
from foreign.kernel import ids_by_strangers
from support.sessions import session_conf

FILES = {0: 9, 1: 4, 2: 3, 3: 1}
ALL = sum(FILES.values())


@pytest.fixture(params=["checkpoint", "commits", "deletion vectors"])
def wide(request: pytest.FixtureRequest, spark: SparkSession, table: TableFactory) -> Table:
    """Partitions with some small files each, of five ids."""
    has_vectors = str(request.param == "deletion vectors").lower()
    t = table(enableDeletionVectors=has_vectors)
    ids = iter(range(5 * ALL))
    for p, files in FILES.items():
        rows = [(next(ids), p, "x") for _ in range(5 * files)]
        frame = spark.createDataFrame(rows, "id BIGINT, p INT, text STRING").repartition(files)
        frame.write.format("delta").mode("append").save(str(t.path))
    if request.param == "deletion vectors":
        spark.sql(f"DELETE FROM {t.sql_name} WHERE id % 5 = 3")
    if request.param != "commits":
        spark.sql(f"CHECKPOINT {t.sql_name}")
    return t


@pytest.fixture
def few_at_once(spark: SparkSession) -> Iterator[None]:
    with session_conf(spark, {"spark.deltaUpkeep.optimize.plannedFiles": "5"}):
        yield


def files_in(t: Table) -> Counter[int]:
    """Count the files of each partition."""
    files = t.spark.read.format("delta").load(str(t.path)).inputFiles()
    return Counter(int(file.split("/p=")[1].split("/")[0]) for file in files)


def statuses(row: Row) -> Counter[str]:
    return Counter(bin.status for bin in row.bins)


@pytest.mark.usefixtures("few_at_once")
def test_all_windows_are_rewritten(spark: SparkSession, wide: Table):
    ids, version = wide.ids(), wide.version
    row = spark.sql(f"OPTIMIZE {wide.sql_name}").first()
    m = row.metrics
    # The largest partition is divided, and each of the others is planned as a whole.
    left = files_in(wide)
    assert {**left, 0: 1} == dict.fromkeys(FILES, 1) and left[0] <= 2
    assert statuses(row) == {"committed": m.numBins}
    assert m.numFilesRemoved == m.filesRemoved.totalFiles == sum(b.inputFiles for b in row.bins)
    assert m.numFilesAdded == m.filesAdded.totalFiles == m.numBins
    assert m.numFilesRemoved - m.numFilesAdded == ALL - left.total()
    assert m.totalConsideredFiles == ALL
    assert m.totalFilesSkipped == max(0, ALL - m.numFilesRemoved)
    assert m.partitionsOptimized == len({b.partition for b in row.bins})
    assert row.version == wide.version >= version + 3
    for reader, found in ids_by_strangers(spark, wide.path).items():
        assert found == ids, reader
    spark.sql(f"OPTIMIZE {wide.sql_name}")
    assert (wide.ids(), spark.sql(f"OPTIMIZE {wide.sql_name}").first().bins) == (ids, [])


@pytest.mark.usefixtures("few_at_once")
def test_a_dry_run_plans_the_first_window_and_counts_the_others(spark: SparkSession, wide: Table):
    before = wide.all_files()
    (explained,) = spark.sql(f"EXPLAIN OPTIMIZE {wide.sql_name}").first()
    assert "are planned after these are rewritten" in explained
    row = spark.sql(f"OPTIMIZE {wide.sql_name} DRY RUN").first()
    assert statuses(row) == {"planned": 1, "deferred": 1}
    (waiting,) = (bin for bin in row.bins if bin.status == "deferred")
    planned = row.metrics.numFilesRemoved
    assert 2 <= planned < FILES[0] and row.metrics.totalConsideredFiles == ALL
    # Of a divided partition each window has about as many files.
    assert waiting.inputFiles == ALL - 5 and "too many small files" in waiting.reason
    assert wide.all_files() == before


@pytest.mark.usefixtures("few_at_once")
def test_limits_hold_for_all_windows(spark: SparkSession, wide: Table):
    ids = wide.ids()
    for _ in range(ALL):
        row = spark.sql(f"OPTIMIZE {wide.sql_name} OPTIONS (maxFiles = 6)").first()
        assert row.metrics.numFilesRemoved <= 6
        if row.version is None:
            break
    else:
        pytest.fail("it never ends")
    assert {**files_in(wide), 0: 1} == dict.fromkeys(FILES, 1) and wide.ids() == ids


@pytest.mark.usefixtures("few_at_once")
def test_a_file_that_is_gone_keeps_no_other_window_from_being_rewritten(
    spark: SparkSession, wide: Table
):
    files = spark.read.format("delta").load(str(wide.path)).inputFiles()
    gone = next(file for file in files if "/p=0/" in file)
    Path(gone.split("file:")[1]).resolve().unlink()
    with pytest.raises(PySparkException) as refused:
        spark.sql(f"OPTIMIZE {wide.sql_name}")
    assert condition_of(refused.value) == "DELTA_UPKEEP.DATA_FILE_MISSING"
    assert {**files_in(wide), 0: 1} == dict.fromkeys(FILES, 1)


@pytest.mark.usefixtures("few_at_once")
def test_a_limit_that_the_first_window_cannot_use_is_left_to_the_others(
    spark: SparkSession, wide: Table
):
    large = spark.range(4000, 4300).selectExpr("id", "0 AS p", "uuid() AS text")
    for _ in range(6):
        large.coalesce(1).write.format("delta").mode("append").save(str(wide.path))
    few = "OPTIONS (maxBytes = '9k', minInputFiles = 2)"
    row = spark.sql(f"OPTIMIZE {wide.sql_name} WHERE p > 0 OR p = 0 {few}").first()
    assert 0 < row.metrics.filesRemoved.totalSize <= 9 * 1024


@pytest.mark.usefixtures("few_at_once")
def test_where_chooses_before_files_are_counted(spark: SparkSession, wide: Table):
    row = spark.sql(f"OPTIMIZE {wide.sql_name} WHERE p IN (1, 3)").first()
    assert files_in(wide) == {**FILES, 1: 1} and "deferred" not in statuses(row)


@pytest.mark.usefixtures("few_at_once")
def test_maintain_tells_of_files_that_wait(spark: SparkSession, wide: Table):
    steps = {row.step: row for row in spark.sql(f"MAINTAIN {wide.sql_name} DRY RUN").collect()}
    assert "files to rewrite; another" in steps["optimize"].reason

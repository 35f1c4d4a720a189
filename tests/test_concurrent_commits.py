"""OPTIMIZE beside writers and readers of the same table."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from support.streams import copy_new_rows


def delete(t: Table, i: int) -> None:
    """Delete a row; where another commit is in the way, again, as users do."""
    while True:
        try:
            t.spark.sql(f"DELETE FROM {t.sql_name} WHERE id = {i}")
            return
        except PySparkException as e:
            if "DELTA_CONCURRENT" not in str(e):
                raise


def test_writers_beside_it_lose_nothing(spark: SparkSession, table: TableFactory):
    t = table(*range(1, 9))

    def append() -> None:
        for i in range(9, 21):
            t.append(i)

    def remove() -> None:
        for i in range(1, 9, 2):
            delete(t, i)

    with ThreadPoolExecutor(max_workers=2) as writers:
        done = [writers.submit(append), writers.submit(remove)]
        runs = 0
        while runs == 0 or not all(future.done() for future in done):
            spark.sql(f"OPTIMIZE {t.sql_name} OPTIONS (maxBytesPerCommit = 1)")
            runs += 1
        for future in done:
            future.result()
    expected = sorted([2, 4, 6, 8, *range(9, 21)])
    assert t.ids() == expected
    assert spark.sql(f"OPTIMIZE {t.sql_name}").first().metrics.totalConsideredFiles >= 2
    assert t.ids() == expected


def test_streams_do_not_see_rewritten_rows(
    spark: SparkSession, table: TableFactory, tmp_path: Path
):
    source, target = table(1, 2, 3), table()

    def stream() -> None:
        copy_new_rows(spark, source.path, target.path, tmp_path / "progress")

    stream()
    assert spark.sql(f"OPTIMIZE {source.sql_name}").first().version is not None
    source.append(4)
    stream()
    assert target.ids() == [1, 2, 3, 4]

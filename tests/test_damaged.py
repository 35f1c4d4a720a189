"""Missing and damaged files: errors that name the file, the version and the way out."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import DamagedError, condition_of
from support.logs import edit_adds, edit_commit, forget_derived

METHODS = {
    "OPTIMIZE": lambda t: t.optimize().executeCompaction(),
    "CHECKPOINT": lambda t: t.checkpoint(),
    "CLEANUP LOG": lambda t: t.cleanupLog(),
    "DESCRIBE HEALTH": lambda t: t.health(),
    "MAINTAIN": lambda t: t.maintain(),
}


def error_of(t: Table, statement: str) -> AnalysisException:
    """The error of a method on the table as it is now; all files stay as they are."""
    t.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    before = files_of(t)
    with pytest.raises(AnalysisException) as caught:
        METHODS[statement](UpkeepTable.forPath(t.spark, str(t.path)))
    assert files_of(t) == before
    error = caught.value
    assert isinstance(error, DamagedError) and error.getSqlState() == "58030"
    assert "Py4J" not in str(error) and "An error occurred while calling" not in str(error)
    return error


def files_of(t: Table) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in t.path.rglob("*") if f.is_file()}


def drop(t: Table, version: int, kind: str) -> None:
    """Take the actions of a kind out of a commit."""

    def kept(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        others = [action for action in actions if kind not in action]
        assert len(others) < len(actions)
        return others

    edit_commit(t.log / f"{version:020}.json", kept)
    forget_derived(t.spark, t.log)


@pytest.mark.parametrize("damage", ["missing", "cut off", "footer", "page"])
@pytest.mark.parametrize("statement", ["OPTIMIZE", "MAINTAIN"])
def test_data_file(table: TableFactory, statement: str, damage: str):
    t = table(1, 2, 3, 4)
    file = min(t.path.rglob("part-*.parquet"))
    content = file.read_bytes()
    # Hadoop's own checksum would find it out before anyone else.
    file.with_name(f".{file.name}.crc").unlink()
    if damage == "missing":
        file.unlink()
    elif damage == "cut off":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "footer":
        start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        file.write_bytes(content[:start] + bytes(36) + content[start + 36 :])
    else:
        file.write_bytes(content[:4] + bytes(40) + content[44:])
    error = error_of(t, statement)
    condition = "DATA_FILE_MISSING" if damage == "missing" else "DATA_FILE_DAMAGED"
    assert condition_of(error) == f"DELTA_UPKEEP.{condition}"
    assert file.name in str(error)
    assert f"ersion {t.version} of" in str(error)
    assert "RESTORE TABLE" in str(error)


@pytest.mark.parametrize("statement", METHODS)
def test_commit(table: TableFactory, statement: str):
    t = table(1, 2, 3)
    (t.log / f"{1:020}.json").unlink()
    error = error_of(t, statement)
    assert condition_of(error) == "DELTA_UPKEEP.LOG_DAMAGED"
    assert "Restore the file" in str(error)


@pytest.mark.parametrize("statement", METHODS)
def test_log_without_metadata(table: TableFactory, statement: str):
    t = table(1)
    drop(t, 0, "metaData")
    error = error_of(t, statement)
    assert condition_of(error) == "DELTA_UPKEEP.LOG_DAMAGED"


def test_a_path_that_the_log_names_twice(spark: SparkSession, tmp_path: Path):
    """Delta reads its rows twice, and commits nothing about both entries together."""
    t = Table(spark, tmp_path / "t").create({"delta.enableDeletionVectors": "true"})
    spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 0, 't' FROM range(0, 10, 1, 1)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 9")
    (file,) = t.path.rglob("part-*.parquet")
    drop(t, t.version, "remove")
    for i in (20, 22):
        t.append(i)
    ids = sorted([*range(10), *range(9), 20, 22])
    assert t.ids() == ids
    found = spark.sql(f"OPTIMIZE {t.sql_name}").first()
    assert [b.inputFiles for b in found.bins if b.status == "committed"] == [2]
    left = [b for b in found.bins if b.status == "left"]
    assert len(left) == 2 and all("names the file twice" in b.reason for b in left)
    assert t.ids() == ids
    edit_adds(spark, t.log, lambda add: add.pop("stats"))
    assert (
        spark.sql(f"ANALYZE TABLE {t.sql_name} COMPUTE DELTA STATISTICS").first().filesUpdated == 3
    )
    assert t.ids() == ids
    file.unlink()
    *_, totals = spark.sql(f"FSCK REPAIR TABLE {t.sql_name}").collect()
    assert totals.rowsGone == 19
    assert t.ids() == [20, 22]

"""Results as dataclasses beside the DataFrame, tables of Delta as ours, and errors by family."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, StructType

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable, errors, results
from delta_upkeep.errors import condition_of
from support.sessions import session_conf


def opened(t: Table) -> UpkeepTable:
    return UpkeepTable.forPath(t.spark, str(t.path))


def names(made: Any) -> set[str]:
    return {field.name for field in fields(made)}


def structs(schema: StructType) -> dict[str, StructType]:
    """The columns that are structs, or arrays of structs."""
    types = {
        field.name: field.dataType.elementType
        if isinstance(field.dataType, ArrayType)
        else field.dataType
        for field in schema
    }
    return {name: type for name, type in types.items() if isinstance(type, StructType)}


STRUCTS: dict[str, Any] = {
    "metrics": results.OptimizeMetrics,
    "bins": results.Bin,
    "reasons": results.FilesByReason,
    "optimize": results.OptimizeResult,
    "checkpoint": results.CheckpointResult,
    "filesAdded": results.FileSizes,
    "filesRemoved": results.FileSizes,
    "zOrderStats": results.ZOrderStats,
    "inputCubeFiles": results.ZOrderFiles,
    "clusteringStats": results.ClusteringStats,
    "inputZCubeFiles": results.ClusteringFiles,
    "autoCompactParallelismStats": results.Parallelism,
    "deletionVectorStats": results.DeletionVectorStats,
    "tiers": results.TierMetrics,
    "clustering": results.KeyForecast,
}


def check(made: Any, schema: StructType) -> None:
    """Hold the fields of a dataclass, and of those in it, against columns."""
    assert names(made) == set(schema.names), made
    for name, struct in structs(schema).items():
        if name == "cleanup":
            check_totals(results.CleanupResult, results.LogFile, struct)
        elif name == "vacuum":
            check_totals(results.VacuumResult, results.UnneededFile, struct)
        elif name not in ("inputOtherFiles", "mergedFiles"):
            check(STRUCTS[name], struct)


def check_totals(made: Any, of_file: Any, schema: StructType) -> None:
    """Hold the fields of totals, and those of a file in a dry run, against columns of both."""
    assert names(made) - {"files"} | names(of_file) == set(schema.names)


def test_the_fields_are_the_columns(spark: SparkSession, table: TableFactory):
    t = opened(table(1, 2))
    check(results.OptimizeResult, t.optimize().dryRun().schema)
    check(results.CheckpointResult, t.checkpoint(dryRun=True).schema)
    check_totals(results.CleanupResult, results.LogFile, t.cleanupLog(dryRun=True).schema)
    check_totals(results.VacuumResult, results.UnneededFile, t.vacuum(dryRun=True).schema)
    check(results.AnalyzeResult, t.analyze(dryRun=True).schema)
    checked = t.fsck(dryRun=True).schema
    assert names(results.FsckResult) | names(results.FsckFinding) == set(checked.names)
    check(results.MaintainStep, t.maintain(dryRun=True).schema)


def test_a_result_has_the_values_of_the_rows(table: TableFactory):
    t = table(1, 2, 3, 4)
    upkeep = opened(t)
    planned = upkeep.optimize().dryRun().toResult()
    assert (planned.dryRun, planned.version, planned.metrics.numFilesRemoved) == (True, None, 4)
    rows = upkeep.optimize().executeCompaction()
    result = rows.toResult()
    assert result == results.OptimizeResult.of(rows)
    assert (result.dryRun, result.version, result.verified) == (False, t.version, True)
    assert sorted((bin.partition, bin.inputFiles, bin.status) for bin in result.bins) == [
        ("p=0", 2, "committed"),
        ("p=1", 2, "committed"),
    ]
    assert result.metrics.filesRemoved.totalFiles == 4
    assert result.metrics.tiers[0].files == 4
    ordered = upkeep.optimize().executeZOrderBy("id").toResult()
    assert ordered.metrics.zOrderStats == results.ZOrderStats(
        strategyName="all",
        inputCubeFiles=results.ZOrderFiles(0, 0),
        inputOtherFiles=ordered.metrics.zOrderStats.mergedFiles,
        inputNumCubes=0,
        mergedFiles=results.ZOrderFiles(2, result.metrics.filesAdded.totalSize),
        numOutputCubes=2,
        mergedNumCubes=None,
    )
    checkpoint = upkeep.checkpoint().toResult()
    assert (checkpoint.status, checkpoint.version) == ("written", t.version)
    assert upkeep.checkpoint().toResult().sizeInBytes is not None


def test_a_dry_run_of_a_cleanup_lists_the_files(table: TableFactory):
    t = table(1, 2, 3)
    upkeep = opened(t)
    upkeep.checkpoint()
    t.age_log(days=40, up_to=t.version)
    planned = upkeep.cleanupLog(dryRun=True).toResult()
    assert {file.verdict for file in planned.files} == {"delete", "keep"}
    deleted = [file for file in planned.files if file.verdict == "delete"]
    assert (len(deleted), planned.dryRun) == (planned.filesDeleted, True)
    assert sum(file.sizeInBytes for file in deleted) == planned.bytesDeleted
    assert sum(reason.files for reason in planned.reasons) == len(planned.files)
    done = upkeep.cleanupLog().toResult()
    assert (done.filesDeleted, done.files, done.dryRun) == (planned.filesDeleted, (), False)


def test_a_dry_run_of_a_vacuum_lists_the_files(table: TableFactory):
    t = table(1, 2, 3)
    orphan = t.path / "orphan.parquet"
    orphan.write_text("nobody names me")
    os.utime(orphan, (0, 0))
    upkeep = opened(t)
    planned = upkeep.vacuum(dryRun=True, mode="full").toResult()
    (file,) = (file for file in planned.files if file.kind == "file")
    assert (file.path, file.verdict, file.sizeInBytes) == (f"file:{orphan}", "delete", 15)
    done = upkeep.vacuum(mode="full").toResult()
    assert (done.filesDeleted, done.bytesDeleted, done.mode) == (1, 15, "full")
    assert (done.files, done.dryRun, orphan.exists()) == ((), False, False)
    assert upkeep.toDF().count() == 3


def test_a_result_of_maintain_has_its_steps(table: TableFactory):
    result = opened(table(1, 2, 3)).maintain(dryRun=True).toResult()
    assert [step.step for step in result.steps] == ["optimize", "checkpoint", "vacuum", "cleanup"]
    optimize = result["optimize"].optimize
    assert optimize is not None and optimize.metrics.numFilesRemoved == 2
    assert result["checkpoint"].status == "not due"
    assert result["cleanup"].optimize is None
    with pytest.raises(KeyError, match="analyze"):
        result["analyze"]


def test_rows_with_a_result_are_a_data_frame(table: TableFactory):
    rows = opened(table(1, 2, 3)).maintain()
    assert isinstance(rows, DataFrame) and isinstance(rows, results.ResultRows)
    assert rows.where("step = 'optimize'").select("status").first().status == "done"
    assert rows.union(rows).count() == 8
    # The statement does not run again: it would find nothing due.
    assert rows.toResult()["optimize"].status == "done"


def test_a_result_is_frozen(table: TableFactory):
    result = opened(table(1)).optimize().dryRun().toResult()
    assert is_dataclass(result) and hash(result)
    with pytest.raises(AttributeError):
        result.dryRun = False


def test_where_delta_runs_the_statement_there_are_its_metrics(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    upkeep = opened(t)
    with session_conf(spark, {"spark.deltaUpkeep.enabled": "false"}):
        result = upkeep.optimize().executeCompaction().toResult()
        with pytest.raises(errors.SwitchedOffError, match="enabled is 'false'"):
            upkeep.maintain()
    assert (result.metrics.numFilesRemoved, result.bins, result.version) == (2, (), None)


def test_a_table_that_delta_has_opened(
    spark: SparkSession, table: TableFactory, catalog_table: str
):
    t = table(1, 2, 3)
    by_path = UpkeepTable.of(DeltaTable.forPath(spark, str(t.path)))
    assert by_path.maintain(dryRun=True).toResult()["optimize"].path.endswith(t.path.name)
    by_name = UpkeepTable.of(DeltaTable.forName(spark, catalog_table))
    assert by_name.optimize().where("p = 1").executeCompaction().toResult().version == 5
    assert by_name.history(1).first().version == 5
    named_path = UpkeepTable.of(DeltaTable.forName(spark, t.sql_name))
    assert named_path.checkpoint().toResult().version == t.version
    assert UpkeepTable.of(by_name) is by_name


def test_a_table_that_delta_has_opened_keeps_its_alias_and_settings(
    spark: SparkSession, table: TableFactory
):
    t = table(1, 2, 3)
    # Only these settings reach the table.
    settings = {"fs.own.impl": "io.deltaupkeep.store.ForklessFileSystem"}
    opened = DeltaTable.forPath(spark, str(t.path), settings).alias("t")
    upkeep = UpkeepTable.of(opened)
    upkeep.merge(spark.range(1).alias("s"), "t.id = s.id").whenMatchedDelete().execute()
    assert upkeep.checkpoint().toResult().status == "written"


def test_errors_are_of_a_family_and_of_pyspark(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    upkeep = opened(t)
    with pytest.raises(errors.InvalidRequestError) as caught:
        upkeep.analyze("id = 1")
    assert isinstance(caught.value, AnalysisException)
    assert caught.value.condition == "DELTA_UPKEEP.NON_PARTITION_COLUMN"
    assert condition_of(caught.value) == caught.value.condition
    assert caught.value.getSqlState() == "0A000"
    assert "Use partition columns only" in str(caught.value)
    with pytest.raises(errors.InvalidRequestError, match="EMPTY_NAME"):
        UpkeepTable.forPath(spark, " ")
    with pytest.raises(errors.InvalidRequestError, match="EMPTY_NAME"):
        UpkeepTable.forName(spark, "")
    with pytest.raises(errors.InvalidRequestError), errors.by_family():
        spark.sql(f"CLEANUP LOG {t.sql_name} RETAIN -1 HOURS")
    with pytest.raises(AnalysisException) as caught_alone:
        spark.sql(f"CLEANUP LOG {t.sql_name} RETAIN -1 HOURS")
    assert not isinstance(caught_alone.value, errors.UpkeepError)


def test_a_damaged_log_is_told_apart(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    (t.log / f"{1:020}.json").unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    with pytest.raises(errors.DamagedError) as caught:
        opened(t).maintain()
    assert caught.value.condition == "DELTA_UPKEEP.LOG_DAMAGED"
    assert isinstance(caught.value, AnalysisException)

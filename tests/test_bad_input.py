"""Bad input: an error that names problem, cause and fix, and a table as it was."""

import json
import uuid
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import condition_of as name_of
from support.processes import DELTA, LINE
from support.sessions import session_conf

STATEMENTS = ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "DESCRIBE HEALTH", "MAINTAIN"]
WRITERS = [s for s in STATEMENTS if s != "DESCRIBE HEALTH"]


def error_of(spark: SparkSession, text: str) -> AnalysisException:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(text)
    error = caught.value
    assert error.getSqlState(), "every error has a SQLSTATE"
    assert "Py4J" not in str(error)
    return error


def condition_of(spark: SparkSession, text: str) -> str:
    return (name_of(error_of(spark, text)) or "").removeprefix("DELTA_UPKEEP.")


def set_protocol(t: Table, **protocol: object) -> None:
    """Commit a protocol that Delta itself would not write."""
    path = t.log / f"{t.version + 1:020}.json"
    path.write_text(json.dumps({"protocol": protocol}) + "\n")
    t.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def features(*reader: str, writer: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(reader),
        "writerFeatures": [*reader, *writer],
    }


@pytest.mark.parametrize("statement", STATEMENTS)
def test_not_a_delta_table(spark: SparkSession, tmp_path: Path, statement: str):
    name = f"p{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT 1 AS id")
    parquet = tmp_path / "parquet"
    spark.range(1).write.parquet(str(parquet))
    before = sorted(parquet.rglob("*"))
    for target in (name, f"'{parquet}'", f"delta.`{parquet}`"):
        error = error_of(spark, f"{statement} {target}")
        assert name_of(error) == "DELTA_UPKEEP.NOT_A_DELTA_TABLE"
        assert "CONVERT TO DELTA" in str(error)
    assert sorted(parquet.rglob("*")) == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_missing_table(spark: SparkSession, tmp_path: Path, statement: str):
    assert condition_of(spark, f"{statement} nowhere") == "TABLE_OR_VIEW_NOT_FOUND"
    missing = tmp_path / "missing"
    assert condition_of(spark, f"{statement} '{missing}'") == "NOT_A_DELTA_TABLE"
    assert condition_of(spark, f"{statement} delta.`{missing}`") == "NOT_A_DELTA_TABLE"
    assert not missing.exists()


def test_empty_name(spark: SparkSession):
    for target in ("''", "' '", "delta.``", "delta.` `"):
        for statement in STATEMENTS:
            assert condition_of(spark, f"{statement} {target}") == "EMPTY_NAME"
    # In Spark 3.5, rules of Delta may come before ours.
    if LINE != "3.5":
        assert condition_of(spark, "REORG TABLE delta.`` APPLY (PURGE)") == "EMPTY_NAME"
    for path in ("", " "):
        with pytest.raises(AnalysisException, match="EMPTY_NAME"):
            UpkeepTable.forPath(spark, path)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_view(spark: SparkSession, catalog_table: str, statement: str):
    view = f"v{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE VIEW {view} AS SELECT * FROM {catalog_table}")
    spark.table(catalog_table).createOrReplaceTempView(f"{view}_temp")
    try:
        for name in (view, f"{view}_temp"):
            error = error_of(spark, f"{statement} {name}")
            assert name_of(error) == "DELTA_UPKEEP.VIEW_NOT_SUPPORTED"
            assert "Name the Delta table" in str(error)
    finally:
        spark.sql(f"DROP VIEW {view}")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_old_version(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1, 2)
    assert condition_of(spark, f"{statement} '{t.path}@v1'") == "TIME_TRAVEL_NOT_SUPPORTED"


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ("nope = 1", "MISSING_COLUMN"),
        ("p = ", "INVALID_PREDICATE"),
        ("p IN (SELECT 1)", "SUBQUERY_IN_PREDICATE"),
        ("other.p = 1", "MISSING_COLUMN"),
        ("p.x = 1", "INVALID_PREDICATE"),
        ("p = array(1)", "INVALID_PREDICATE"),
        ("p + 1", "INVALID_PREDICATE"),
        ("max(p) = 1", "INVALID_PREDICATE"),
        ("no_such_function(p)", "INVALID_PREDICATE"),
        ("exists(array(1), x -> x = p)", "INVALID_PREDICATE"),
        ("exists(array(1), x -> x = size)", "INVALID_PREDICATE"),
        ("exists(array(1), x -> exists(array(2), y -> x = z))", "INVALID_PREDICATE"),
        ("p = 1 dryrun", "INVALID_PREDICATE"),
        ("p = 1 DRY", "INVALID_PREDICATE"),
        ("p = 1 and DRY RUN", "INVALID_PREDICATE"),
        ("p = 1 AS (a, b)", "INVALID_PREDICATE"),
        ("rand() < 0.5", "NONDETERMINISTIC_PREDICATE"),
        ("p = 1 OR uuid() = 'x'", "NONDETERMINISTIC_PREDICATE"),
    ],
)
def test_predicates(spark: SparkSession, table: TableFactory, where: str, condition: str):
    t = table(1, 2)
    before = t.all_files()
    assert condition_of(spark, f"OPTIMIZE {t.sql_name} WHERE {where}") == condition
    assert t.all_files() == before


def test_mistakes_of_types_name_the_users_column(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    for where, shown in (("p = array(1)", '"(p = array(1))"'), ("p + 1", '"(p + 1)"')):
        for text in ("OPTIMIZE {t} WHERE {where}", "REORG TABLE {t} WHERE {where} APPLY (PURGE)"):
            error = error_of(spark, text.format(t=t.sql_name, where=where))
            assert shown in str(error)
            assert "partitionValues" not in str(error)
            assert "#" not in str(error)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_relative_path(spark: SparkSession, statement: str):
    for target in ("'some/dir'", "delta.`some/dir`"):
        error = error_of(spark, f"{statement} {target}")
        assert name_of(error) == "DELTA_UPKEEP.NOT_A_DELTA_TABLE"
        assert f"relative. In this session it means file:{Path.cwd()}/some/dir" in str(error)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("OPTIMIZE {t} OPTIONS (targetSize = 1)", "UNKNOWN_OPTION"),
        ("OPTIMIZE {t} OPTIONS (targetFileSize = 'big')", "INVALID_OPTION"),
        ("OPTIMIZE {t} OPTIONS (targetFileSize = -1)", "INVALID_OPTION"),
        ("OPTIMIZE {t} OPTIONS (maxDeletedRowsRatio = 2)", "INVALID_OPTION"),
        ("OPTIMIZE {t} OPTIONS (minFileSize = 1, MINFILESIZE = 2)", "DUPLICATE_OPTION"),
        ("OPTIMIZE {t} FULL", "FULL_NEEDS_CLUSTERING"),
        ("CHECKPOINT {t} OPTIONS (policy = 'v3')", "INVALID_OPTION"),
        ("CHECKPOINT {t} OPTIONS (partSize = 0)", "INVALID_OPTION"),
        ("CHECKPOINT {t} OPTIONS (parts = 3)", "UNKNOWN_OPTION"),
        ("CHECKPOINT {t} OPTIONS (policy = 'v2')", "V2_CHECKPOINT_NOT_ENABLED"),
        ("CHECKPOINT {t} OPTIONS (format = 'json')", "FORMAT_NEEDS_V2"),
        ("CLEANUP LOG {t} OPTIONS (granularity = 'week')", "INVALID_OPTION"),
        ("CLEANUP LOG {t} RETAIN -1 HOURS", "NEGATIVE_RETENTION"),
        ("CLEANUP LOG {t} RETAIN 1 HOURS", "RETENTION_TOO_SHORT"),
        ("MAINTAIN {t} OPTIONS (speed = 'high')", "UNKNOWN_OPTION"),
        ("MAINTAIN {t} OPTIONS (partSize = 'x')", "INVALID_OPTION"),
        ("MAINTAIN {t} OPTIONS (granularity = 'x')", "INVALID_OPTION"),
        ("MAINTAIN {t} OPTIONS (steps = 'optimize, analyze')", "INVALID_OPTION"),
        ("MAINTAIN {t} OPTIONS (steps = '')", "INVALID_OPTION"),
    ],
)
def test_options_and_clauses(spark: SparkSession, table: TableFactory, text: str, condition: str):
    t = table(1, 2, 3, 4)
    before = t.all_files()
    assert condition_of(spark, text.format(t=t.sql_name)) == condition
    assert t.all_files() == before


def test_target_size_of_the_session(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    for statement in ("OPTIMIZE {t}", "OPTIMIZE {t} ZORDER BY (id)"):
        with session_conf(spark, {"spark.databricks.delta.optimize.maxFileSize": "0"}):
            assert condition_of(spark, statement.format(t=t.sql_name)) == "INVALID_OPTION"


def test_zorder_columns(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    for column in ("nope", "p"):
        text = f"OPTIMIZE {t.sql_name} ZORDER BY ({column})"
        assert condition_of(spark, text) == "ZORDER_COLUMN"
    assert t.version == 2


def test_constants_that_cannot_be_computed(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    with session_conf(spark, {"spark.sql.ansi.enabled": "true"}):
        for where in ("id = 'abc'", "id > 1 / 0", "p = 1 / 0", "p > int('abc')"):
            text = f"OPTIMIZE {t.sql_name} WHERE {where}"
            assert condition_of(spark, text) == "INVALID_PREDICATE"
    text = f"OPTIMIZE {t.sql_name} WHERE raise_error(string(p)) IS NULL"
    assert condition_of(spark, text) == "INVALID_PREDICATE"


def test_clauses_that_a_clustered_table_cannot_have(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}/clustered`"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta CLUSTER BY (id)")
    for clause in ("ORDER BY (id)", "ZORDER BY (id)"):
        assert condition_of(spark, f"OPTIMIZE {name} {clause}") == "CLUSTERED_TABLE"


def test_syntax(spark: SparkSession, table: TableFactory):
    t = table(1)
    for text in (
        "OPTIMIZE {t} BOGUS",
        "CHECKPOINT {t} OPTIONS (,)",
        "CLEANUP LOG",
        "MAINTAIN {t} DRY",
    ):
        with pytest.raises(ParseException) as caught:
            spark.sql(text.format(t=t.sql_name))
        assert name_of(caught.value) == "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize("statement", STATEMENTS)
def test_feature_that_no_reader_knows(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1, 2)
    set_protocol(t, **features("timeMachine"))
    before = t.all_files()
    error = error_of(spark, f"{statement} {t.sql_name}")
    assert name_of(error) == "DELTA_UPKEEP.UNSUPPORTED_TABLE_FEATURE"
    assert "timeMachine" in str(error)
    assert "newer Delta" in str(error)
    assert t.all_files() == before


@pytest.mark.parametrize("statement", WRITERS)
def test_feature_that_no_writer_knows(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1, 2)
    set_protocol(t, **features(writer=("timeMachine",)))
    before = t.all_files()
    assert condition_of(spark, f"{statement} {t.sql_name}") == "UNSUPPORTED_TABLE_FEATURE"
    assert t.all_files() == before
    assert spark.sql(f"DESCRIBE HEALTH {t.sql_name}").where("`check` = 'log'").count() == 1


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(
    ("feature", "since", "older"),
    [
        ("catalogManaged", (4, 1), "UNSUPPORTED_TABLE_FEATURE"),
        ("adaptiveMetadata-preview", (4, 2), "ADAPTIVE_METADATA_TABLE"),
    ],
)
def test_catalog_managed_by_path(
    spark: SparkSession,
    table: TableFactory,
    statement: str,
    feature: str,
    since: tuple[int, int],
    older: str,
):
    """By name they need a catalog that manages commits: see CatalogManagedSuite.scala."""
    t = table(1, 2)
    needed = (
        "catalogManaged",
        "vacuumProtocolCheck",
        "deletionVectors",
        "columnMapping",
    )
    written = ("inCommitTimestamp", "rowTracking", "domainMetadata")
    set_protocol(t, **features(*{feature, *needed}, writer=written))
    before = t.all_files()
    # Older Deltas do not know these tables.
    expected = "CATALOG_MANAGED_TABLE_BY_PATH" if since <= DELTA else older
    assert condition_of(spark, f"{statement} '{t.path}'") == expected
    assert t.all_files() == before


@pytest.mark.parametrize("statement", WRITERS)
def test_no_permission_on_the_log(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1, 2, 3, 4, enableExpiredLogCleanup="true")
    if statement == "CLEANUP LOG":
        spark.sql(f"CHECKPOINT {t.sql_name}")
        t.age_log(days=40, up_to=4)
    before = t.all_files()
    t.log.chmod(0o555)
    try:
        error = error_of(spark, f"{statement} {t.sql_name}")
    finally:
        t.log.chmod(0o755)
    assert name_of(error) == "DELTA_UPKEEP.LOG_NOT_WRITABLE"
    assert "Nothing was changed" in str(error)
    assert t.all_files() == before


def test_python_errors_are_pysparks(spark: SparkSession, table: TableFactory, tmp_path: Path):
    with pytest.raises(AnalysisException) as caught:
        UpkeepTable.forPath(spark, str(tmp_path / "none"))
    assert name_of(caught.value)
    upkeep = UpkeepTable.forPath(spark, str(table(1).path))
    with pytest.raises(AnalysisException) as caught:
        upkeep.optimize().option("targetSize", 1).executeCompaction()
    assert name_of(caught.value) == "DELTA_UPKEEP.UNKNOWN_OPTION"
    assert caught.value.getSqlState() == "42616"
    for none in (-1, float("nan"), float("inf")):
        with pytest.raises(AnalysisException) as caught:
            upkeep.cleanupLog(none)
        assert name_of(caught.value) == "DELTA_UPKEEP.NEGATIVE_RETENTION"
    with pytest.raises(TypeError, match="cannot be a list"):
        upkeep.optimize().option("targetFileSize", [1]).dryRun()


def test_predicates_from_python_are_not_pasted(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    with pytest.raises(AnalysisException) as caught:
        UpkeepTable.forPath(spark, str(t.path)).optimize().where(
            "p = 1 DRY RUN"
        ).executeCompaction()
    assert name_of(caught.value) == "DELTA_UPKEEP.INVALID_PREDICATE"

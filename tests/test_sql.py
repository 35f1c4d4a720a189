"""The statements in Spark SQL: names, parameters, scripts, EXPLAIN, the order of extensions."""

import json
import re
import subprocess
import sys

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from conftest import TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import condition_of as name_of
from support.processes import LINE
from support.sessions import session_conf

STATEMENTS = ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "DESCRIBE HEALTH", "MAINTAIN"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_names_of_one_to_three_parts(spark: SparkSession, catalog_table: str, statement: str):
    paths = {
        spark.sql(f"{statement} {name}").first().path
        for name in (
            catalog_table,
            f"default.{catalog_table}",
            f"`spark_catalog`.`default`.`{catalog_table}`",
        )
    }
    assert len(paths) == 1


@pytest.mark.parametrize("statement", STATEMENTS)
def test_paths(spark: SparkSession, table: TableFactory, statement: str):
    t = table(1)
    paths = {spark.sql(f"{statement} {name}").first().path for name in (f"'{t.path}'", t.sql_name)}
    assert paths == {f"file:{t.path}"}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_identifier_clause(spark: SparkSession, catalog_table: str, statement: str):
    expected = spark.sql(f"{statement} {catalog_table}").first().path
    for target in (f"'default.{catalog_table}'", f"concat('default', ('.')) || '{catalog_table}'"):
        assert spark.sql(f"{statement} IDENTIFIER({target})").first().path == expected
    text = f"{statement} IDENTIFIER(:schema || '.' || :name)"
    args = {"schema": "default", "name": catalog_table}
    assert spark.sql(text, args=args).first().path == expected


def considered(rows: DataFrame) -> int:
    return rows.first().metrics.totalConsideredFiles


def test_parameters(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    named = f"OPTIMIZE {t.sql_name} WHERE p = :p AND :p < 2 DRY RUN"
    assert considered(spark.sql(named, args={"p": 1})) == 2
    assert considered(spark.sql(named, args={"p": 0})) == 1
    listed = f"OPTIMIZE {t.sql_name} WHERE p IN (?, 5 -?) AND '?:p' <> ? DRY RUN"
    assert considered(spark.sql(listed, args=[0, 4, "it's ${env:HOME}"])) == 3
    assert considered(spark.sql(listed, args=[0, -1, "?:p"])) == 0
    plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name} WHERE p = :p", args={"p": 1}).first().plan
    assert "OPTIMIZE WHERE p = 1" in plan
    assert (
        considered(spark.sql(f"REORG TABLE {t.sql_name} WHERE p = ? APPLY (PURGE)", args=[0])) == 1
    )


def test_a_parameter_stays_a_value(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    sly = "x' = '' OR 1=1 -- "
    # Spark's parser reads these operands more than once.
    for where in (
        "CASE ? WHEN 'a' THEN p = 0 ELSE false END",
        "CAST(p AS STRING) = ? OR ? BETWEEN 'a' AND 'b'",
        "CAST(p AS STRING) || ? LIKE ANY ('z', 'y')",
    ):
        values = [sly] * where.count("?")
        rows = spark.sql(f"OPTIMIZE {t.sql_name} WHERE {where} DRY RUN", args=values)
        assert considered(rows) == 0
    with session_conf(spark, {"spark.sql.parser.escapedStringLiterals": "true"}):
        text = f"OPTIMIZE {t.sql_name} WHERE CAST(p AS STRING) <> :v AND :v = '{{}}' DRY RUN"
        for value, typed in (("a\\b", "a\\b"), ("${env:HOME}", "$"), ("1", "1")):
            expected = {"a\\b": 3, "1": 1}.get(typed, 0)
            assert considered(spark.sql(text.format(typed), args={"v": value})) == expected


def test_lambdas_have_names_of_their_own(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    where = "exists(array(p), x -> exists(array(1), y -> x = y))"
    assert considered(spark.sql(f"OPTIMIZE {t.sql_name} WHERE {where} DRY RUN")) == 2


@pytest.mark.one_platform
def test_the_name_of_a_column_is_no_parameter(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    text = f"OPTIMIZE {t.sql_name} WHERE IDENTIFIER(:c) = 1 DRY RUN"
    # Delta would look for `size` among the columns of its log.
    for column in ("p", "size"):
        with pytest.raises(AnalysisException, match="IDENTIFIER may stand for the table only"):
            spark.sql(text, args={"c": column})


def test_parameters_of_options_and_retain(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    text = f"OPTIMIZE {t.sql_name} DRY RUN OPTIONS (maxFiles = :n, order = :order)"
    row = spark.sql(text, args={"n": 2, "order": "oldest"}).first()
    assert row.metrics.numFilesRemoved == 2
    with pytest.raises(AnalysisException, match="INVALID_OPTION"):
        spark.sql(text, args={"n": 2, "order": "it's"})
    hours = f"CLEANUP LOG {t.sql_name} RETAIN ? HOURS DRY RUN"
    assert spark.sql(hours, args=[1000]).first().dryRun is True
    with pytest.raises(AnalysisException, match="NEGATIVE_RETENTION"):
        spark.sql(hours, args=[-1])


def test_parameter_without_a_value(spark: SparkSession, table: TableFactory):
    t = table(1)
    text = f"OPTIMIZE {t.sql_name} WHERE p = :p"
    for run in (lambda: spark.sql(text), lambda: spark.sql(text, args={"q": 1})):
        with pytest.raises(AnalysisException) as caught:
            run()
        assert name_of(caught.value) == "UNBOUND_SQL_PARAMETER"
    with pytest.raises(AnalysisException, match="UNBOUND_PARAMETER"):
        UpkeepTable.forPath(spark, str(t.path)).optimize().where("p = :p").dryRun()


@pytest.mark.skipif(LINE == "3.5", reason="Spark 4.0 added it")
def test_execute_immediate(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    text = f"EXECUTE IMMEDIATE 'OPTIMIZE {t.sql_name} WHERE p = %s DRY RUN' USING %s"
    assert considered(spark.sql(text % ("?", "1"))) == 2
    assert considered(spark.sql(text % (":p", "0 AS p"))) == 1
    spark.sql(f"EXECUTE IMMEDIATE 'CHECKPOINT {t.sql_name}'")
    assert list(t.log.glob("*.checkpoint*.parquet"))


@pytest.mark.skipif(LINE == "3.5", reason="Spark 4.0 added them")
def test_scripts(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    script = f"""
        BEGIN
          DECLARE n INT DEFAULT 0;
          OPTIMIZE {t.sql_name}
            WHERE p = 1; -- of two
          WHILE n < 1 DO
            IF n = 0 THEN CHECKPOINT {t.sql_name}; ELSE MAINTAIN nowhere; END IF;
            SET n = n + 1;
          END WHILE;
          SELECT count(*) AS n FROM {t.sql_name};
        END
    """
    with session_conf(spark, {"spark.sql.scripting.enabled": "true"}):
        assert spark.sql(script).first().n == 4
        assert t.version == 5, "one OPTIMIZE"
        assert list(t.log.glob(f"{5:020}.checkpoint*.parquet"))
        with pytest.raises(AnalysisException, match="nowhere"):
            spark.sql(f"BEGIN DESCRIBE HEALTH {t.sql_name}; DESCRIBE HEALTH nowhere; END")


@pytest.mark.skipif(LINE in ("3.5", "4.0"), reason="Spark 4.1 has them without a setting")
def test_handlers_in_scripts(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    script = f"""
        BEGIN
          DECLARE EXIT HANDLER FOR DIVIDE_BY_ZERO, SQLSTATE '42000' CHECKPOINT {t.sql_name};
          SELECT 1 / 0;
          OPTIMIZE {t.sql_name};
        END
    """
    with session_conf(spark, {"spark.sql.scripting.enabled": "true"}):
        spark.sql(script)
    assert t.version == 2
    assert list(t.log.glob("*.checkpoint*.parquet"))


@pytest.mark.skipif(LINE == "3.5", reason="Spark 4.0 added them")
def test_scripts_with_variables(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    settings = {"spark.sql.scripting.enabled": "true", "upkeep.name": t.sql_name}
    with session_conf(spark, settings):
        spark.sql("BEGIN CHECKPOINT ${upkeep.name}; END")
    assert list(t.log.glob("*.checkpoint*.parquet"))


def test_the_name_of_a_schema_is_never_a_statement(spark: SparkSession, catalog_table: str):
    for name in (f"§MAINTAIN {catalog_table}", f"§DROP TABLE {catalog_table}"):
        with pytest.raises(AnalysisException) as caught:
            spark.sql(f"USE `{name}`")
        assert name_of(caught.value) == "SCHEMA_NOT_FOUND"
    assert spark.catalog.tableExists(catalog_table)


@pytest.mark.skipif(LINE == "3.5", reason="Spark 4.0 added them")
def test_mistake_in_a_script_is_shown_at_its_place(spark: SparkSession):
    script = "BEGIN OPTIMIZE {table}; SELEC 1; END"
    messages = []
    for table in ("t", "a.table_with_a_longer_name"):
        with pytest.raises(ParseException) as caught:
            spark.sql(script.format(table=table))
        assert "SELEC" in str(caught.value)
        assert f"OPTIMIZE {table}" in str(caught.value)
        messages.append(str(caught.value))
    (short, long) = (re.search(r"pos (\d+)", message).group(1) for message in messages)
    assert int(long) - int(short) == len("a.table_with_a_longer_name") - len("t")


def test_predicate_with_the_name_of_the_table(spark: SparkSession, catalog_table: str):
    name = f"spark_catalog.default.{catalog_table}"
    for column in (f"{catalog_table}.p", f"default.{catalog_table}.p", f"{name}.P"):
        rows = spark.sql(f"OPTIMIZE {catalog_table} WHERE {column} = 1 DRY RUN")
        assert considered(rows) == considered(
            spark.sql(f"OPTIMIZE {catalog_table} WHERE p = 1 DRY RUN")
        )


def test_predicate_on_the_date(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3)
    for today in ("current_date()", "current_date", "CAST(current_timestamp() AS DATE)"):
        where = f"p = 1 AND {today} > DATE'2020-01-01'"
        assert considered(spark.sql(f"OPTIMIZE {t.sql_name} WHERE {where} DRY RUN")) == 2


def test_reorg_has_a_dry_run(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, enableDeletionVectors="true")
    spark.sql(f"INSERT INTO {t.sql_name} SELECT id, 0, 'x' FROM range(10, 20)")
    spark.sql(f"DELETE FROM {t.sql_name} WHERE id = 11")
    before = t.all_files()
    for where in ("", "WHERE p = 0"):
        row = spark.sql(f"REORG TABLE {t.sql_name} {where} APPLY (PURGE) DRY RUN").first()
        assert row.dryRun is True
        assert row.metrics.numFilesRemoved == 1
    assert (
        "APPLY (PURGE)" in spark.sql(f"EXPLAIN REORG TABLE {t.sql_name} APPLY (PURGE)").first().plan
    )
    assert t.all_files() == before
    row = spark.sql(f"REORG TABLE {t.sql_name} APPLY (PURGE)").first()
    assert row.dryRun is False
    assert row.metrics.numFilesRemoved == 1


@pytest.mark.parametrize("statement", ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "MAINTAIN"])
def test_empty_options(spark: SparkSession, table: TableFactory, statement: str):
    assert spark.sql(f"{statement} {table(1).sql_name} DRY RUN OPTIONS ()").first().dryRun is True


@pytest.mark.parametrize("statement", STATEMENTS)
def test_explain_shows_the_plan_and_changes_nothing(
    spark: SparkSession, table: TableFactory, statement: str
):
    t = table(1, 2, 3, 4)
    before = t.all_files()
    for mode in ("", "EXTENDED", "FORMATTED"):
        (row,) = spark.sql(f"EXPLAIN {mode} {statement} {t.sql_name}").collect()
        assert f"Execute {statement}" in row.plan
        assert "== Maintenance Plan ==" in row.plan
    assert t.all_files() == before


def test_explain_tells_each_bin(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name} WHERE p >= 0 ZORDER BY (id)").first().plan
    assert "OPTIMIZE WHERE p >= 0 ZORDER BY (id)" in plan
    footers = "DRY RUN also reads the files' footers"
    assert "(gather: not in order yet; rows are put in order column by column)" in plan
    assert footers in plan
    with session_conf(spark, {"spark.deltaUpkeep.optimize.engine": "rows"}):
        plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name} ZORDER BY (id)").first().plan
    assert footers not in plan, "every bin is rewritten by rows, whatever the footers say"
    plan = spark.sql(f"EXPLAIN OPTIMIZE {t.sql_name}").first().plan
    assert "bins: 2, files: 4 of 4" in plan
    assert "p=1 (splice: small row groups are merged)" in plan
    assert footers in plan


@pytest.mark.parametrize("statement", ["OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "MAINTAIN"])
def test_dry_run_has_the_schema_of_the_real_run(
    spark: SparkSession, table: TableFactory, statement: str
):
    t = table(1, 2)
    dry = spark.sql(f"{statement} {t.sql_name} DRY RUN")
    assert dry.first().dryRun is True
    assert dry.schema == spark.sql(f"{statement} {t.sql_name}").schema


def test_other_statements_are_untouched(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    assert spark.sql(f"DESCRIBE HISTORY {t.sql_name}").count() == 3
    assert spark.sql(f"DESCRIBE DETAIL {t.sql_name}").first().numFiles == 2
    query = f"""
        -- a comment
        SELECT /*+ BROADCAST(b) */ count(*) AS n  /* another; one */
        FROM {t.sql_name} a JOIN {t.sql_name} b USING (id)
    """
    assert spark.sql(query).first().n == 2


def test_comments_and_several_lines(spark: SparkSession, table: TableFactory):
    t = table(1, 2)
    text = f"""
        -- before
        OPTIMIZE /* here */ {t.sql_name}
          WHERE p = 1 -- of two
          DRY RUN;
    """
    assert spark.sql(text).first().metrics.totalConsideredFiles == 1


OTHER_ORDER = """
import json, sys
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

ours = "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension"
deltas = "io.delta.sql.DeltaSparkSessionExtension"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder.config("spark.sql.extensions", f"{ours},{deltas}")
builder.config("spark.databricks.delta.snapshotPartitions", "1")
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
name = f"delta.`{sys.argv[1]}`"
rows = [
    spark.sql(f"OPTIMIZE {name} WHERE p = 1 DRY RUN OPTIONS (targetFileSize = 1)").first(),
    spark.sql(f"OPTIMIZE {name} WHERE p = 1 DRY RUN").first(),
    spark.sql(f"OPTIMIZE {name} DRY RUN").first(),
    spark.sql(
        f"OPTIMIZE {name} WHERE p = 1 ORDER BY (id DESC) DRY RUN OPTIONS (maxFiles = 1)"
    ).first(),
    spark.sql(f"OPTIMIZE {name}").first(),
]
found = [[row.dryRun, row.metrics.totalConsideredFiles, row.metrics.numBins] for row in rows]
checks = spark.sql(f"DESCRIBE HEALTH {name}").where("`check` = 'log'").count()
print("RESULT " + json.dumps([spark.conf.get("spark.sql.extensions"), found, checks]))
"""


def test_extensions_in_the_other_order(table: TableFactory):
    t = table(1, 2, 3, 4)
    command = [sys.executable, "-c", OTHER_ORDER, str(t.path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    extensions, found, checks = json.loads(line.removeprefix("RESULT "))
    assert extensions.startswith("io.deltaupkeep"), "ours stays first, so Delta parses first"
    # Only what is put in order may be done in parts of one file.
    assert found == [[True, 2, 0], [True, 2, 1], [True, 4, 2], [True, 2, 1], [False, 4, 2]]
    assert checks == 1

"""OPTIMIZE of columns that files of a table store in different types."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from support.processes import LINE
from support.sessions import session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

# Spark 3.5 knows only the first one.
WIDENED = [
    ("SMALLINT", "INT", "cast(id * 131 % 32767 - 16000 AS SMALLINT)"),
    ("INT", "BIGINT", "cast(id * 7919 - 2147483648 AS INT)"),
    ("INT", "DOUBLE", "cast(16777216 + id AS INT)"),
    ("FLOAT", "DOUBLE", "cast(id / 10 AS FLOAT)"),
    ("SMALLINT", "DECIMAL(12,2)", "cast(-id AS SMALLINT)"),
    ("BIGINT", "DECIMAL(22,2)", "9223372036854775807 - id"),
    ("DECIMAL(7,2)", "DECIMAL(9,4)", "cast(id / 100 AS DECIMAL(7,2))"),
    ("DECIMAL(9,2)", "DECIMAL(30,6)", "cast(-id / 100 AS DECIMAL(9,2))"),
    ("DATE", "TIMESTAMP_NTZ", "date_add(DATE'1969-12-20', int(id))"),
]
# The converters have their own tests on every platform.
if LINE != "4.2":
    WIDENED = [WIDENED[7]]


def as_json(spark: SparkSession, name: str) -> list[str]:
    """Every row as text that tells all digits, in order."""
    frame = spark.table(name)
    return sorted(row.value for row in frame.selectExpr("to_json(struct(*)) AS value").collect())


def added(path: Path) -> dict:
    newest = max((path / "_delta_log").glob("*.json"))
    actions = map(json.loads, newest.read_text().splitlines())
    (add,) = (action["add"] for action in actions if "add" in action)
    return add


@pytest.mark.skipif(LINE == "3.5", reason="Spark 3.5 widens hardly a type")
@pytest.mark.parametrize(("old", "new", "value"), WIDENED)
def test_widened_columns_are_spliced(
    spark: SparkSession, tmp_path: Path, old: str, new: str, value: str
):
    name = f"delta.`{tmp_path}/t`"
    columns = (
        "id BIGINT, c {0}, s STRUCT<x: {0}, y: STRING>, l ARRAY<{0}>, m MAP<STRING, {0}>".format
    )
    spark.sql(
        f"CREATE TABLE {name} ({columns(old)}) USING delta TBLPROPERTIES "
        "('delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'true', "
        "'delta.feature.timestampNtz' = 'supported')"
    )
    rows = (
        "id, if(id % 5 = 0, NULL, {0}), if(id % 7 = 0, NULL, named_struct('x', {0}, 'y', 'text')), "
        "array({0}, NULL), map('k', {0})".format
    )
    for start in (0, 1000):
        spark.range(start, start + 1000).coalesce(1).createOrReplaceTempView("ids")
        spark.sql(f"INSERT INTO {name} SELECT {rows(value)} FROM ids")
    for field in ("c", "s.x", "l.element", "m.value"):
        spark.sql(f"ALTER TABLE {name} ALTER COLUMN {field} TYPE {new}")
    spark.range(2000, 2010).coalesce(1).createOrReplaceTempView("ids")
    spark.sql(f"INSERT INTO {name} SELECT {rows(f'cast({value} AS {new})')} FROM ids")
    spark.sql(f"DELETE FROM {name} WHERE id % 100 = 3")
    before = as_json(spark, name)

    row = spark.sql(f"OPTIMIZE {name} OPTIONS (verify = true)").first()
    (done,) = row.bins
    if (old, new) == ("SMALLINT", "INT"):  # both are INT32
        assert done.tier == "splice"
    else:
        assert done.tier == "transcode"
        assert " in a file, and becomes " in done.reason
    assert as_json(spark, name) == before
    stats = json.loads(added(tmp_path / "t")["stats"])
    values = f"SELECT min(c), max(c), count_if(c IS NULL) FROM (SELECT c FROM {name} WHERE id >= 0)"
    first, last, nulls = spark.sql(values).first()
    assert stats["nullCount"]["c"] == nulls
    if new in ("DOUBLE", "BIGINT"):
        assert (stats["minValues"]["c"], stats["maxValues"]["c"]) == (first, last)
    found = spark.sql(f"SELECT count(*) FROM {name} WHERE c = (SELECT max(c) FROM {name})").first()
    assert found[0] >= 1
    # For readers that do not know that the type was another one.
    assert pq.read_table(tmp_path / "t" / added(tmp_path / "t")["path"]).num_rows == len(before)


def test_decimals_and_timestamps_of_several_forms_become_one(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}/t`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, small DECIMAL(9,2), large DECIMAL(18,4), at TIMESTAMP) "
        "USING delta"
    )
    query = (
        "SELECT id, cast(id / 100 - 3 AS DECIMAL(9,2)), cast(-id / 7 AS DECIMAL(18,4)), "
        "timestamp_millis(id * 86399999 - 1000000000) FROM ids"
    )
    forms = [("INT96", "true"), ("TIMESTAMP_MICROS", "false"), ("TIMESTAMP_MILLIS", "true")]
    for order in (forms, forms[::-1], forms[1:] + forms[:1])[: 3 if LINE == "4.2" else 1]:
        spark.sql(f"DELETE FROM {name}")
        for i, (timestamp, legacy) in enumerate(order):
            conf = {
                "spark.sql.parquet.outputTimestampType": timestamp,
                "spark.sql.parquet.writeLegacyFormat": legacy,
            }
            with session_conf(spark, conf):
                spark.range(i * 500, i * 500 + 500).coalesce(1).createOrReplaceTempView("ids")
                spark.sql(f"INSERT INTO {name} {query}")
        before = as_json(spark, name)
        row = spark.sql(f"OPTIMIZE {name} OPTIONS (verify = true)").first()
        assert [b.tier for b in row.bins] == ["transcode"]
        assert " in a file, and becomes " in row.bins[0].reason
        assert as_json(spark, name) == before
        stats = json.loads(added(tmp_path / "t")["stats"])
        assert (stats["numRecords"], stats["minValues"]["small"]) == (1500, -3.0)

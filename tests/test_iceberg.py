"""OPTIMIZE of tables that readers of Iceberg read too."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, PyArrowFileIO, pyarrow_to_schema
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.typedef import Record
from pyspark.sql import SparkSession

from support.processes import DELTA
from support.sessions import as_arrow, session_conf

pytestmark = pytest.mark.usefixtures("usual_queries")

MAPPED = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'false'"
FLAT = "id BIGINT, at TIMESTAMP, price DECIMAL(9,2), s STRUCT<x: INT, y: STRING>"
NESTED = "l ARRAY<STRUCT<x: INT>>, m MAP<STRING, ARRAY<DOUBLE>>"
FLAT_VALUES = "{0}L, timestamp_micros({0}), {0} / 100, named_struct('x', {0}, 'y', 'text')"
NESTED_VALUES = "array(named_struct('x', {0}), NULL), map('k', array({0} / 3D))"


def files_of(spark: SparkSession, name: str) -> list[Path]:
    found = spark.table(name).inputFiles()
    return sorted(Path(unquote(urlparse(file).path)) for file in found)


def iceberg_schema(file: Path) -> Schema:
    """The columns by the ids that the file gives them."""
    return pyarrow_to_schema(pq.read_schema(file))


def read_by_iceberg(file: Path, schema: Schema) -> list[dict]:
    """Read a file as Iceberg does, which finds columns by their ids."""
    metadata = TableMetadataV2(
        location=str(file.parent),
        last_column_id=schema.highest_field_id,
        schemas=[schema],
        current_schema_id=schema.schema_id,
        partition_specs=[UNPARTITIONED_PARTITION_SPEC],
        last_partition_id=999,
    )
    data_file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(file),
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=pq.read_metadata(file).num_rows,
        file_size_in_bytes=file.stat().st_size,
    )
    data_file.spec_id = 0
    scan = ArrowScan(metadata, PyArrowFileIO(), schema, AlwaysTrue())
    return scan.to_table([FileScanTask(data_file)]).to_pylist()


@pytest.mark.parametrize("version", [1, 2])
def test_new_files_are_as_iceberg_needs_them(spark: SparkSession, tmp_path: Path, version: int):
    name = f"delta.`{tmp_path}/t`"
    has_lists = version == 2
    columns = f"{FLAT}, {NESTED}" if has_lists else FLAT
    values = f"{FLAT_VALUES}, {NESTED_VALUES}" if has_lists else FLAT_VALUES
    compatible = f"'delta.enableIcebergCompatV{version}' = 'true'"
    spark.sql(
        f"CREATE TABLE {name} (p DATE, {columns}) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ({MAPPED}, {compatible})"
    )
    for i in range(3):
        spark.sql(f"INSERT INTO {name} SELECT DATE'2026-01-01', {values.format(i)}")
    before = as_arrow(spark.sql(f"SELECT * FROM {name} ORDER BY id")).to_pylist()
    of_delta = files_of(spark, name)
    schema = iceberg_schema(of_delta[0])
    rows = [row for file in of_delta for row in read_by_iceberg(file, schema)]

    row = spark.sql(f"OPTIMIZE {name}").first()
    assert [(b.tier, b.inputFiles) for b in row.bins] == [("splice", 3)]
    (file,) = files_of(spark, name)
    assert iceberg_schema(file) == schema
    assert sorted(map(repr, read_by_iceberg(file, schema))) == sorted(map(repr, rows))
    assert len(rows) == 3
    log = tmp_path / "t/_delta_log" / f"{row.version:020}.json"
    (add,) = (json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line)
    assert add["tags"].get("ICEBERG_COMPAT_VERSION") == ("2" if has_lists else None)
    assert before == as_arrow(spark.sql(f"SELECT * FROM {name} ORDER BY id")).to_pylist()


def test_stored_partition_values_keep_their_microseconds(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}/t`"
    spark.sql(
        f"CREATE TABLE {name} (id INT, p TIMESTAMP) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ({MAPPED}, 'delta.enableIcebergCompatV1' = 'true')"
    )
    for i in range(2):
        spark.sql(f"INSERT INTO {name} SELECT {i}, timestamp_micros(1)")
    with session_conf(spark, {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"}):
        row = spark.sql(f"OPTIMIZE {name}").first()
    assert [(b.tier, b.inputFiles) for b in row.bins] == [("splice", 2)]
    (file,) = files_of(spark, name)
    stored = pq.read_table(file, partitioning=None).column(1)
    assert [value.value for value in stored] == [1, 1]


@pytest.mark.skipif(DELTA < (4, 3), reason="older Deltas know no version 3")
def test_rows_keep_their_ids_where_iceberg_looks_for_them(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}/t`"
    spark.sql(
        f"CREATE TABLE {name} ({FLAT}, {NESTED}) USING delta TBLPROPERTIES ("
        "'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV3' = 'true', "
        "'delta.enableDeletionVectors' = 'true')"
    )
    for i in (0, 10, 20):
        values = (f"({FLAT_VALUES.format(i + k)}, {NESTED_VALUES.format(i + k)})" for k in range(3))
        spark.sql(f"INSERT INTO {name} VALUES {', '.join(values)}")
    spark.sql(f"DELETE FROM {name} WHERE id IN (1, 20)")
    query = f"SELECT id, _metadata.row_id, _metadata.row_commit_version, * FROM {name} ORDER BY id"
    before = as_arrow(spark.sql(query)).to_pylist()

    row = spark.sql(f"OPTIMIZE {name}").first()
    assert {b.tier for b in row.bins} == {"splice"}
    (file,) = files_of(spark, name)
    ids = {2147483540: "row_id", 2147483539: "row_commit_version"}  # Iceberg, 'Reserved Field IDs'
    schema = iceberg_schema(file)
    reserved = [schema.find_field(number).name for number in ids]
    rows = pq.read_table(file, columns=[schema.find_field(1).name, *reserved]).to_pylist()
    stored = sorted(tuple(row.values()) for row in rows)
    assert stored == [tuple(row[key] for key in ("id", *ids.values())) for row in before]
    assert len(stored) == 7
    log = tmp_path / "t/_delta_log" / f"{row.version:020}.json"
    (add,) = (json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line)
    assert add["tags"]["ICEBERG_COMPAT_VERSION"] == "3"
    assert before == as_arrow(spark.sql(query)).to_pylist()


def test_older_files_are_stored_as_iceberg_has_them(spark: SparkSession, tmp_path: Path):
    name = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {name} ({FLAT}) USING delta TBLPROPERTIES ({MAPPED})")
    old = {
        "spark.sql.parquet.outputTimestampType": "INT96",
        "spark.sql.parquet.writeLegacyFormat": "true",
    }
    with session_conf(spark, old):
        for i in (1, 2):
            spark.sql(f"INSERT INTO {name} SELECT {FLAT_VALUES.format(i)}")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableIcebergCompatV1' = 'true')")
    before = as_arrow(spark.sql(f"SELECT * FROM {name} ORDER BY id")).to_pylist()
    row = spark.sql(f"OPTIMIZE {name}").first()
    assert [(b.tier, b.inputFiles) for b in row.bins] == [("transcode", 2)]
    (file,) = files_of(spark, name)
    stored = {column.physical_type for column in pq.ParquetFile(file).schema}
    assert stored == {"INT32", "INT64", "BYTE_ARRAY"}
    assert before == as_arrow(spark.sql(f"SELECT * FROM {name} ORDER BY id")).to_pylist()

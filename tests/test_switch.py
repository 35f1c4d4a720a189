"""Switched off, in a session or for a table, Delta Upkeep leaves no trace of itself."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conftest import Table, TableFactory
from delta_upkeep import UpkeepTable
from delta_upkeep.errors import condition_of
from support.processes import WITH_TESTS, run
from support.sessions import session_conf

OFF = {"spark.deltaUpkeep.enabled": "false"}
SWITCHED_OFF = "DELTA_UPKEEP.SWITCHED_OFF"


def traces_of(mode: str, directory: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "support.traces", mode, directory]
    return json.loads(run(command, directory, PYTHONPATH=WITH_TESTS).splitlines()[-1])


@pytest.fixture(scope="module")
def without(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The traces of a session without Delta Upkeep. This process finds its packages first."""
    found = traces_of("without", tmp_path_factory.mktemp("without"))
    assert any('"auto": true' in line for commit in found["commits"] for line in commit), found
    assert found["errors"] == ["PARSE_SYNTAX_ERROR"] * 5
    assert len(found["checkpoints"]) > 2
    return found


@pytest.mark.one_platform
@pytest.mark.takes_turns
@pytest.mark.xdist_group("packages")
@pytest.mark.parametrize("mode", ["session", "table"])
def test_no_trace_is_left(without: dict[str, Any], tmp_path: Path, mode: str):
    found = traces_of(mode, tmp_path)
    differing = {"errors"} if mode == "session" else {"errors", "observer"}
    for key in without.keys() - differing:
        assert found[key] == without[key], key
    # EXPLAIN shows Delta's plan, and MAINTAIN skips the steps of a table.
    of_maintain = SWITCHED_OFF if mode == "session" else None
    assert found["errors"] == [*[SWITCHED_OFF] * 3, None, of_maintain]


def is_ours(frame) -> bool:
    return "bins" in frame.columns


def test_a_session_can_be_switched_off_and_on(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    with session_conf(spark, OFF):
        assert not is_ours(spark.sql(f"OPTIMIZE {t.sql_name}"))
        assert upkeep.history(1).first().operation == "OPTIMIZE"
        assert not is_ours(upkeep.optimize().executeCompaction())
        assert not is_ours(DeltaTable.forPath(spark, str(t.path)).optimize().executeCompaction())
        for statement in (upkeep.checkpoint, upkeep.health, upkeep.maintain):
            with pytest.raises(AnalysisException) as caught:
                statement()
            assert condition_of(caught.value) == SWITCHED_OFF
            assert "spark.deltaUpkeep.enabled is 'false'" in str(caught.value)
        assert is_ours(spark.newSession().sql(f"OPTIMIZE {t.sql_name}"))
    assert is_ours(spark.sql(f"OPTIMIZE {t.sql_name}"))


def switch(t: Table, value: str) -> None:
    t.spark.sql(f"ALTER TABLE {t.sql_name} SET TBLPROPERTIES ('deltaUpkeep.enabled' = '{value}')")


def test_a_table_can_be_switched_off_and_on(spark: SparkSession, table: TableFactory):
    t = table(1, 2, 3, 4)
    upkeep = UpkeepTable.forPath(spark, str(t.path))
    # Delta keeps the table that it has opened.
    delta = DeltaTable.forPath(spark, str(t.path))
    assert is_ours(delta.optimize().executeCompaction())
    switch(t, "false")
    assert not is_ours(delta.optimize().executeCompaction())
    assert not is_ours(upkeep.optimize().executeCompaction())
    rows = upkeep.maintain().collect()
    assert {(row.status, row.due) for row in rows} == {("skipped", False)}
    assert {row.reason for row in rows} == {"deltaUpkeep.enabled is not true for this table"}
    assert len(upkeep.health().checks) > 0
    assert upkeep.history(1).first().operation == "SET TBLPROPERTIES"
    with pytest.raises(AnalysisException) as caught:
        upkeep.optimize().dryRun()
    assert condition_of(caught.value) == SWITCHED_OFF
    assert "UNSET TBLPROPERTIES ('deltaUpkeep.enabled')" in str(caught.value)
    spark.sql(f"ALTER TABLE {t.sql_name} UNSET TBLPROPERTIES ('deltaUpkeep.enabled')")
    assert is_ours(delta.optimize().executeCompaction())
    assert upkeep.checkpoint().first().status == "written"


@pytest.mark.parametrize("value", ["no", "False", ""])
def test_any_value_but_true_turns_it_off(spark: SparkSession, table: TableFactory, value: str):
    t = table(1)
    switch(t, value)
    with pytest.raises(AnalysisException, match=f"deltaUpkeep.enabled is '{value}'"):
        spark.sql(f"CHECKPOINT {t.sql_name}")
    switch(t, "True")
    assert spark.sql(f"CHECKPOINT {t.sql_name}").first().status == "written"

"""What the facade sends through its gateway, with a gateway that only writes it down."""

from dataclasses import replace
from typing import Any, cast

import pytest
from delta.tables import DeltaOptimizeBuilder
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep import UpkeepOptimizeBuilder, UpkeepTable
from delta_upkeep._table.methods import OptimizeMethods
from delta_upkeep._table.statements import Statement


class Recorder:
    """A gateway that returns the statement in the place of its rows."""

    def run(self, statement: Statement) -> DataFrame:
        return cast(DataFrame, statement)


NO_SESSION = cast(SparkSession, None)


@pytest.fixture
def table() -> UpkeepTable:
    return UpkeepTable(NO_SESSION, None, Recorder())


@pytest.fixture
def optimize() -> UpkeepOptimizeBuilder:
    return UpkeepOptimizeBuilder(NO_SESSION, Recorder())


def sent(rows: DataFrame) -> Statement:
    return cast(Statement, rows)


def test_checkpoint_leaves_defaults_to_the_statement(table: UpkeepTable):
    assert sent(table.checkpoint()) == Statement("CHECKPOINT")
    assert sent(table.checkpoint(policy="v2", partSize=9, dryRun=True)) == Statement(
        "CHECKPOINT", dry_run=True, options={"policy": "v2", "partSize": "9"}
    )


def test_retention_is_hours_as_a_double(table: UpkeepTable):
    hours = sent(table.cleanupLog(24)).retention_hours
    assert (hours, type(hours)) == (24.0, float)
    assert sent(table.cleanupLog()) == Statement("CLEANUP LOG")


def test_maintain_sends_its_options(table: UpkeepTable):
    assert sent(table.maintain(dryRun=True, options={"maxFiles": 3})) == Statement(
        "MAINTAIN", dry_run=True, options={"maxFiles": "3"}
    )


def test_conditions_add_up(optimize: UpkeepOptimizeBuilder):
    rows = optimize.where("a = 1 OR a = 2").where("b = 3").full().executeCompaction()
    assert sent(rows) == Statement("OPTIMIZE", full=True, where=("a = 1 OR a = 2", "b = 3"))


def test_a_dry_run_has_the_same_clauses(optimize: UpkeepOptimizeBuilder):
    optimize.where("p = 1")
    expected = Statement("OPTIMIZE", where=("p = 1",), dry_run=True)
    assert sent(optimize.executeCompaction(dryRun=True)) == expected
    assert sent(optimize.dryRun()) == expected
    curve = replace(expected, z_order_by=("a", "b"))
    assert sent(optimize.executeZOrderBy("a", "b", dryRun=True)) == curve
    assert sent(optimize.dryRun(["a", "b"])) == curve


def test_no_method_needs_the_builder_of_delta():
    own = {name for name in vars(OptimizeMethods) if not name.startswith("_")}
    assert {name for name in vars(DeltaOptimizeBuilder) if not name.startswith("_")} <= own


@pytest.mark.parametrize(
    ("value", "text"), [("x", "x"), (5, "5"), (0.5, "0.5"), (True, "true"), (False, "false")]
)
def test_option_is_written_as_in_sql(optimize: UpkeepOptimizeBuilder, value: Any, text: str):
    assert sent(optimize.option("k", value).dryRun()).options == {"k": text}


@pytest.mark.parametrize("value", [None, [1], b"x"])
def test_option_of_another_type_is_refused(optimize: UpkeepOptimizeBuilder, value: Any):
    with pytest.raises(TypeError, match=r"'k' cannot be a .* Use a str, int, float or bool"):
        optimize.option("k", value).dryRun()


def test_dry_run_takes_columns_as_the_run_does(optimize: UpkeepOptimizeBuilder):
    for run in (optimize.executeZOrderBy, optimize.dryRun):
        assert sent(run("a", "b")).z_order_by == ("a", "b")
        assert sent(run(["a", "b"])).z_order_by == ("a", "b")
        with pytest.raises(TypeError, match="Pass its name as a str"):
            run(cast(str, 3))
        with pytest.raises(ValueError, match="needs at least one column"):
            run([])
    assert sent(optimize.dryRun()) == Statement("OPTIMIZE", dry_run=True)

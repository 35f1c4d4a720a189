"""What the facade sends through its gateway, with a gateway that only writes it down."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

import pytest
from delta.tables import DeltaOptimizeBuilder
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep import UpkeepOptimizeBuilder, UpkeepTable
from delta_upkeep._table.methods import OptimizeMethods, TableMethods
from delta_upkeep._table.statements import Statement
from delta_upkeep.results import ResultRows

R = TypeVar("R")


class Recorder:
    """A gateway that returns the statement in the place of its rows."""

    def run(self, statement: Statement) -> DataFrame:
        return cast(DataFrame, statement)

    def result(self, statement: Statement, read: Callable[[DataFrame], R]) -> ResultRows[R]:
        return cast(ResultRows[R], statement)


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


@pytest.mark.parametrize("other", ["/path", None, 3])
def test_what_is_no_table_of_delta(other: Any):
    with pytest.raises(TypeError, match=r"needs a DeltaTable but got .* Use UpkeepTable\.forName"):
        UpkeepTable.of(other)


def test_retention_is_hours_as_a_double(table: UpkeepTable):
    hours = sent(table.cleanupLog(24)).retention_hours
    assert (hours, type(hours)) == (24.0, float)
    assert sent(table.cleanupLog()) == Statement("CLEANUP LOG")
    assert sent(table.vacuum(24)) == Statement("VACUUM", retention_hours=24.0)


def test_analyze(table: UpkeepTable):
    assert sent(table.analyze()).sql("t") == "ANALYZE TABLE t COMPUTE DELTA STATISTICS"
    by_arguments = table.analyze("p = 1", columns=["a", "b.c"], mode="all", dryRun=True)
    assert sent(by_arguments).sql("t") == (
        "ANALYZE TABLE t COMPUTE DELTA STATISTICS FOR COLUMNS (`a`, `b`.`c`) WHERE (p = 1) DRY RUN"
        " OPTIONS ('mode' = 'all')"
    )
    assert sent(table.analyze(columns="a")).columns == ("a",)


def test_vacuum_is_ours_with_and_without_options(table: UpkeepTable):
    limits = {"mode": "full", "maxFiles": "3", "maxBytes": "1g", "threads": "8"}
    by_arguments = table.vacuum(mode="full", maxFiles=3, maxBytes="1g", threads=8, dryRun=True)
    assert sent(by_arguments) == Statement("VACUUM", dry_run=True, options=limits)
    assert sent(table.vacuum(options={"maxFiles": 3})).options == {"maxFiles": "3"}
    assert sent(table.vacuum()).sql("t") == "VACUUM t OPTIONS ()"
    assert sent(table.vacuum(0, mode="log")).sql("t") == (
        "VACUUM t RETAIN 0.000000 HOURS OPTIONS ('mode' = 'log')"
    )


def test_maintain_sends_its_options(table: UpkeepTable):
    assert sent(table.maintain(dryRun=True, options={"maxFiles": 3})) == Statement(
        "MAINTAIN", dry_run=True, options={"maxFiles": "3"}
    )


def test_options_are_given_in_one_way(table: UpkeepTable, optimize: UpkeepOptimizeBuilder):
    limits = {"maxFiles": 3, "verify": True}
    texts = {"maxFiles": "3", "verify": "true"}
    assert sent(table.maintain(options=limits)).options == texts
    assert sent(table.cleanupLog(options=limits)).options == texts
    assert sent(table.checkpoint(options=limits)).options == texts
    assert sent(table.checkpoint(policy="v2", options=limits)).options == {**texts, "policy": "v2"}
    for run in (optimize.executeCompaction, optimize.executeZOrderBy, optimize.dryRun):
        columns = () if run == optimize.executeCompaction else ("a",)
        assert sent(run(*columns, options=limits)).options == texts
    optimize.option("maxFiles", 1).option("order", "size")
    assert sent(optimize.executeCompaction(options=limits)).options == {**texts, "order": "size"}
    # Options of one call are not those of the next.
    assert sent(optimize.dryRun()).options == {"maxFiles": "1", "order": "size"}


def test_an_option_is_given_once(table: UpkeepTable):
    with pytest.raises(TypeError, match="'policy' is given as an argument and in options"):
        table.checkpoint(policy="v2", options={"POLICY": "classic"})


def test_options_are_a_mapping(table: UpkeepTable):
    with pytest.raises(TypeError, match="options cannot be a str"):
        table.maintain(options=cast(Any, "maxFiles=3"))


def runs() -> Iterator[Any]:
    for methods in (TableMethods, OptimizeMethods):
        for method in filter(inspect.isfunction, vars(methods).values()):
            if inspect.signature(method).return_annotation.startswith("ResultRows"):
                yield method


def test_each_method_that_runs_a_statement_has_a_dry_run_and_options():
    names = {run.__name__ for run in runs() if not run.__name__.startswith("_")}
    assert names == {
        *("checkpoint", "cleanupLog", "vacuum", "analyze", "fsck", "maintain"),
        *("executeCompaction", "executeZOrderBy", "executeOrderBy", "dryRun"),
    }
    for run in runs():
        parameters = inspect.signature(run).parameters
        assert "options" in parameters, run
        assert "dryRun" in parameters or run.__name__ in ("dryRun", "_run"), run


def test_conditions_add_up(optimize: UpkeepOptimizeBuilder):
    rows = optimize.where("a = 1 OR a = 2").where("b = 3").full().executeCompaction()
    assert sent(rows) == Statement("OPTIMIZE", full=True, where=("a = 1 OR a = 2", "b = 3"))


def test_a_dry_run_has_the_same_clauses(optimize: UpkeepOptimizeBuilder):
    optimize.where("p = 1")
    expected = Statement("OPTIMIZE", where=("p = 1",), dry_run=True)
    assert sent(optimize.executeCompaction(dryRun=True)) == expected
    assert sent(optimize.dryRun()) == expected
    curve = replace(expected, columns=("a", "b"))
    assert sent(optimize.executeZOrderBy("a", "b", dryRun=True)) == curve
    assert sent(optimize.dryRun(["a", "b"])) == curve
    sort = replace(expected, order_by=("a", "b DESC"))
    assert sent(optimize.executeOrderBy("a", "b DESC", dryRun=True)) == sort


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
        assert sent(run("a", "b")).columns == ("a", "b")
        assert sent(run(["a", "b"])).columns == ("a", "b")
        with pytest.raises(TypeError, match="Pass its name as a str"):
            run(cast(str, 3))
        with pytest.raises(ValueError, match="needs at least one column"):
            run([])
    assert sent(optimize.dryRun()) == Statement("OPTIMIZE", dry_run=True)

"""What the facade sends through its gateway, with a gateway that only writes it down."""

from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from delta_upkeep import UpkeepOptimizeBuilder, UpkeepTable

Call = tuple[Any, ...]


class Recorder:
    """A gateway that returns the call in the place of its rows."""

    def optimize(
        self, where: Any, z_order_by: Any, full: bool, dry_run: bool, options: Any
    ) -> DataFrame:
        return cast(DataFrame, ("optimize", where, z_order_by, full, dry_run, options))

    def checkpoint(self, dry_run: bool, options: Any) -> DataFrame:
        return cast(DataFrame, ("checkpoint", dry_run, options))

    def cleanup_log(self, retention_hours: Any, dry_run: bool, options: Any) -> DataFrame:
        return cast(DataFrame, ("cleanupLog", retention_hours, dry_run, options))

    def health(self) -> DataFrame:
        return cast(DataFrame, ("health",))

    def maintain(self, dry_run: bool, options: Any) -> DataFrame:
        return cast(DataFrame, ("maintain", dry_run, options))


NO_SESSION = cast(SparkSession, None)


@pytest.fixture
def table() -> UpkeepTable:
    return UpkeepTable(NO_SESSION, None, Recorder())


@pytest.fixture
def optimize() -> UpkeepOptimizeBuilder:
    return UpkeepOptimizeBuilder(NO_SESSION, None, Recorder())


def test_checkpoint_leaves_defaults_to_the_statement(table: UpkeepTable):
    assert cast(Call, table.checkpoint()) == ("checkpoint", False, {})
    sent = table.checkpoint(policy="v2", partSize=9, dryRun=True)
    assert cast(Call, sent) == ("checkpoint", True, {"policy": "v2", "partSize": "9"})


def test_retention_is_hours_as_a_double(table: UpkeepTable):
    assert cast(Call, table.cleanupLog(24)) == ("cleanupLog", 24.0, False, {})
    assert cast(Call, table.cleanupLog()) == ("cleanupLog", None, False, {})


def test_conditions_add_up(optimize: UpkeepOptimizeBuilder):
    sent = optimize.where("a = 1 OR a = 2").where("b = 3").executeCompaction()
    assert cast(Call, sent)[1] == ["a = 1 OR a = 2", "b = 3"]


@pytest.mark.parametrize(
    ("value", "text"), [("x", "x"), (5, "5"), (0.5, "0.5"), (True, "true"), (False, "false")]
)
def test_option_is_written_as_in_sql(optimize: UpkeepOptimizeBuilder, value: Any, text: str):
    assert cast(Call, optimize.option("k", value).dryRun())[-1] == {"k": text}


@pytest.mark.parametrize("value", [None, [1], b"x"])
def test_option_of_another_type_is_refused(optimize: UpkeepOptimizeBuilder, value: Any):
    with pytest.raises(TypeError, match=r"'k' cannot be a .* Use a str, int, float or bool"):
        optimize.option("k", value).dryRun()


def test_dry_run_takes_columns_as_the_run_does(optimize: UpkeepOptimizeBuilder):
    for run in (optimize.executeZOrderBy, optimize.dryRun):
        assert cast(Call, run("a", "b"))[2] == ["a", "b"]
        assert cast(Call, run(["a", "b"]))[2] == ["a", "b"]
        with pytest.raises(TypeError, match="Pass its name as a str"):
            run(cast(str, 3))
        with pytest.raises(ValueError, match="needs at least one column"):
            run([])
    assert cast(Call, optimize.dryRun())[2] == []

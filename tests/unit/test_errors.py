"""Errors by family: still PySpark's own exceptions, and of every condition there is."""

from __future__ import annotations

import pickle
import re
import traceback

import pytest
from pyspark.errors import AnalysisException, PySparkException, UnsupportedOperationException
from pyspark.errors.exceptions import connect

from delta_upkeep import errors
from support.processes import ROOT

SCALA = ROOT / "scala/src/main"


def conditions() -> set[str]:
    """The names in `UpkeepErrors`, and the condition that other code spells out."""
    text = "\n".join(file.read_text() for file in SCALA.rglob("*.scala"))
    declared = re.findall(r'\b(?:error|conflict)\(\s*(?:name = )?"([A-Z][A-Z0-9_]+)"', text)
    return {*declared, *re.findall(r"DELTA_UPKEEP\.([A-Z][A-Z0-9_]+)", text)}


def test_each_condition_has_a_family():
    assert set(errors.FAMILIES) == conditions()


def refused(name: str | None, kind: type[connect.SparkConnectGrpcException]) -> PySparkException:
    return kind(f"[{name}] The message.", errorClass=name, messageParameters={"a": "b"})


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("DELTA_UPKEEP.LOG_DAMAGED", errors.DamagedError),
        ("DELTA_UPKEEP.OPTIMIZE_CONFLICT", errors.ConflictError),
        ("DELTA_UPKEEP.UNKNOWN_OPTION", errors.InvalidRequestError),
        ("DELTA_UPKEEP.OF_A_NEWER_SERVER", errors.UpkeepError),
    ],
)
def test_an_error_joins_its_family(name: str, family: type[errors.UpkeepError]):
    error = refused(name, connect.AnalysisException)
    with pytest.raises(family) as caught, errors.by_family():
        raise error
    assert caught.value is error
    assert isinstance(error, AnalysisException) and isinstance(error, connect.AnalysisException)
    assert isinstance(error, errors.UpkeepError)
    assert (error.condition, error.getCondition(), str(error)) == (
        name,
        name,
        f"[{name}] The message.",
    )
    assert traceback.format_exception_only(error)[0].startswith(
        f"delta_upkeep.errors.{family.__name__}: [{name}]"
    )


def test_a_condition_may_be_in_the_message_alone():
    error = connect.UnsupportedOperationException("[DELTA_UPKEEP.UNSUPPORTED_SPARK] For Spark 4.2.")
    with pytest.raises(UnsupportedOperationException) as caught, errors.by_family():
        raise error
    assert isinstance(caught.value, errors.NotSupportedError)
    assert caught.value.condition == "DELTA_UPKEEP.UNSUPPORTED_SPARK"


@pytest.mark.parametrize("name", ["TABLE_OR_VIEW_NOT_FOUND", None])
def test_an_error_of_spark_stays_what_it_is(name: str | None):
    with pytest.raises(AnalysisException) as caught, errors.by_family():
        raise refused(name, connect.AnalysisException)
    assert type(caught.value) is connect.AnalysisException


def test_an_error_of_a_client_can_be_sent_to_another_process():
    with pytest.raises(errors.DamagedError) as caught, errors.by_family():
        raise refused("DELTA_UPKEEP.LOG_DAMAGED", connect.AnalysisException)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert (str(copy), copy.condition) == (str(caught.value), caught.value.condition)

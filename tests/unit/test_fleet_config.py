"""What a configuration says, and what it may not say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_upkeep.fleet import ConfigError, FleetConfig
from delta_upkeep.fleet.files import Place, Uri, place_of
from delta_upkeep.fleet.quantities import duration_of, size_of
from support.processes import ROOT

TABLES = {"include": ["sales.*"]}


def config(**values: Any) -> FleetConfig:
    return FleetConfig.of({"tables": TABLES, **values})


def test_the_example_is_one():
    example = FleetConfig.load(ROOT / "conf/upkeep.toml")
    assert [pattern.text for pattern in example.include] == [
        "sales.*",
        "*.events_*",
        "/data/lake/*",
        "s3a://bucket/{raw,clean}/*",
    ]
    assert (example.allow_empty, example.concurrency, example.time_budget) == (False, 2, 7200)
    assert example.byte_budget == 500 * 1024**3
    assert example.summary == Path("upkeep-summary.json")
    assert (example.history, example.lease) == ("ops.upkeep_history", 600)
    assert (str(example.policy.window), example.policy.pause_after) == ("22:00-06:00", 3)
    assert [override.policy.priority for override in example.overrides] == [None, 10]
    assert [dict(override.options) for override in example.overrides] == [
        {"targetFileSize": "1g", "minInputFiles": "10"},
        {"maxBytes": "100g"},
    ]
    assert dict(example.spark) == {
        "spark.master": "local[*]",
        "spark.driver.memory": "8g",
        "spark.databricks.delta.snapshotPartitions": "4",
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("upkeep.toml", Path("upkeep.toml")),
        ("/srv/upkeep.toml", Path("/srv/upkeep.toml")),
        ("file:/srv/a b.toml", Path("/srv/a b.toml")),
        ("file:///srv/upkeep.toml", Path("/srv/upkeep.toml")),
        ("C:/srv/upkeep.toml", Path("C:/srv/upkeep.toml")),
        ("s3a://bucket/upkeep.toml", Uri("s3a://bucket/upkeep.toml")),
        ("hdfs:/srv/upkeep.toml", Uri("hdfs:/srv/upkeep.toml")),
        ("abfss://c@a.dfs.core.windows.net/x", Uri("abfss://c@a.dfs.core.windows.net/x")),
    ],
)
def test_a_place_is_local_or_a_uri(text: str, place: Place):
    assert place_of(text) == place
    assert config(run={"summary": text}).summary == place


def test_a_uri_needs_a_session():
    with pytest.raises(ConfigError, match="a Spark session is needed"):
        FleetConfig.load(Uri("s3a://bucket/upkeep.toml"))


def test_what_is_not_said():
    least = config()
    assert least == FleetConfig(include=least.include)
    assert (least.concurrency, least.time_budget, least.byte_budget) == (1, None, None)


def test_an_override_may_have_a_policy_and_no_options():
    found = config(
        policy={"window": "22:00-06:00", "time_zone": "Europe/Berlin"},
        overrides=[{"match": "a", "priority": 3}, {"match": "*", "days": ["sat", "sun"]}],
    )
    assert str(found.policy.window) == "22:00-06:00"
    assert [dict(override.options) for override in found.overrides] == [{}, {}]
    assert [override.policy.priority for override in found.overrides] == [3, None]
    assert found.overrides[1].policy.days == {5, 6}


def test_dotted_settings_are_settings():
    spark = {"spark": {"driver": {"memory": "4g"}, "ui.enabled": False}}
    assert dict(config(spark=spark).spark) == {
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "false",
    }


def test_names_of_a_metastore():
    with_hive = config(spark={"hive": True, "spark.driver.memory": "4g"}).spark
    assert dict(with_hive) == {
        "spark.driver.memory": "4g",
        "spark.sql.catalogImplementation": "hive",
    }
    assert dict(config(spark={"hive": False}).spark) == {}
    with pytest.raises(ConfigError, match="'hive' must be true or false"):
        config(spark={"hive": "yes"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"jobs": 3},
            r"unknown key jobs\. Use one of: tables, run, options, policy, overrides, spark",
        ),
        ({"run": {"treads": 3}}, r"unknown key run\.treads\. Use one of: concurrency, time_budget"),
        ({"overrides": [{"match": "a", "x": 1}]}, r"unknown key overrides\[0\]\.x"),
        ({"tables": {}}, r"tables\.include is missing or empty"),
        ({"tables": {"include": []}}, r"tables\.include is missing or empty"),
        ({"tables": {"include": [3]}}, r"tables\.include cannot be \[3\]\. Use patterns"),
        ({"tables": {"include": "a.b.c.d"}}, r"tables\.include: 'a.b.c.d' has 4 parts"),
        ({"tables": {"include": "*.b.c"}}, "has a glob for the catalog"),
        ({"tables": {"include": "a..b"}}, "has an empty part"),
        ({"tables": {"include": "a[b.c"}}, r"has a \[ without a \]"),
        ({"tables": {"include": "/a/{b,c"}}, r"has a \{ without a \}"),
        ({"tables": {"include": "/a/[z-a]"}}, "is not a valid glob"),
        ({"tables": {"include": "a/b"}}, "is relative"),
        (
            {"tables": TABLES | {"allow_empty": 1}},
            r"tables\.allow_empty cannot be 1\. Use true or false",
        ),
        ({"run": {"concurrency": 0}}, r"run\.concurrency cannot be 0\. Use a whole number"),
        ({"run": {"concurrency": True}}, r"run\.concurrency cannot be True"),
        ({"run": {"concurrency": "2"}}, r"run\.concurrency cannot be '2'"),
        ({"run": {"time_budget": "2 days"}}, r"run\.time_budget cannot be '2 days'\. Use a dur"),
        ({"run": {"history": "ops.*"}}, r"run\.history cannot be 'ops\.\*'\. Use the name or"),
        ({"run": {"history": "a/b"}}, r"run\.history: The path 'a/b' is relative"),
        ({"run": {"lease": "1"}}, r"run\.lease cannot be '1'\. Use a duration"),
        ({"run": {"byte_budget": 1.5}}, r"run\.byte_budget cannot be 1\.5\. Use a size"),
        ({"run": 3}, "run cannot be 3. Use a TOML table"),
        ({"options": {"a": [1]}}, r"options: The option 'a' cannot be a list"),
        ({"options": 3}, r"options cannot be 3\. Use"),
        ({"spark": "x"}, r"spark cannot be 'x'\. Use"),
        ({"run": {"time_budget": {"hours": 2}}}, r"run\.time_budget cannot be a table\. Use"),
        ({"overrides": {"match": "a"}}, r"Write \[\[overrides\]\]"),
        ({"policy": {"window": "22-6"}}, r"policy\.window cannot be '22-6'\. Use a part of a day"),
        ({"policy": {"pause_after": 3}}, r"pause_after needs a history"),
        ({"options": {"maxFiles": 1, "MAXFILES": 2}}, r"options: .*'maxFiles' is given twice"),
        ({"run": {"summary": " "}}, r"run.summary cannot be ' '"),
        (
            {"overrides": [{"match": "a", "time_zone": "Berlin"}]},
            r"overrides\[0\]\.time_zone cannot be 'Berlin'\. Use a time zone that this",
        ),
        ({"overrides": [{"options": {}}]}, r"overrides\[0\]\.match is missing\. Add patterns"),
        ({"overrides": [{"match": "a"}]}, r"overrides\[0\]\.options is missing"),
        ({"spark": {"driver.memory": "1g"}}, r"Write 'spark\.driver\.memory'"),
    ],
)
def test_what_cannot_be_followed_is_told_with_its_key(values: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        config(**values)


def test_secrets_are_not_shown():
    spark = {"spark.hadoop.fs.s3a.secret.key": "s3cr3t", "spark.executor.cores": [2]}
    with pytest.raises(ConfigError, match=r"'spark\.executor\.cores' cannot be a list") as error:
        config(spark=spark)
    assert "s3cr3t" not in str(error.value)


def test_a_file_that_is_none(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"cannot be read: No such file.*Check the path"):
        FleetConfig.load(tmp_path / "none.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("[tables\n")
    with pytest.raises(ConfigError, match=r"is not valid TOML.*line 1"):
        FleetConfig.load(bad)


@given(st.integers(1, 10**6), st.sampled_from(["", "k", "m", "g", "t", "p"]))
def test_a_size_is_as_in_spark(number: int, unit: str):
    expected = number * 1024 ** ["", "k", "m", "g", "t", "p"].index(unit)
    written = [f"{number}{unit}", f"{number} {unit.upper()}B", f" {number}{unit} "]
    assert {size_of(text) for text in written} == {expected}


@given(st.integers(1, 10**6))
def test_a_duration_has_a_unit(number: int):
    assert duration_of(number) == duration_of(f"{number}s") == number
    assert duration_of(f"{number} m") == 60 * number
    assert duration_of(f"{number}H") == 3600 * number
    assert duration_of(f"{number}d") == 86400 * number


@pytest.mark.parametrize("text", ["", "g", "1x", "-1g", "1.5g", "0", "0g", "1g1"])
def test_no_size(text: str):
    with pytest.raises(ValueError):
        size_of(text)


@pytest.mark.parametrize("text", ["", "h", "10", "1x", "-1h", "1.5h", "0s", "1h30m"])
def test_no_duration(text: str):
    with pytest.raises(ValueError):
        duration_of(text)

"""Which tables a fleet is, and which options each gets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_upkeep._table.names import quoted, unquoted
from delta_upkeep.fleet import FleetConfig
from delta_upkeep.fleet.discovery import Discovery, Entry, Kind, discover
from delta_upkeep.fleet.listings import kind_of, location_of
from delta_upkeep.fleet.patterns import PatternError, pattern_of
from delta_upkeep.fleet.selection import Found, choose, options_of, unmatched

ORDERS = Found("file:/w/sales.db/orders", ("spark_catalog", "sales", "orders"))
EVENTS = Found("file:/w/web.db/events_1", ("spark_catalog", "web", "events_1"))
LAKE = Found("s3a://b/lake/x")


@pytest.mark.parametrize(
    ("pattern", "table", "expected"),
    [
        ("sales.*", ORDERS, True),
        ("SALES.Orders", ORDERS, True),
        ("*.events_*", EVENTS, True),
        ("*.events_[0-9]", EVENTS, True),
        ("*.events_[^0-9]", EVENTS, False),
        ("*.{orders,events_?}", EVENTS, True),
        ("*.{orders,events}", EVENTS, False),
        ("spark_catalog.web.*", EVENTS, True),
        ("other.web.*", EVENTS, False),
        ("events_1", EVENTS, True),
        ("sales", ORDERS, False),
        ("sales.ord", ORDERS, False),
        ("`sales`.`*`", ORDERS, False),
        ("*.*", LAKE, False),
        ("/w/*/*", ORDERS, True),
        ("/w/*", ORDERS, False),
        ("/W/*/*", ORDERS, False),
        ("file:/w/sales.db/orders", ORDERS, True),
        ("file:///w/sales.db/*", ORDERS, True),
        ("hdfs://n/w/sales.db/*", ORDERS, False),
        ("s3a://b/lake/*", LAKE, True),
        ("s3a://b/lake/*/", LAKE, True),
        ("s3a://c/lake/*", LAKE, False),
        ("/lake/{x,y}", LAKE, True),
        (r"/lake/\*", LAKE, False),
    ],
)
def test_a_pattern_matches(pattern: str, table: Found, expected: bool):
    assert table.matches(pattern_of(pattern)) is expected


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_quoted_name_matches_itself_alone(name: str, other: str):
    pattern = pattern_of(f"s.{quoted(name)}")
    assert pattern.literal and unquoted(quoted(name)) == name
    assert Found("", ("c", "s", name)).matches(pattern)
    if other.lower() != name.lower() and not re.fullmatch(re.escape(name), other, re.IGNORECASE):
        assert not Found("", ("c", "s", other)).matches(pattern)


@given(st.text())
def test_any_text_is_a_pattern_or_refused(text: str):
    try:
        pattern = pattern_of(text)
    except PatternError:
        return
    assert ORDERS.matches(pattern) in (True, False)


def config(**values: Any) -> FleetConfig:
    return FleetConfig.of({"tables": {"include": "*.*", **values.pop("tables", {})}, **values})


def test_exclude_goes_before_everything():
    chosen = choose([ORDERS, EVENTS, LAKE], config(tables={"exclude": ["sales.*", "/lake/*"]}))
    assert [each.table for each in chosen] == [EVENTS]


def test_a_table_that_is_found_twice_goes_by_its_name():
    by_path = Found(ORDERS.location)
    chosen = choose([by_path, LAKE, ORDERS, LAKE], config())
    assert [each.table for each in chosen] == [ORDERS, LAKE]
    assert choose([by_path, ORDERS], config(tables={"exclude": "sales.*"})) == ()


def test_tables_whose_place_is_not_known_are_not_one():
    named = [Found("", ("c", "s", name)) for name in "ab"]
    assert [each.table for each in choose(named, config())] == named


def test_the_history_is_a_table_whose_files_wait_for_others():
    history = Found("file:/w/ops.db/history", ("spark_catalog", "ops", "history"))
    by_path = Found(history.location)
    waits = {"minInputFiles": "20"}
    for found in ([ORDERS], [ORDERS, by_path], [ORDERS, history]):
        chosen = {each.table: each.options for each in choose(found, config(), history)}
        assert chosen == {ORDERS: {}, history: waits}
    overrides = [{"match": "ops.*", "options": {"mininputfiles": 2}}]
    (own,) = choose([], config(overrides=overrides), history)
    assert own.options == {"mininputfiles": "2"}


def test_later_overrides_win_key_by_key():
    overrides = [
        {"match": "sales.*", "options": {"targetFileSize": "1g", "maxFiles": 5}},
        {"match": ["web.*", "*.orders"], "options": {"targetfilesize": "2g"}},
        {"match": "web.*", "options": {"maxFiles": 9}},
    ]
    chosen = config(options={"order": "oldest", "maxFiles": 1}, overrides=overrides)
    assert options_of(ORDERS, chosen) == {
        "order": "oldest",
        "maxFiles": "5",
        "targetfilesize": "2g",
    }
    assert options_of(LAKE, chosen) == {"order": "oldest", "maxFiles": "1"}


NAMES = st.sampled_from(["maxFiles", "MAXFILES", "order", "Order", "maxBytes"])
PAIRS = st.tuples(NAMES, st.sampled_from("abc"))
LAYERS = st.lists(st.lists(PAIRS, unique_by=lambda pair: pair[0].lower()).map(dict))


@given(LAYERS)
def test_an_option_has_one_value_and_it_is_the_last(layers: list[dict[str, str]]):
    overrides = [{"match": "*.orders", "options": layer} for layer in layers]
    merged = options_of(ORDERS, config(overrides=overrides))
    last = {name.lower(): value for layer in layers for name, value in layer.items()}
    assert {name.lower(): value for name, value in merged.items()} == last
    assert len(merged) == len(last)


def test_an_override_that_matches_no_table_is_told():
    overrides = [{"match": ["sales.*", "salse.*", "/none/*"], "options": {}}]
    assert unmatched([ORDERS], config(overrides=overrides)) == ("salse.*", "/none/*")


def test_a_label_can_be_typed_as_a_name():
    assert ORDERS.label == "spark_catalog.sales.orders"
    assert Found("", ("c", "a b", "x`y.z")).label == "c.`a b`.`x``y.z`"
    assert LAKE.label == "s3a://b/lake/x"


class Shelf:
    """Listings from a dictionary."""

    def __init__(self, **tables: Kind) -> None:
        self._tables = tables

    def current(self) -> tuple[str, str]:
        return "c", "s"

    def has_metastore(self, catalog: str) -> bool:
        return catalog != "memory"

    def schemas(self, catalog: str) -> list[str]:
        if catalog == "broken":
            raise RuntimeError("no such catalog")
        return [] if catalog == "memory" else ["s", "t"]

    def tables(self, catalog: str, schema: str) -> list[Entry]:
        if catalog == "memory":
            return []
        return [
            Entry(Found(f"file:/{schema}/{name}", (catalog, schema, name)), kind)
            for name, kind in self._tables.items()
        ]

    def directories(self, glob: str) -> list[Entry]:
        if "none" in glob:
            return []
        return [Entry(Found("file:/d/x"), "delta"), Entry(Found("file:/d/y"), "other")]


def found(*patterns: str, allow_empty: bool = False, **tables: Kind) -> Discovery:
    wanted = tuple(pattern_of(text) for text in patterns)
    return discover(wanted, Shelf(**tables), allow_empty=allow_empty)


def failures(discovery: Discovery) -> list[tuple[str, str]]:
    return [(failure.table, failure.reason) for failure in discovery.failures]


def names(discovery: Discovery) -> list[str]:
    return [table.label for table in discovery.tables]


def test_discovery_counts_what_is_no_table_of_delta():
    every = found("*.*", "a*", "/d/*", a="delta", v="view", p="other")
    assert names(every) == ["c.s.a", "c.t.a", "file:/d/x"]
    assert (every.not_delta.views, every.not_delta.other_formats) == (2, 3)
    assert every.unmatched == ()


def test_a_pattern_without_a_schema_is_of_the_current_one():
    assert names(found("a", a="delta")) == ["c.s.a"]
    assert names(found("x.t.a", a="delta")) == ["x.t.a"]


def test_a_glob_that_leads_nowhere_is_a_failure_unless_it_may():
    patterns = ("s.b*", "u.*", "/none/*")
    nowhere = found(*patterns, a="delta")
    assert (nowhere.tables, nowhere.unmatched) == ((), patterns)
    assert failures(nowhere) == [(pattern, "NO_TABLE_MATCHES") for pattern in patterns]
    allowed = found(*patterns, allow_empty=True, a="delta")
    assert (allowed.unmatched, allowed.failures) == (patterns, ())


def test_a_name_in_a_session_without_a_metastore_is_a_failure():
    wanted = found("memory.s.a", "memory.s.*", "s.a", allow_empty=True, a="delta")
    assert names(wanted) == ["c.s.a"]
    assert failures(wanted) == [("memory.s.a", "NO_METASTORE"), ("memory.s.*", "NO_METASTORE")]
    assert "hive, or name the table by its path" in str(wanted.failures[0].error)


def test_what_is_named_without_a_glob_is_left_to_maintain_to_refuse():
    named = found("s.b", "/none/x", "s.v", v="view")
    assert names(named) == ["c.s.b", "/none/x", "c.s.v"]
    assert (named.unmatched, named.not_delta.views) == ((), 0)


def test_a_listing_that_fails_keeps_no_other_pattern():
    half = found("broken.s.*", "s.a", a="delta")
    assert names(half) == ["c.s.a"]
    (failure,) = half.failures
    assert failure.table == "broken.s.*" and failure.error is not None
    assert (failure.error.condition, failure.error.message) == ("RuntimeError", "no such catalog")


INFORMATION = "Table: t\nType: EXTERNAL\nProvider: DELTA\nComment: {comment}\nLocation: file:/t/\n"


def test_a_listing_is_read_and_comments_deceive_nobody():
    plain = INFORMATION.format(comment="about: it")
    assert (kind_of(plain), location_of(plain)) == ("delta", "file:/t")
    posing = INFORMATION.format(comment="x\nProvider: csv\nType: VIEW\nLocation: file:/u")
    assert (kind_of(posing), location_of(posing)) == ("delta", "")
    assert kind_of("Type: VIEW\nProvider: delta\n") == "view"
    assert kind_of("Type: MANAGED\nProvider: parquet\n") == kind_of("Type: MANAGED\n") == "other"

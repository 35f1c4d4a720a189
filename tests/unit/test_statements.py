"""The statements as text: what is a value is quoted, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_upkeep._table import statements
from delta_upkeep._table.statements import Statement


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            Statement(
                "OPTIMIZE",
                full=True,
                where=("a = 1 OR b", "c"),
                columns=("x", "y.z"),
                dry_run=True,
                options={"k": "5m", "l": "it's"},
            ),
            "OPTIMIZE '/p' FULL WHERE (a = 1 OR b) AND (c) ZORDER BY (`x`, `y`.`z`) DRY RUN "
            "OPTIONS ('k' = '5m', 'l' = 'it\\'s')",
        ),
        (Statement("OPTIMIZE"), "OPTIMIZE '/p'"),
        (
            Statement("OPTIMIZE", order_by=("a.b", "`c desc`  desc", "d ASC")),
            "OPTIMIZE '/p' ORDER BY (`a`.`b`, `c desc` DESC, `d` ASC)",
        ),
        (
            Statement("CLEANUP LOG", retention_hours=36.5),
            "CLEANUP LOG '/p' RETAIN 36.500000 HOURS",
        ),
        (Statement("CLEANUP LOG", dry_run=True), "CLEANUP LOG '/p' DRY RUN"),
        (Statement("MAINTAIN", dry_run=True), "MAINTAIN '/p' DRY RUN"),
        (Statement("DESCRIBE HEALTH"), "DESCRIBE HEALTH '/p'"),
    ],
)
def test_each_clause_has_its_place(statement: Statement, text: str):
    assert statement.sql("'/p'") == text


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("t", "`t`"),
        ("c.s.t", "`c`.`s`.`t`"),
        ("delta.`/a b/``c`", "`delta`.`/a b/``c`"),
        ("täble_1", "`täble_1`"),
    ],
)
def test_a_name_is_quoted_part_by_part(text: str, quoted: str):
    assert statements.name(text) == quoted


@pytest.mark.parametrize(
    "text", ["", "t WHERE p", "a..b", "`a", "t; DROP TABLE t", "a-b", "a.", "t--"]
)
def test_what_is_no_name_is_refused(text: str):
    with pytest.raises(ValueError, match="is not a name"):
        statements.name(text)


@given(st.text())
def test_a_string_ends_where_it_ends(text: str):
    literal = statements.string(text)
    inner = literal[1:-1]
    assert literal[0] == literal[-1] == "'" and "$" not in inner
    unescaped, i = "", 0
    while i < len(inner):
        assert inner[i] != "'"
        if inner.startswith("\\u0024", i):
            unescaped, i = unescaped + "$", i + 6
        elif inner[i] == "\\":
            unescaped, i = unescaped + inner[i + 1], i + 2
        else:
            unescaped, i = unescaped + inner[i], i + 1
    assert unescaped == text

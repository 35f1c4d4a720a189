"""The docstrings of all that is public: what a function takes, returns and raises."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import delta_upkeep


def functions(owner: Any, name: str) -> Iterator[tuple[str, Any]]:
    """All public functions below a public object, with their names."""
    if inspect.ismodule(owner):
        for each in owner.__all__:
            yield from functions(getattr(owner, each), each)
    elif inspect.isclass(owner):
        ours = [base for base in owner.__mro__ if base.__module__.startswith("delta_upkeep")]
        for attribute, value in ((a, v) for base in ours for a, v in vars(base).items()):
            if not attribute.startswith("_"):
                yield from functions(getattr(value, "__func__", value), f"{name}.{attribute}")
    elif inspect.isfunction(owner):
        yield name, owner


FUNCTIONS = dict(functions(delta_upkeep, "delta_upkeep"))


def test_the_methods_of_users_are_among_them():
    assert {"UpkeepTable.maintain", "ResultRows.toResult", "MaintainResult.of", "by_family"} <= set(
        FUNCTIONS
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_returns_and_raises(name: str):
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    taken = signature.parameters.keys() - {"self", "cls"}
    if len(taken) > 1:
        assert taken == set(re.findall(r"^    (\w+): ", _section(text, "Args"), re.M))
    if signature.return_annotation != "None":
        assert _section(text, "Returns") or inspect.getsource(function).startswith(
            "@contextmanager"
        )
    source = inspect.getsource(function)
    raised = set(re.findall(r"^ +raise (\w+)\(", source, re.M))
    if re.search(r"self\._(gateway|run)\b[.(]", source):
        raised |= {"TypeError", "UpkeepError"} if "options" in taken else {"DamagedError"}
    documented = set(re.findall(r"^    (\w+): ", _section(text, "Raises"), re.M))
    if documented & {"InvalidRequestError"}:
        documented.add("UpkeepError")
    assert raised <= documented


def _section(text: str, title: str) -> str:
    found = re.search(rf"^{title}:\n(.*?)(?=^\S|\Z)", text, re.M | re.S)
    return found[1] if found else ""

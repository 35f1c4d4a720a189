"""What the benchmark counts of a table: rows that a reader gets, whatever the files hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.layout import Layout, layout_of

VECTOR = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "cardinality": 3}


def file_of(table: Path, name: str, **more: Any) -> dict[str, Any]:
    pq.write_table(pa.table({"id": range(10)}), table / name, row_group_size=5)
    return {"path": name.replace(" ", "%20"), **more}


def commit(table: Path, version: int, *actions: dict[str, Any]) -> None:
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    (table / "_delta_log" / f"{version:020}.json").write_text(lines)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two files, of which the first got a vector; a third was removed."""
    (tmp_path / "_delta_log").mkdir()
    first, second, third = (file_of(tmp_path, name) for name in ("a b", "c", "d"))
    commit(tmp_path, 0, {"add": first}, {"add": second}, {"add": third})
    hidden = {**first, "deletionVector": {**VECTOR, "offset": 1}}
    commit(tmp_path, 1, {"add": hidden}, {"remove": first}, {"remove": third})
    return tmp_path


def test_hidden_rows_do_not_count(table: Path):
    size = (table / "a b").stat().st_size + (table / "c").stat().st_size
    assert layout_of(table) == Layout(files=2, row_groups=4, rows=17, bytes=size)


def test_a_vector_replaces_another(table: Path):
    before = {"path": "a%20b", "deletionVector": {**VECTOR, "offset": 1}}
    after = {"path": "a%20b", "deletionVector": {**VECTOR, "offset": 40, "cardinality": 9}}
    commit(table, 2, {"add": after}, {"remove": before})
    assert layout_of(table).rows == 11


def test_a_log_that_lacks_commits_is_refused(table: Path):
    (table / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(ValueError, match="Commits are missing"):
        layout_of(table)

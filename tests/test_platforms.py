"""A jar for another Spark stands aside, and says which one to take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark
import pytest

from delta_upkeep.session import _JARS, _delta_package
from processes import ACTIVATED, BIN, CLEAN, COORDINATE, LINE, SCALA

pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.usefixtures("spark")]


def test_the_jar_of_another_spark_stands_aside(packages: list[str], tmp_path: Path):
    other = next(
        jar
        for jar in sorted(_JARS.glob("*.jar"))
        if f"_{LINE}_" not in jar.name and f"_{SCALA}-" in jar.name
    )
    options = [_delta_package() if option == COORDINATE else option for option in packages]
    script = (
        "CREATE TABLE t (id INT) USING delta; INSERT INTO t VALUES (41); OPTIMIZE t; "
        "SELECT id + 1 FROM t; CHECKPOINT t"
    )
    done = subprocess.run(
        [str(part) for part in (BIN / "spark-sql", *options, "--jars", other, "-e", script)],
        cwd=tmp_path,
        env={**CLEAN, **ACTIVATED},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "42" in done.stdout.splitlines(), done.stderr[-3000:]
    assert done.returncode != 0
    assert "DELTA_UPKEEP.UNSUPPORTED_SPARK" in done.stderr
    assert f"finds Spark {pyspark.__version__}" in done.stderr
    assert f"Use io.deltaupkeep:delta-upkeep_{LINE}_{SCALA}." in done.stderr

"""Every block of code in README and the guide, run as it stands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable as DeltaRs
from deltalake import write_deltalake
from pyarrow import table as rows

from support.processes import ACTIVATED, COORDINATE, REPOSITORY, ROOT, SMALL, run

pytestmark = [
    pytest.mark.xdist_group("packages"),
    pytest.mark.usefixtures("spark"),
    pytest.mark.takes_turns,
]

PAGES = ("statements", "python", "operations", "contributing")
FILES = [ROOT / "README.md", *(ROOT / f"python/docs/{page}.md" for page in PAGES)]
TEXT = "".join(file.read_text() for file in FILES)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.M | re.S)
# They show the artifact of the newest Spark.
BLOCKS = [
    (language, re.sub(r"io\.deltaupkeep:delta-upkeep_[\d._]+:[\d.]+", COORDINATE, text))
    for language, text in BLOCKS
]
LINES = [line for _, text in BLOCKS for line in text.replace("\\\n", "").splitlines() if line]

EVENTS = """
from pyspark.sql import SparkSession
from delta_upkeep import configure_spark_with_delta_upkeep

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
for day in ("2025-12-31", "2026-01-01", "2026-01-02", "2026-01-02"):
    rows = spark.range(9).selectExpr("id", "id % 3 AS device", f"DATE'{day}' AS day")
    rows.write.format("delta").partitionBy("day").mode("append").saveAsTable("events")
"""


SQL = """
-- a comment; with a semicolon
CREATE TABLE delta.`{path}` (id BIGINT) USING delta;
INSERT INTO delta.`{path}` VALUES (1);
INSERT INTO delta.`{path}` VALUES (2);
EXPLAIN OPTIMIZE delta.`{path}`;
OPTIMIZE '{path}';
CHECKPOINT '{path}' OPTIONS (partSize = 1000);
CLEANUP LOG '{path}' DRY RUN;
DESCRIBE HEALTH '{path}';
MAINTAIN '{path}';
SELECT 'rows', count(*) FROM delta.`{path}`;
"""


def line_of(command: str) -> str:
    (line,) = [line for line in LINES if line.startswith(command)]
    return line


def blocks_in(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


@pytest.mark.this_clone
def test_each_block_is_known():
    assert {language for language, _ in BLOCKS} == {"sh", "python", "text", "sql"}
    starts = [text.split(maxsplit=1)[0] for text in blocks_in("sh")]
    assert starts == ["spark-sql", "make", "delta-upkeep", "make"]


@pytest.mark.this_clone
def test_make():
    commands = [line for line in LINES if line.startswith("make ")]
    targets = {line.split()[1] for line in commands} | set(re.findall("`make ([a-z-]+)`", TEXT))
    assert targets >= {"demo", "test", "wheel", "publish-local", "dist", "help", "lint"}
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)
    output = run(["make", "demo", "DEMO_SF=0.001", "DEMO_COMMITS=6"], ROOT)
    assert "OPTIMIZE" in output and "CLEANUP LOG" in output


@pytest.mark.one_platform
def test_the_example_prints_what_stands_below_it(tmp_path: Path):
    example, *_ = blocks_in("python")
    (expected,) = blocks_in("text")
    printed = run([sys.executable, "-c", example], tmp_path).splitlines()
    # Before 4.0, Spark has Ivy say something there first.
    printed = [line for line in printed if not line.startswith(":: ")]
    assert "\n".join(printed).strip() == expected.strip()


@pytest.mark.one_platform
def test_python(tmp_path: Path):
    _, block, fleet = blocks_in("python")
    program = EVENTS + block + fleet.replace("sales.*", "default.*")
    output = run([sys.executable, "-c", program], tmp_path)
    assert "spark_catalog.default.events not due" in output
    assert "cleanup|" in output and "Health of " in output
    assert list(tmp_path.glob("spark-warehouse/events/_delta_log/*.json"))


@pytest.mark.one_platform
def test_sql(tmp_path: Path):
    statements = [part.strip() for text in blocks_in("sql") for part in text.split(";")]
    statements = [statement for statement in statements if statement]
    shown = {statement.split()[0] for statement in statements}
    assert shown >= {
        "OPTIMIZE",
        "CHECKPOINT",
        "CLEANUP",
        "VACUUM",
        "ANALYZE",
        "FSCK",
        "DESCRIBE",
        "MAINTAIN",
    }
    ran = "".join(f"spark.sql({statement!r})\n" for statement in statements)
    run([sys.executable, "-c", EVENTS + ran], tmp_path)
    log = tmp_path / "spark-warehouse/events/_delta_log"
    assert list(log.glob("*.checkpoint.parquet"))
    assert "v2Checkpoint" in "".join(file.read_text() for file in log.glob("*.json"))


FLEET = """
tables.include = ["{lake}/*"]
run.summary = "summary.json"
[spark]
"spark.master" = "local[1]"
"""


@pytest.mark.one_platform
def test_fleet(packages: list[str], tmp_path: Path):
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    lake = tmp_path / "lake"
    (tmp_path / "upkeep.toml").write_text(FLEET.format(lake=lake))
    summary = tmp_path / "summary.json"

    def statuses_after(command: str) -> list[str]:
        for name in "ab":
            write_deltalake(lake / name, rows({"id": [1]}), mode="append")
            write_deltalake(lake / name, rows({"id": [2]}), mode="append")
        run(["bash", "-c", command], tmp_path, **ACTIVATED)
        return [table["status"] for table in json.loads(summary.read_text())["tables"]]

    def files() -> list[int]:
        return [len(DeltaRs(lake / name).file_uris()) for name in "ab"]

    when, command = line_of("0 2 * * *").split("  ", 1)
    assert len(when.split()) == 5
    dry = line_of("delta-upkeep run").split("#")[0].strip()
    assert dry.removesuffix(" --dry-run") in command
    assert statuses_after(command.replace("/srv/upkeep", str(tmp_path))) == ["done", "done"]
    assert files() == [1, 1]
    found = ["--repositories", REPOSITORY.as_uri(), "--conf", ivy_of(packages)]
    submit = line_of("spark-submit").replace("--packages", " ".join([*found, "--packages"]))
    assert statuses_after(submit) == ["done", "done"]
    assert files() == [1, 1]


def ivy_of(packages: list[str]) -> str:
    return next(part for part in packages if part.startswith("spark.jars.ivy"))


def test_spark_sql(packages: list[str], tmp_path: Path):
    ivy = ivy_of(packages).replace("=", " ")
    settings = [f"spark.jars.repositories {REPOSITORY.as_uri()}", ivy, "spark.master local[1]"]
    defaults = (SMALL / "spark-defaults.conf").read_text() + "\n".join(settings)
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    (tmp_path / "maintain.sql").write_text(SQL.format(path=tmp_path / "table"))
    command = line_of("spark-sql").replace('-e "MAINTAIN events"', "-f maintain.sql")
    output = run(["bash", "-c", command], tmp_path, SPARK_CONF_DIR=str(tmp_path), **ACTIVATED)
    assert "== Maintenance Plan ==" in output
    assert "smallFiles\tok" in output
    assert [line.split("\t")[1] for line in output.splitlines()[-5:-1]] == [
        "optimize",
        "checkpoint",
        "vacuum",
        "cleanup",
    ]
    assert output.splitlines()[-1] == "rows\t2"
    assert (tmp_path / "table/_delta_log/_last_checkpoint").exists()

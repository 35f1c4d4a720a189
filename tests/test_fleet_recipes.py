"""The recipes of fleets.md, as far as they run without their schedulers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import jinja2
import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from delta_upkeep.cli.commands import _parser
from delta_upkeep.cli.run import LAST_PASS
from support.processes import ACTIVATED, BIN, ROOT, run

# Two processes that resolve one package at once are in each other's way.
pytestmark = [
    pytest.mark.xdist_group("packages"),
    pytest.mark.one_platform,
    pytest.mark.takes_turns,
]

PAGE = (ROOT / "python/docs/fleets.md").read_text(encoding="utf-8")
HOME = "/srv/upkeep"


def recipe(heading: str, language: str) -> str:
    """The first block of a language below a heading."""
    section = PAGE.split(f"\n### {heading}\n", 1)[1].split("\n### ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)
    assert found is not None
    return found[1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory with a fleet of one table, and its configuration."""
    for i in range(3):
        write_deltalake(tmp_path / "lake/x", pyarrow.table({"id": [i]}), mode="append")
    (tmp_path / "upkeep.toml").write_text(
        f'tables.include = "{tmp_path}/lake/*"\n[run]\nhistory = "{tmp_path}/history"\n'
        '[spark]\n"spark.master" = "local[1]"\n'
    )
    return tmp_path


def is_compacted(home: Path) -> bool:
    return len(DeltaTable(home / "lake/x").file_uris()) == 1


def test_cron(home: Path):
    schedule, command = recipe("cron", "text").strip().split("  ", 1)
    assert len(schedule.split()) == 5
    run(["bash", "-c", command.replace(HOME, str(home))], home, **ACTIVATED)
    assert is_compacted(home)
    assert "1 done" in (home / "upkeep.log").read_text()
    assert DeltaTable(home / "history").to_pyarrow_table().num_rows == 8
    assert (BIN / "delta-upkeep").exists()


def test_airflow(monkeypatch: pytest.MonkeyPatch):
    made: dict[str, Any] = {}

    class Dag:
        def __init__(self, name: str, **_: Any) -> None:
            made["name"] = name

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    spark = "airflow.providers.apache.spark.operators.spark_submit"
    modules = {
        "airflow.sdk": SimpleNamespace(DAG=Dag),
        spark: SimpleNamespace(SparkSubmitOperator=lambda **values: made.update(values)),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    for parent in ("airflow", "airflow.providers", "airflow.providers.apache"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    for parent in (spark.rsplit(".", 2)[0], spark.rsplit(".", 1)[0]):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    exec(compile(recipe("Airflow", "python"), "airflow", "exec"), {})
    arguments = _parser().parse_args(made["application_args"])
    assert (str(arguments.config), arguments.resume) == (f"{HOME}/upkeep.toml", LAST_PASS)
    assert (ROOT / "conf" / Path(made["application"]).name).exists()
    defaults = (ROOT / "conf/spark-defaults.conf").read_text()
    settings = dict(line.split() for line in defaults.splitlines() if line.startswith("spark."))
    assert made["conf"] == settings
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"--packages {made['packages']}" in readme


def test_dagster(spark: SparkSession, home: Path, monkeypatch: pytest.MonkeyPatch):
    class Failed(Exception):
        """What Dagster raises."""

    logged: list[str] = []
    log = SimpleNamespace(info=logged.append)
    context = SimpleNamespace(log=log)
    dagster = SimpleNamespace(
        op=lambda function: lambda: function(context),
        job=lambda function: function,
        Failure=Failed,
        OpExecutionContext=object,
        ScheduleDefinition=SimpleNamespace,
        Definitions=SimpleNamespace,
    )
    monkeypatch.setitem(sys.modules, "dagster", dagster)
    made: dict[str, Any] = {}
    exec(recipe("Dagster", "python").replace(HOME, str(home)), made)
    (schedule,) = made["defs"].schedules
    assert schedule.job in made["defs"].jobs
    schedule.job()
    assert is_compacted(home)
    assert json.loads(logged[0])["totals"]["done"] == 1
    (home / f"lake/x/_delta_log/{99:020}.json").write_text("{")
    with pytest.raises(Failed, match=r"Tables failed: file:.*/lake/x"):
        schedule.job()


def test_dbt(spark: SparkSession, home: Path):
    hook = values_of(spark, recipe("dbt", "yaml"))["on-run-end"]

    def result(name: str, status: str, kind: str, file_format: str = "delta") -> SimpleNamespace:
        config = SimpleNamespace(file_format=file_format, materialized=kind)
        return SimpleNamespace(
            status=status, node=SimpleNamespace(relation_name=name, config=config)
        )

    x = f"delta.`{home}/lake/x`"
    results = [
        result("t", "error", "table"),
        result("p", "success", "table", "parquet"),
        # A project may set the format for all of its models.
        result("v", "success", "view"),
        result(x, "success", "incremental"),
    ]
    # dbt has the statement `do` too.
    jinja = jinja2.Environment(extensions=["jinja2.ext.do"])
    rendered = jinja.from_string(recipe("dbt", "jinja") + hook).render(
        results=results, run_query=lambda sql: spark.sql(sql).collect()
    )
    # dbt would run what a hook returns.
    assert rendered.strip() == ""
    assert is_compacted(home)


def test_kubernetes(spark: SparkSession):
    job = values_of(spark, recipe("Kubernetes", "yaml"))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    program, *rest = container["command"]
    assert program == "delta-upkeep"
    arguments = _parser().parse_args(rest)
    (mount,) = container["volumeMounts"]
    assert arguments.config.parent == Path(mount["mountPath"])
    assert [volume["name"] for volume in pod["volumes"]] == [mount["name"]]


def values_of(spark: SparkSession, text: str) -> Any:
    """Read YAML, by a parser that Spark brings."""
    jvm = spark._jvm
    values = jvm.org.yaml.snakeyaml.Yaml().load(text)
    return json.loads(jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(values))

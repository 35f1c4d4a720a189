"""Against a Spark Connect server: a real process, and clients without a JVM."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.processes import ACTIVATED, CLEAN, ROOT, free_port, run

# Two processes that resolve one package at once are in each other's way.
pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.takes_turns]

LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%t] %m%n%ex
logger.adapter.name = org.apache.spark.sql.delta.upkeep
logger.adapter.level = info
"""

APPENDS = """
import os, sys, time
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
name = f"delta.`{sys.argv[2]}`"
spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta")
for i in range(1, 6):
    spark.sql(f"INSERT INTO {name} VALUES ({i})")
for i in range(6, 11):
    spark.range(i, i + 1).write.format("delta").mode("append").save(sys.argv[2])
end = time.time() + 60
while not os.path.exists(sys.argv[3]) and time.time() < end:
    time.sleep(0.1)
print("ROWS", spark.table(name).count())
"""

METHODS = """
import json, sys
if sys.argv[3] == "thin":
    import support.thin_client
from delta.connect.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from delta_upkeep import UpkeepTable, errors

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
path = sys.argv[2]
for i in range(8):
    rows = spark.range(i, i + 1).selectExpr("id", f"{i % 4} AS p")
    rows.write.format("delta").partitionBy("p").mode("append").save(path)
t = UpkeepTable.forPath(spark, path)
some = t.optimize().where("p = 0 OR p = 1").where("p > 0").option("minFileSize", "1m")
rows = {"planned": some.dryRun().first().metrics.numFilesRemoved}
done = some.executeCompaction()
rows["compacted"] = [done.first().metrics.numFilesRemoved, done.first().version, done.count()]
result = done.toResult()
rows["result"] = [result.metrics.numFilesRemoved, result.bins[0].partition, result.verified]
rows["ordered"] = t.optimize().executeZOrderBy("id").first().version
rows["checkpoint"] = t.checkpoint(policy="classic", partSize=100).first().status
rows["cleanup"] = t.cleanupLog(24 * 30.5, dryRun=True).count() > 10
rows["vacuum"] = [t.vacuum(dryRun=True).toResult().mode, t.vacuum(mode="full").first().filesDeleted]
report = t.health()
rows["health"] = [report.path.endswith("t"), len(report.checks) > 9]
rows["ids"] = sorted(row.id for row in spark.read.format("delta").load(path).collect())
try:
    t.checkpoint(format="avro")
except AnalysisException as e:
    rows["error"] = [e.getCondition(), isinstance(e, errors.InvalidRequestError)]
try:
    with errors.by_family():
        spark.sql("CHECKPOINT nowhere OPTIONS (format = 'avro')")
except AnalysisException as e:
    rows["ofSpark"] = [errors.condition_of(e), isinstance(e, errors.UpkeepError)]
name = f"named_{sys.argv[3]}"
spark.sql(f"CREATE TABLE {name} (id BIGINT) USING delta")
named = UpkeepTable.of(DeltaTable(spark, tableOrViewName=f"spark_catalog.default.{name}"))
rows["of"] = named.checkpoint(dryRun=True).toResult().version
named = UpkeepTable.forName(spark, f"spark_catalog.default.{name}")
rows["instances"] = [isinstance(named, UpkeepTable), isinstance(named, DeltaTable)]
steps = named.maintain(options={"maxFiles": 3})
rows["maintain"] = [row.step for row in steps.collect()]
rows["steps"] = [step.step for step in steps.toResult().steps]
rows["py4j"] = "py4j" in sys.modules
print("RESULT " + json.dumps(rows))
"""


class Server(NamedTuple):
    url: str
    log: Path


@pytest.fixture(scope="module")
def server(packages: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("connect")
    port = free_port()
    (root / "log4j2.properties").write_text(LOGGING)
    log = root / "server.log"
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    logging = f"-Dlog4j2.configurationFile={root / 'log4j2.properties'}"
    own = ["--conf", f"spark.connect.grpc.binding.port={port}", "--driver-java-options", logging]
    command = ["spark-submit", *packages, *own, "--class", main, "spark-internal"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=root, env={**CLEAN, **ACTIVATED}, stdout=output, stderr=output
        )
    try:
        end = time.monotonic() + 120
        while not accepts(port):
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.2)
        yield Server(f"sc://127.0.0.1:{port}", log)
    finally:
        process.terminate()
        process.wait(60)


def accepts(port: int) -> bool:
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def test_a_checkpoint_after_commits_of_a_client(server: Server, tmp_path: Path):
    table = tmp_path / "t"
    pointer = table / "_delta_log/_last_checkpoint"
    output = run([sys.executable, "-c", APPENDS, server.url, table, pointer], tmp_path)
    assert output.splitlines()[-1] == "ROWS 10"
    (line,) = re.findall(r"(.*)Checkpoint of version 10 of .*: written", server.log.read_text())
    # Not the thread that ran the client's commit.
    assert line == "[delta-upkeep-checkpoint] "


@pytest.mark.parametrize("client", ["full", "thin"])
def test_the_methods_of_a_table(server: Server, tmp_path: Path, client: str):
    # Anything may be in a path, and nothing in it is SQL.
    path = tmp_path / "it's ${a} \\ t"
    command = [sys.executable, "-c", METHODS, server.url, path, client]
    path = os.pathsep.join(filter(None, [str(ROOT / "tests"), CLEAN.get("PYTHONPATH")]))
    output = run(command, tmp_path, PYTHONPATH=path)
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    assert json.loads(line.removeprefix("RESULT ")) == {
        "planned": 2,
        "compacted": [2, 8, 1],
        "result": [2, "p=1", True],
        "ordered": 9,
        "checkpoint": "written",
        "cleanup": True,
        "vacuum": ["log", 0],
        "health": [True, True],
        "ids": list(range(8)),
        "error": ["DELTA_UPKEEP.INVALID_OPTION", True],
        "ofSpark": ["TABLE_OR_VIEW_NOT_FOUND", False],
        "of": 0,
        "instances": [True, True],
        "maintain": ["optimize", "checkpoint", "vacuum", "cleanup"],
        "steps": ["optimize", "checkpoint", "vacuum", "cleanup"],
        "py4j": client == "full",
    }

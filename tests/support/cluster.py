"""A standalone cluster of two hosts: a master and two workers, of one core each."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from support.processes import CLEAN, free_port

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER = "127.0.0.1"
# Spark starts no second copy of a task on the host of the first.
WORKERS = ("127.0.0.2", "127.0.0.3")


@contextmanager
def standalone_cluster(directory: Path) -> Iterator[str]:
    """Run a cluster whose logs are below `directory`; gives its address."""
    port = str(free_port())
    url = f"spark://{MASTER}:{port}"
    web = ["--webui-port", "0"]
    commands = {"master": ["master.Master", "--host", MASTER, "--port", port, *web]}
    for host in WORKERS:
        own = ["--host", host, "--work-dir", directory / host, "--cores", "1", "--memory", "1g"]
        commands[host] = ["worker.Worker", *own, *web, url]
    with ExitStack() as stack:
        for name, (role, *arguments) in commands.items():
            log = stack.enter_context((directory / f"{name}.log").open("w"))
            process = subprocess.Popen(
                [SPARK_CLASS, f"org.apache.spark.deploy.{role}", *map(str, arguments)],
                env={**CLEAN, "SPARK_DAEMON_MEMORY": "128m"},
                stdout=log,
                stderr=log,
            )
            stack.enter_context(process)
            stack.callback(process.terminate)
        yield url

"""A standalone cluster: a master and workers, each of them a host of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlparse

import pyspark
from pyspark.sql import SparkSession

from support.processes import CLEAN, free_port

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER = "127.0.0.1"


@contextmanager
def standalone_cluster(directory: Path, workers: int, applications: int = 1) -> Iterator[str]:
    """Run a cluster in which each worker has a core and 1 GB for each application.

    Args:
        directory: For the logs.
        workers: How many there are.
        applications: How many run at the same time.

    Yields:
        Its address.
    """
    port = str(free_port())
    url = f"spark://{MASTER}:{port}"
    web = ["--webui-port", "0"]
    commands = {"master": ["master.Master", "--host", MASTER, "--port", port, *web]}
    # Spark starts no second copy of a task on the host of the first.
    for host in (f"127.0.0.{2 + i}" for i in range(workers)):
        size = ["--cores", str(applications), "--memory", f"{applications}g"]
        own = ["--host", host, "--work-dir", str(directory / host), *size]
        commands[host] = ["worker.Worker", *own, *web, url]
    with ExitStack() as stack:
        for name, (role, *arguments) in commands.items():
            log = stack.enter_context((directory / f"{name}.log").open("w"))
            process = subprocess.Popen(
                [str(SPARK_CLASS), f"org.apache.spark.deploy.{role}", *arguments],
                env={**CLEAN, "SPARK_DAEMON_MEMORY": "128m"},
                stdout=log,
                stderr=log,
            )
            stack.enter_context(process)
            stack.callback(process.terminate)
        yield url


def jars_of(spark: SparkSession) -> list[str]:
    """List our jar and those of Delta, which PySpark does not put on a cluster's class path."""
    sent = f"{spark.conf.get('spark.jars')},{spark.conf.get('spark.files')}".split(",")
    paths = [Path(urlparse(jar).path) for jar in sent]
    return [str(path) for path in paths if path.name.startswith(("delta-upkeep", "io.delta_"))]

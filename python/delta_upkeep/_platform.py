"""What a platform has set for its sessions: settings, and a Delta on the class path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from delta_upkeep._properties import read

_JARS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_VARIABLES = ("SPARK_DIST_CLASSPATH", "SPARK_CLASSPATH", "PYSPARK_SUBMIT_ARGS")
# A coordinate, or the name of a jar.
_DELTA = re.compile(r"io\.delta:delta-spark|(?:^|[/,:=\s])delta-spark[^/,:\s]*\.jar")


def settings(spark_home: str) -> Mapping[str, str]:
    """Return what spark-submit has read, otherwise the settings of ``spark-defaults.conf``.

    A builder's options replace them.
    """
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        # A client of Spark Connect, which has no such classes, imports this module too.
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return dict(SparkConf().getAll())
    directory = os.environ.get("SPARK_CONF_DIR") or Path(spark_home, "conf")
    try:
        text = Path(directory, "spark-defaults.conf").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return read(text)


def has_delta(options: Mapping[str, str], spark_home: str) -> bool:
    """Whether the class path has Delta: Spark's own jars, these options or the environment."""
    texts = [options.get(name, "") for name in _JARS]
    texts += [os.environ.get(name, "") for name in _VARIABLES]
    if any(_DELTA.search(text) for text in texts):
        return True
    directories = {Path(spark_home, "jars"), *_directories(texts)}
    return any(any(directory.glob("delta-spark*.jar")) for directory in directories)


def _directories(texts: list[str]) -> Iterator[Path]:
    """The local directories whose jars are on the class path, as in ``/opt/delta/*``."""
    for text in texts:
        for entry in re.split(r"[:,\s]", text):
            if entry.startswith("/") and entry.endswith("/*"):
                yield Path(entry[:-2])

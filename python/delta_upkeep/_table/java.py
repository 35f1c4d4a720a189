"""The JVM classes that Python calls, as Py4J exposes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import SparkSession

from delta_upkeep.version import __version__

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject


class JavaTable(Protocol):
    """An `io.deltaupkeep.api.UpkeepTable`."""

    def run(
        self,
        kind: str,
        full: bool,
        where: list[str],
        columns: list[str],
        orderBy: list[str],
        retentionHours: float | None,
        dryRun: bool,
        options: dict[str, str],
        /,
    ) -> JavaObject:
        """Run a statement, and return a `DataFrame` of the JVM."""

    def deltaTable(self) -> JavaObject:
        """Open Delta's own table."""


class JavaProgress(Protocol):
    """A `JobProgress`: the progress of a Spark job."""

    def description(self) -> str:
        """Say what the job does."""

    def tasksDone(self) -> int:
        """Count the tasks that have ended."""

    def tasks(self) -> int:
        """Count all tasks."""

    def bytesRead(self) -> int:
        """Count the bytes that the tasks have read."""


class JavaApi(Protocol):
    """The static methods of `io.deltaupkeep.api.UpkeepTable`."""

    def forName(self, session: JavaObject, name: str, /) -> JavaTable:
        """Open a table by its name."""

    def forPath(
        self, session: JavaObject, path: str, fileSystemOptions: dict[str, str], /
    ) -> JavaTable:
        """Open a table by its path."""

    def of(self, session: JavaObject, deltaTable: JavaObject, /) -> JavaTable:
        """Take a table that Delta has opened."""

    def directories(self, session: JavaObject, glob: str, /) -> dict[str, bool]:
        """List the directories that match a glob, and whether each has a Delta log."""

    def progress(self, session: JavaObject, tag: str, /) -> JavaProgress | None:
        """Return the progress of the newest running job with a tag."""


def api_of(spark: SparkSession) -> JavaApi:
    """Find the JVM's API.

    Raises:
        RuntimeError: The jar of Delta Upkeep is not on the session's class path.
    """
    # A client of Spark Connect may have no Py4J.
    from py4j.java_gateway import JavaClass

    jvm: Any = spark._jvm
    found = jvm.io.deltaupkeep.api.UpkeepTable
    # Py4J returns a package for a class that it cannot find.
    if not isinstance(found, JavaClass):
        line, scala = (
            ".".join(version.split(".")[:2])
            for version in (spark.version, jvm.scala.util.Properties.versionNumberString())
        )
        raise RuntimeError(
            "This Spark session has no Delta Upkeep: its jar is not on the class path. Build the "
            "session with configure_spark_with_delta_upkeep(builder), or pass "
            f"--packages io.deltaupkeep:delta-upkeep_{line}_{scala}:{__version__} to spark-submit."
        )
    api: JavaApi = found
    return api

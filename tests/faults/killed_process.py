"""Runs the statement of a scenario in a process that is killed at one request to the store."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from faults.scenarios import ALL
from processes import with_faults

STARTED, DONE = "the statement starts", "the statement is done"


def main() -> None:
    """Run it: the scenario's name, the table's path and the number of the request."""
    name, path, request = sys.argv[1:]
    scenario = next(scenario for scenario in ALL if scenario.name == name)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    for key, value in scenario.settings:
        builder = builder.config(key, value)
    spark = configure_spark_with_delta_upkeep(with_faults(builder)).getOrCreate()
    print(STARTED, flush=True)
    spark._jvm.io.deltaupkeep.FaultFileSystem.arm("kill", int(request))
    spark.sql(scenario.statement.format(t=f"delta.`{path}`")).collect()
    print(DONE, flush=True)


if __name__ == "__main__":
    main()

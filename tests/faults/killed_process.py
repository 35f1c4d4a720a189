"""Runs the statement of a scenario in a process that is killed at one request to the store."""

from __future__ import annotations

import sys

from delta_upkeep import configure_spark_with_delta_upkeep
from faults.scenarios import ALL
from support.processes import small_session, with_faults

STARTED, DONE = "the statement starts", "the statement is done"


def main() -> None:
    """Run it: the scenario's name, the table's path and the number of the request."""
    name, path, request = sys.argv[1:]
    scenario = next(scenario for scenario in ALL if scenario.name == name)
    builder = small_session("1g")
    for key, value in scenario.settings.items():
        builder = builder.config(key, value)
    spark = configure_spark_with_delta_upkeep(with_faults(builder)).getOrCreate()
    print(STARTED, flush=True)
    spark._jvm.io.deltaupkeep.store.FaultFileSystem.arm("kill", int(request))
    spark.sql(scenario.statement.format(t=f"delta.`{path}`")).collect()
    print(DONE, flush=True)


if __name__ == "__main__":
    main()

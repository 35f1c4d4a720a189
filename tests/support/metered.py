"""What `/metrics/json` shows of us: `python -m support.metered DIRECTORY`.

Three applications run in one process, one after the other: two count what they do, and the third is
switched off.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import small_session

SOURCE = ".driver.deltaUpkeep."


def session(enabled: str) -> SparkSession:
    builder = configure_spark_with_delta_upkeep(small_session("1g"))
    return (
        builder.config("spark.ui.enabled", "true")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.deltaUpkeep.enabled", enabled)
        .getOrCreate()
    )


def counts(spark: SparkSession) -> dict[str, int]:
    """Read how often each of our counters and timers moved; those that never did are left out."""
    with urlopen(f"{spark.sparkContext.uiWebUrl}/metrics/json/") as answer:
        shown: dict[str, dict[str, Any]] = json.load(answer)
    return {
        name.split(SOURCE)[1]: metric["count"]
        for kind in ("counters", "timers", "histograms")
        for name, metric in shown[kind].items()
        if SOURCE in name and metric["count"]
    }


def run(spark: SparkSession, statement: str) -> None:
    try:
        spark.sql(statement).collect()
    except PySparkException as e:
        print(e, file=sys.stderr)


def main(path: Path) -> list[dict[str, int]]:
    found = []
    for enabled in ("true", "true", "false"):
        with session(enabled) as spark:
            t = f"delta.`{path}`"
            spark.sql(f"CREATE TABLE IF NOT EXISTS {t} (id BIGINT) USING delta")
            spark.sql(f"INSERT INTO {t} VALUES (1)")
            run(spark, f"CHECKPOINT {t}")
            run(spark.newSession(), f"CHECKPOINT {t}")
            run(spark, f"CHECKPOINT {t} OPTIONS (nope = 1)")
            found.append(counts(spark))
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]) / "table")))

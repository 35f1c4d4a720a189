"""Runs OPTIMIZE over S3 in a process that a test kills: the server's address, and the table's."""

from __future__ import annotations

import sys

from delta_upkeep import configure_spark_with_delta_upkeep
from stores import settings
from support.processes import small_session


def main() -> None:
    url, table = sys.argv[1:]
    builder = small_session("1g")
    for key, value in {**settings.of_session(), **settings.of_s3(url)}.items():
        builder.config(key, value)
    spark = configure_spark_with_delta_upkeep(builder).getOrCreate()
    print(spark._jvm.java.lang.ProcessHandle.current().pid(), flush=True)
    spark.sql(f"OPTIMIZE delta.`{table}`").collect()


if __name__ == "__main__":
    main()

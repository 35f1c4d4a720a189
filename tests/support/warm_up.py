"""Does a little of everything, for the JVM to archive the classes that Spark loads for it."""

from __future__ import annotations

import tempfile

from delta_upkeep import configure_spark_with_delta_upkeep
from support.processes import small_session


def main() -> None:
    spark = configure_spark_with_delta_upkeep(small_session("1g")).getOrCreate()
    with tempfile.TemporaryDirectory() as directory:
        table = f"delta.`{directory}/t`"
        spark.sql(f"CREATE TABLE {table} (id BIGINT, p INT) USING delta PARTITIONED BY (p)")
        for i in range(3):
            spark.sql(f"INSERT INTO {table} VALUES ({i}, 0)")
        spark.sql(f"DELETE FROM {table} WHERE id = 1")
        spark.sql(f"MAINTAIN {table}").collect()
        spark.sql(f"SELECT * FROM {table} ORDER BY id").collect()
    spark.stop()


if __name__ == "__main__":
    main()

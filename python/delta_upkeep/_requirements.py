"""Says what to install if PySpark or Delta is missing: the wheel requires neither."""

from __future__ import annotations

from importlib.util import find_spec


def check() -> None:
    """Look for both packages.

    Raises:
        ModuleNotFoundError: One is missing.
    """
    if find_spec("pyspark") is None:
        raise ModuleNotFoundError(
            "Delta Upkeep needs PySpark 3.5 to 4.2, which is not installed. Install pyspark and "
            "delta-spark, or use the Python of a platform that has them.",
            name="pyspark",
        )
    if find_spec("delta") is None:
        raise ModuleNotFoundError(
            "Delta Upkeep needs the Python package of Delta Lake, which is not installed. Install "
            "'delta-spark<4' beside PySpark 3.5, or delta-spark beside a newer one.",
            name="delta",
        )


check()

"""Tables that many tests begin with: built once by this process, and copied."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

_root = TemporaryDirectory(prefix="delta-upkeep-templates")
_built: dict[Hashable, Path] = {}


def copy_template(
    spark: SparkSession, to: Path, shape: Hashable, build: Callable[[Path], object]
) -> None:
    """Make a directory that is as `build` would make it.

    Args:
        spark: The session that `build` uses; what it is set to is part of the shape.
        to: The new directory.
        shape: Whatever `build` depends on.
        build: Builds it at a path, the first time that the shape is asked for.
    """
    settings = spark._jsparkSession.conf().getAll().hashCode()
    key = (shape, settings)
    if key not in _built:
        path = Path(_root.name) / str(len(_built))
        build(path)
        _built[key] = path
    # With times: those of commits go by them.
    shutil.copytree(_built[key], to)

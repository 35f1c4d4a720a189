"""Makes a process a client of Spark Connect that has no Spark and no Py4J, as pyspark-client is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LEFT_OUT = ("py4j", "pyspark.core", "pyspark.sql.classic")


class _LeftOut(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.startswith(LEFT_OUT):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return None


assert not any(name.startswith(LEFT_OUT) for name in sys.modules)
sys.meta_path.insert(0, _LeftOut())

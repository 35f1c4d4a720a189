"""The way from a table's methods to its statements: in this process, or on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pyspark.sql import DataFrame


class Gateway(Protocol):
    """Runs the statements on one table, each at once, and returns its rows."""

    def optimize(
        self,
        where: Sequence[str],
        z_order_by: Sequence[str],
        full: bool,
        dry_run: bool,
        options: Mapping[str, str],
    ) -> DataFrame:
        """Run OPTIMIZE on the files that meet all the conditions."""

    def checkpoint(self, dry_run: bool, options: Mapping[str, str]) -> DataFrame:
        """Run CHECKPOINT."""

    def cleanup_log(
        self, retention_hours: float | None, dry_run: bool, options: Mapping[str, str]
    ) -> DataFrame:
        """Run CLEANUP LOG; None stands for the table's own retention."""

    def health(self) -> DataFrame:
        """Run DESCRIBE HEALTH."""

    def maintain(self, dry_run: bool, options: Mapping[str, str]) -> DataFrame:
        """Run MAINTAIN."""

"""The bytes that a pass may rewrite."""

from __future__ import annotations


class ByteBudget:
    """What is left of a bound; each table is granted a part before it starts."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit

    @property
    def is_bounded(self) -> bool:
        """Whether there is a bound at all."""
        return self._left is not None

    def grant(self, wanted: int) -> int:
        """Set aside what is wanted, or as much as is left."""
        if self._left is None:
            return wanted
        granted = min(wanted, self._left)
        self._left -= granted
        return granted

    def give_back(self, unused: int) -> None:
        """Return what a table was granted and did not rewrite."""
        if self._left is not None:
            self._left += unused

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left == 0

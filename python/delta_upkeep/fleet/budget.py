"""The bytes that a pass may rewrite."""

from __future__ import annotations


class ByteBudget:
    """The bytes that are left. Each table is granted a part of them before it starts."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit

    @property
    def is_bounded(self) -> bool:
        """Whether there is a limit."""
        return self._left is not None

    def grant(self, wanted: int) -> int:
        """Take the bytes that a table wants, or what is left if that is less."""
        if self._left is None:
            return wanted
        granted = min(wanted, self._left)
        self._left -= granted
        return granted

    def give_back(self, unused: int) -> None:
        """Return the granted bytes that a table did not rewrite."""
        if self._left is not None:
            self._left += unused

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left == 0

"""Works on items in order, several at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Start(Generic[R]):
    """Work on the item now."""

    work: Callable[[], R]


@dataclass(frozen=True)
class Finish(Generic[R]):
    """The item needs no work: here is its result."""

    result: R


@dataclass(frozen=True)
class Wait:
    """Ask for the item again after a running one has ended."""


class Workers(Generic[T, R]):
    """Runs the work of items. An item is waiting, then running, then ended.

    Args:
        executor: Runs the work.
        limit: The number of items that may run at a time.
        decide: Called with the first waiting item and whether others are running. It may only
            return ``Wait`` if others are.
        poll: Called repeatedly while items are running.
    """

    def __init__(
        self,
        executor: Executor,
        limit: int,
        decide: Callable[[T, bool], Start[R] | Finish[R] | Wait],
        poll: Callable[[], None],
    ) -> None:
        self._executor = executor
        self._limit = limit
        self._decide = decide
        self._poll = poll
        self._waiting: deque[T] = deque()
        self._running: set[Future[R]] = set()

    def results(self, items: Iterable[T]) -> Iterator[R]:
        """Return the result of each item as soon as it has ended."""
        self._waiting.extend(items)
        while self._waiting or self._running:
            yield from self._start()
            yield from self._ended()
            if self._running:
                self._poll()

    def _start(self) -> Iterator[R]:
        """Start waiting items while there is room, and return results that need no work."""
        while self._waiting and len(self._running) < self._limit:
            decision = self._decide(self._waiting[0], bool(self._running))
            if isinstance(decision, Wait):
                return
            self._waiting.popleft()
            if isinstance(decision, Finish):
                yield decision.result
            else:
                self._running.add(self._executor.submit(decision.work))

    def _ended(self) -> Iterator[R]:
        """Wait for a running item, but not for long, and return the results of those that ended."""
        ended, self._running = wait(self._running, _POLL_SECONDS, FIRST_COMPLETED)
        for future in ended:
            yield future.result()

"""Receipts: what may be told to a subscribing link about its changes (`Applied`), site by site."""

from collections import deque
from collections.abc import Mapping
from typing import Final

MAX_PENDING: Final = 1024


class Receipts:
    """Turns marks reached upstream into the cumulative change numbers of one downstream link."""

    __slots__ = ("_last", "_pending", "_told", "applied")

    def __init__(self) -> None:
        self.applied: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._pending: dict[str, deque[tuple[int, int]]] = {}
        self._last = (0, 0)

    def record(self, n: int, marks: Mapping[str, int], default: int = 0) -> None:
        """Change `n` is done here; at a site it is installed when that site's mark is reached (`default`: others)."""
        self._last = (n, default)
        for site in {*self._pending, *marks}:
            queue = self._pending.setdefault(site, deque())
            queue.append((n, marks.get(site, default)))
            if len(queue) > MAX_PENDING:  # coarser is safe: the number is only told later
                self._pending[site] = deque(list(queue)[1::2])

    def advance(self, reached: Mapping[str, int]) -> dict[str, int] | None:
        """What to tell now; None if nothing has changed since the last time."""
        for site, mark in reached.items():
            queue = self._pending.get(site)
            if queue is None:
                queue = self._pending[site] = deque([self._last] if self._last[0] else [])
            while queue and queue[0][1] <= mark:
                self.applied[site] = queue.popleft()[0]
        if self.applied == self._told:
            return None
        self._told = dict(self.applied)
        return self._told

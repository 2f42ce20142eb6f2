"""Receipts: what a subscribing link may be told about its changes (`Applied`), site by site."""

from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Final

from .frames import Applied

MAX_PENDING: Final = 1024


class Receipts:
    """The changes of one link below, and the marks above that they wait for (see `announcer`).

    For each site there is a queue of (change, mark that it waits for), both rising. The change at its head stays when it has been told,
    because what is reached may fall. Then nothing is installed there until the marks are reached again.
    """

    __slots__ = ("_last", "_queues", "_reached", "_told")

    def __init__(self) -> None:
        self._last = (0, 0)
        self._queues: dict[str, deque[tuple[int, int]]] = {}
        self._told = Applied(0, {})
        # What was reached when it was looked at last; None where a change has been done since.
        self._reached: dict[str, int] | None = None

    def record(self, n: int, marks: Mapping[str, int], default: int = 0) -> None:
        """Notes that change `n` is done here. At a site it is installed when the site's mark is reached.

        `marks`: site -> mark. `default`: the mark of the other sites.
        """
        self._last, self._reached = (n, default), None
        for site in {*self._queues, *marks}:
            queue = self._queues.setdefault(site, deque())
            queue.append((n, marks.get(site, default)))
            if len(queue) > MAX_PENDING:  # an odd number: first and last stay; the others are told a little later
                self._queues[site] = deque(islice(queue, 0, None, 2))

    @property
    def has_any(self) -> bool:
        """Whether a change has been done."""
        return bool(self._last[0])

    def advance(self, reached: Mapping[str, int]) -> Applied | None:
        """Returns what to tell now; None if nothing has changed since the last time. `reached` names every site that is known."""
        if reached == self._reached:  # most heartbeats say nothing new, and each link would reckon that again
            return None
        self._reached = dict(reached)
        news = Applied(self._last[0], {site: self._installed(site, mark) for site, mark in reached.items()})
        if news == self._told:
            return None
        self._told = news
        return news

    def _installed(self, site: str, reached: int) -> int:
        queue = self._queues.get(site)
        if queue is None:  # a site that is heard of for the first time: all changes so far wait for what the last one waits for
            queue = self._queues[site] = deque([self._last])
        # The second one is looked at, not the first: the newest change that is reached must stay at the head.
        while len(queue) > 1 and queue[1][1] <= reached:
            queue.popleft()
        n, mark = queue[0]
        return n if mark <= reached else 0

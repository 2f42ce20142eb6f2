"""Waits: subscribe answers that are held back until the subscription is installed, or until it is late. Pure."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from infra.kernel.every_one import for_every_one

Answer = Callable[[str, list[str], float], None]


class _Wait(NamedTuple):
    mark: int
    deadline_s: float
    answer: Answer


class Waits:
    """The answers that wait, at `site`. They are called as `answer(installed, missing_sites, now_s)`."""

    def __init__(self, site: str) -> None:
        self._site = site
        self._queues: dict[str, deque[_Wait]] = {"local": deque(), "all": deque()}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, wait: str, mark: int, deadline_s: float, answer: Answer) -> None:
        """Holds `answer` back until `mark` is reached by the own site (`wait` is "local") or by all ("all"), or until `deadline_s`."""
        self._queues[wait].append(_Wait(mark, deadline_s, answer))

    def advance(self, reached: Mapping[str, int], now_s: float) -> None:
        """Answers what is installed, and what has waited long enough. Raises what went wrong with some when all are answered."""
        for_every_one(self._due(reached, now_s))

    def _due(self, reached: Mapping[str, int], now_s: float) -> Iterator[Callable[[], None]]:
        levels = {"local": reached.get(self._site, 0), "all": min(reached.values(), default=0)}
        for level, queue in self._queues.items():
            # Marks and deadlines both rise from one to the next, so who is behind one that is not due is not due either.
            while queue and (queue[0].mark <= levels[level] or queue[0].deadline_s <= now_s):
                wait = queue.popleft()
                if wait.mark <= levels[level]:
                    yield partial(wait.answer, level, [], now_s)
                else:
                    missing = sorted(site for site, mark in reached.items() if mark < wait.mark)
                    yield partial(wait.answer, "partial", missing or [self._site], now_s)

"""Waits: subscribe answers that are held back until the subscription is installed, or for two seconds."""

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
    """Marks and deadlines both rise, so each queue is in order of both. `answer(installed, missing_sites, now_s)`."""

    def __init__(self, site: str) -> None:
        self._site = site
        self._queues: dict[str, deque[_Wait]] = {"local": deque(), "all": deque()}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, wait: str, mark: int, deadline_s: float, answer: Answer) -> None:
        """Hold `answer` back until `mark` is reached by the own site ("local") or by all sites ("all")."""
        self._queues[wait].append(_Wait(mark, deadline_s, answer))

    def advance(self, reached: Mapping[str, int], now_s: float) -> None:
        """Answers what is installed, and what has waited long enough. Raises what went wrong with some when all are answered."""
        for_every_one(self._due(reached, now_s))

    def _due(self, reached: Mapping[str, int], now_s: float) -> Iterator[Callable[[], None]]:
        levels = {"local": reached.get(self._site, 0), "all": min(reached.values(), default=0)}
        for level, queue in self._queues.items():
            while queue and (queue[0].mark <= levels[level] or queue[0].deadline_s <= now_s):
                wait = queue.popleft()
                if wait.mark <= levels[level]:
                    yield partial(wait.answer, level, [], now_s)
                else:
                    missing = sorted(site for site, mark in reached.items() if mark < wait.mark)
                    yield partial(wait.answer, "partial", missing or [self._site], now_s)

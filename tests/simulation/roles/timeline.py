"""The time of a world of roles: what happens when, and what a process asks of its event loop."""

import asyncio
import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Any


class Timeline:
    """Callbacks in the order of their times. `now_s`: seconds since the beginning of the world."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._due: list[tuple[float, int, Callable[..., Any], tuple[Any, ...]]] = []
        self._number = 0

    def at(self, now_s: float, callback: Callable[..., Any], *args: Any) -> None:
        """Has `callback` called at a time."""
        self._number += 1
        heapq.heappush(self._due, (now_s, self._number, callback, args))

    def go_to(self, now_s: float) -> None:
        """Lets everything happen until a time."""
        due = self._due
        while due and due[0][0] <= now_s:
            self.now_s, _, callback, args = heapq.heappop(due)
            callback(*args)
        self.now_s = now_s

    def pass_s(self, seconds: float) -> None:
        """Lets everything happen for so long."""
        self.go_to(self.now_s + seconds)


class RoleLoop:
    """The event loop of one process, as far as roles use it. A turn comes some time after somebody has asked for it, up to `turn_s`.

    - `is_dead`: the process has been killed. It does nothing any more.
    - `owner`: what the process is; nodes find it here when they are made.
    """

    def __init__(self, timeline: Timeline, rng: random.Random, turn_s: float) -> None:
        self.is_dead = False
        self.owner: Any = None
        self._timeline, self._rng, self._turn_s = timeline, rng, turn_s
        self._ready: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()

    def within(self, work: Callable[..., Any], *args: Any) -> Any:
        """Returns what `work` returns when the process does it; None where it is dead."""
        if self.is_dead:
            return None
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)  # type: ignore[arg-type]
        try:
            return work(*args)
        finally:
            asyncio._set_running_loop(before)

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: object = None) -> None:
        """Has `callback` called in the next turn, behind all that was asked for before."""
        if not self._ready:
            self._timeline.at(self._timeline.now_s + self._rng.random() * self._turn_s, self._turn)
        self._ready.append((callback, args))

    def call_later(self, delay_s: float, callback: Callable[..., Any], *args: Any, context: object = None) -> None:
        """Has `callback` called after a time."""
        self._timeline.at(self._timeline.now_s + delay_s, self.within, callback, *args)

    def _turn(self) -> None:
        ready, self._ready = self._ready, deque()
        for callback, args in ready:
            self.within(callback, *args)

    def time(self) -> float:
        """Returns the steady clock."""
        return self._timeline.now_s

    def is_running(self) -> bool:
        """See `asyncio`."""
        return True

    def get_debug(self) -> bool:
        """See `asyncio`."""
        return False

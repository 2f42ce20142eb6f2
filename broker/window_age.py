"""The age of events in a window: up to which stamp they are too old. Pure."""

from collections import deque


class WindowAge:
    """The events of the kinds that are kept for so many `seconds`. `horizon`: up to which stamp they were dropped as too old.

    An event has no time: what was there at a tick is as old as that tick, or older.
    """

    __slots__ = ("_ticks", "horizon", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.horizon = 0
        self._ticks: deque[tuple[float, int]] = deque()

    def limit(self, now_s: float, stamp: int) -> int:
        """Returns the stamp up to which events are too old at `now_s`; `stamp` is that of this tick."""
        self._ticks.append((now_s, stamp))
        limit = self.horizon
        while self._ticks and self._ticks[0][0] <= now_s - self.seconds:
            limit = self._ticks.popleft()[1]
        return limit

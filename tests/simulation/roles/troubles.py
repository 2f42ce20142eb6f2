"""What has gone wrong in a life of roles, and whether it excuses that somebody is told of a loss."""

from collections.abc import Callable
from math import inf
from typing import Final

# All is well when this much time has passed since the last trouble, and nodes have agreed for so long.
CALMS_S: Final = 1.0
LOOKS_S: Final = 0.1


class RoleTroubles:
    """Troubles come one by one: a single one costs nobody anything, but for those that do. It is *grave* when another one is not over.

    - `unsettled()`: tells why nodes do not agree yet; empty when they do.
    - `open`: what went wrong since all was well. `is_grave`: whether events may be lost now.
    - `grave_s`, `uneasy_s`: when it was grave, and when anything at all was not as it is to be, for the last time.
    - `apart_s`: when brokers of one site could serve the same topics apart for the last time.
    """

    def __init__(self, now: Callable[[], float], unsettled: Callable[[], str]) -> None:
        self.open: list[str] = []
        self.is_grave = True
        self.grave_s, self.uneasy_s, self.apart_s = -inf, 0.0, -inf
        self._now, self._unsettled = now, unsettled
        self._last_s, self._calm_s = 0.0, inf
        self._is_apart = False

    def begin(self) -> None:
        """Notes that the site has begun, and nothing is wrong."""
        self.is_grave = False

    def add(self, what: str, *, is_grave: bool = False, is_apart: bool = False) -> None:
        """Notes that something goes wrong which may add up with something else. `is_grave`: it costs events by itself."""
        self.mention()
        if is_grave or self.open or self._unsettled():
            self.is_grave, self.grave_s = True, self._now()
        self._is_apart = self._is_apart or is_apart
        self.open.append(what)

    def mention(self) -> None:
        """Notes that something goes wrong that costs nobody anything, alone or with anything else."""
        self._last_s = self.uneasy_s = self._now()

    def look(self) -> None:
        """Looks whether all is well by now; is called every `LOOKS_S`."""
        now_s, why = self._now(), self._unsettled()
        if self.is_grave:
            self.grave_s = now_s
        if why:
            self._calm_s = inf
        else:
            self._calm_s = min(self._calm_s, now_s)
            self._end_what_is_over(now_s)
        if self.open or why:
            self.uneasy_s = now_s
        if self._is_apart:
            self.apart_s = now_s

    def _end_what_is_over(self, now_s: float) -> None:
        if now_s - max(self._last_s, self._calm_s) > CALMS_S:
            self.open.clear()
            self._is_apart = False
        self.is_grave = self.is_grave and bool(self.open)

    def was_grave_since(self, since_s: float) -> bool:
        """Returns whether events may have been lost since a time."""
        return self.is_grave or self.grave_s >= since_s

    def was_uneasy_since(self, since_s: float) -> bool:
        """Returns whether anything at all was not as it is to be since a time."""
        return bool(self.open) or self.uneasy_s >= since_s

"""Rates: how much somebody may do in a time, as token buckets. Pure.

A bucket holds at most `burst` tokens, and gets `per_s` of them a second. Who does something takes tokens. The state of a bucket is
one number: the time at which it will be full again. So a bucket that is full is one that nobody has used, and may be forgotten.
"""

from collections.abc import Hashable
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from .errors import Refused

K = TypeVar("K", bound=Hashable)

LONG_AGO_S: Final = float("-inf")
# Sums of fractions are not exact, and nobody shall wait for a rounding error.
TINY_S: Final = 1e-9
# How many of the keys that were not used for the longest are looked at for one that can be forgotten without a loss.
LOOKED_AT: Final = 8


class Rate(NamedTuple):
    """A rate. Both numbers are over 0; `burst` is what may come at once after a pause."""

    per_s: float
    burst: float

    def full_s(self, full_s: float, now_s: float, cost: float) -> float:
        """Returns when a bucket will be full that would be full at `full_s`, after `cost` is taken from it at `now_s`."""
        return max(full_s, now_s) + cost / self.per_s

    def wait_s(self, full_s: float, now_s: float, cost: float) -> float:
        """Returns how long it takes from `now_s` until a bucket that will be full at `full_s` holds `cost` tokens, or is full."""
        missing_s = max(full_s - now_s, 0.0) + (min(cost, self.burst) - self.burst) / self.per_s
        return missing_s if missing_s > TINY_S else 0.0


class Bucket:
    """One bucket, which is full at first. Time never goes back."""

    __slots__ = ("_full_s", "_rate")

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._full_s = LONG_AGO_S

    def allow(self, now_s: float, cost: float = 1) -> float:
        """Takes `cost` tokens and returns 0 if they are there. Else takes nothing and returns how many seconds to wait.

        What costs more than a burst is allowed when the bucket is full, and leaves it in debt.
        """
        wait_s = self._rate.wait_s(self._full_s, now_s, cost)
        if not wait_s:
            self._full_s = self._rate.full_s(self._full_s, now_s, cost)
        return wait_s

    def take(self, now_s: float, cost: float = 1) -> float:
        """Takes `cost` tokens for what has happened already, whether they are there or not. Returns how long the debt lasts, in seconds."""
        self._full_s = self._rate.full_s(self._full_s, now_s, cost)
        return self._rate.wait_s(self._full_s, now_s, 0)


class Buckets(Generic[K]):
    """A bucket of the same rate for each key, and no more than `size` of them.

    Buckets that are full are forgotten first. If there are more keys in use than there is room, those that were not used for the
    longest are forgotten, and begin anew.
    """

    __slots__ = ("_full_s", "_rate", "_size")

    def __init__(self, rate: Rate, size: int) -> None:
        self._rate, self._size = rate, size
        self._full_s: dict[K, float] = {}  # in the order of their last use

    def __len__(self) -> int:
        return len(self._full_s)

    def allow(self, key: K, now_s: float, cost: float = 1) -> float:
        """Does for the bucket of `key` what `Bucket.allow` does."""
        full_s = self._full_s.get(key, LONG_AGO_S)
        wait_s = self._rate.wait_s(full_s, now_s, cost)
        if not wait_s:
            self._full_s.pop(key, None)
            self._make_room(now_s)
            self._full_s[key] = self._rate.full_s(full_s, now_s, cost)
        return wait_s

    def _make_room(self, now_s: float) -> None:
        oldest = list(islice(self._full_s.items(), LOOKED_AT))
        full = [key for key, full_s in oldest if full_s <= now_s]
        # Two for the one that comes, so that a map that was large becomes small again.
        for key in full[:2]:
            del self._full_s[key]
        if len(self._full_s) >= self._size:
            del self._full_s[oldest[0][0]]


class RateRefused(Refused):
    """A refusal of somebody who does too much, with the seconds after which it would be taken."""

    def __init__(self, wait_s: float, reason: str, name: str = "rate-limited") -> None:
        super().__init__(name, reason)
        self.wait_s = wait_s

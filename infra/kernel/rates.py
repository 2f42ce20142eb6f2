"""Rates: how much somebody may do in a time, as token buckets. Pure.

A bucket holds at most `burst` tokens, and gets `per_s` of them a second. Who does something takes tokens. The state of a bucket is
one number: the time at which it will be full again. So a bucket that is full is one that nobody has used, and may be forgotten.
"""

from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Final, Generic, NamedTuple, Self, TypeVar

from .errors import Refused

K = TypeVar("K", bound=Hashable)

LONG_AGO_S: Final = float("-inf")
# What may come at once after a pause, unless somebody says something else: as much as in so many seconds.
BURST_S: Final = 2.0
# Sums of fractions are not exact, and nobody shall wait for a rounding error.
TINY_S: Final = 1e-9
# Buckets that are full are looked for once in so many uses at most.
FEWEST_USES: Final = 256


class Rate(NamedTuple):
    """A rate. Both numbers are over 0; `burst` is what may come at once after a pause."""

    per_s: float
    burst: float

    @classmethod
    def of(cls, per_s: float) -> Self:
        """Returns the usual rate of so many a second: after a pause, as many as in `BURST_S` may come at once."""
        return cls(per_s, per_s * BURST_S)

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

    Buckets that are full are forgotten first, all of them once in so many uses. If there are more keys in use than there is room, some of
    those that were not used for the longest are forgotten, and begin anew.
    """

    __slots__ = ("_full_s", "_rate", "_size", "_uses")

    def __init__(self, rate: Rate, size: int) -> None:
        self._rate, self._size = rate, size
        self._full_s: dict[K, float] = {}  # in the order of their last use
        self._uses = FEWEST_USES  # until full buckets are looked for

    def __len__(self) -> int:
        return len(self._full_s)

    def allow(self, key: K, now_s: float, cost: float = 1) -> float:
        """Does for the bucket of `key` what `Bucket.allow` does."""
        full_s = self._full_s.get(key, LONG_AGO_S)
        wait_s = self._rate.wait_s(full_s, now_s, cost)
        if not wait_s:
            self._full_s.pop(key, None)
            self._full_s[key] = self._rate.full_s(full_s, now_s, cost)
            self._used(1, now_s)
        return wait_s

    def wait_s(self, key: K, now_s: float) -> float:
        """Returns how long it takes until the bucket of `key` holds a token, and takes nothing."""
        return self._rate.wait_s(self._full_s.get(key, LONG_AGO_S), now_s, 1)

    def allow_each(self, keys: Sequence[K], now_s: float) -> dict[int, float]:
        """Takes one token for each of `keys`, as `allow` does one after the other. Returns those that have to wait: position -> seconds."""
        buckets, rate = self._full_s, self._rate
        waits_s: dict[int, float] = {}
        first_s = rate.full_s(LONG_AGO_S, now_s, 1)
        for position, key in enumerate(keys):
            full_s = buckets.get(key, LONG_AGO_S)
            if full_s <= now_s:  # a full bucket, as nearly all are: this is all that most events cost
                buckets.pop(key, None)
                buckets[key] = first_s
            elif wait_s := rate.wait_s(full_s, now_s, 1):
                waits_s[position] = wait_s
            else:
                del buckets[key]
                buckets[key] = rate.full_s(full_s, now_s, 1)
        self._used(len(keys), now_s)
        return waits_s

    def _used(self, uses: int, now_s: float) -> None:
        self._uses -= uses
        if self._uses <= 0 or len(self._full_s) > self._size:
            self._make_room(now_s)

    def _make_room(self, now_s: float) -> None:
        """Forgets the buckets that are full. The next time comes after as many uses as are left, so a use costs the same in a large map."""
        self._full_s = {key: full_s for key, full_s in self._full_s.items() if full_s > now_s}
        if (over := len(self._full_s) - self._size) > 0:
            # An eighth more than need be, or every new key would have to look at all.
            for key in list(islice(self._full_s, over + self._size // 8)):
                del self._full_s[key]
        self._uses = max(FEWEST_USES, len(self._full_s))


class RateRefused(Refused):
    """A refusal of somebody who does too much, with the seconds after which it would be taken."""

    def __init__(self, wait_s: float, reason: str, name: str = "rate-limited") -> None:
        super().__init__(name, reason)
        self.wait_s = wait_s

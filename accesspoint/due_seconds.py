"""Due seconds: things that are due at some time, in a bucket for each second. Pure.

A heap has the seconds. A thing that comes, goes or is put off costs the same however many others there are, and nothing of it stays
behind. No thing has a timer of its own.
"""

from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_SPARE: Final = 64


class DueSeconds(Generic[T]):
    """The things by the second in which they are due. Whoever adds one remembers the second; a thing is no dictionary."""

    __slots__ = ("_buckets", "_seconds")

    def __init__(self) -> None:
        # Far from now, most things have a second of their own, and a dictionary for each would cost more than all the rest.
        self._buckets: dict[int, T | dict[T, None]] = {}
        self._seconds: list[int] = []  # a heap of the keys; a second whose bucket is gone may be there, or be there twice

    def __len__(self) -> int:
        """Returns how many seconds are kept in which something is due, or would have been."""
        return len(self._seconds)

    def add(self, thing: T, second: int) -> None:
        """Has `thing` be due in `second`."""
        bucket = self._buckets.get(second)
        if bucket is None:
            self._buckets[second] = thing
            heappush(self._seconds, second)
        elif isinstance(bucket, dict):
            bucket[thing] = None
        else:
            self._buckets[second] = {bucket: None, thing: None}

    def remove(self, thing: T, second: int) -> None:
        """Forgets `thing`, which was added with this `second`. One that is not there does no harm."""
        bucket = self._buckets.get(second)
        if isinstance(bucket, dict):
            bucket.pop(thing, None)
            if bucket:
                return
        elif bucket is None or bucket != thing:
            return
        del self._buckets[second]
        if len(self._seconds) > 2 * len(self._buckets) + _SPARE:
            # Most of the heap are seconds of what is gone: rebuilding costs less than what has come and gone meanwhile.
            self._seconds = list(self._buckets)
            heapify(self._seconds)

    def take(self, now_s: float, most: int) -> list[T]:
        """Removes and returns what is due at `now_s`, `most` at once. The rest is due the next time."""
        taken: list[T] = []
        while self._seconds and self._seconds[0] <= now_s and len(taken) < most:
            bucket = self._buckets.get(self._seconds[0])
            if isinstance(bucket, dict) and bucket:
                taken.append(bucket.popitem()[0])
                continue
            if bucket is not None and not isinstance(bucket, dict):
                taken.append(bucket)
            self._buckets.pop(heappop(self._seconds), None)
        return taken

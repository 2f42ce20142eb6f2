"""Shards: which part of the log a follower's rows go to, and when a row was written (design 7). Pure.

A follower belongs to one of `SHARDS`, for ever: the one worker that owns the shard gives out the follower's marks. Each
shard has two lanes, so one event to a million followers does not stand before another to fifty.

The number of a row is the microsecond in which it was written, or one more than the last number if that is not later. So
numbers rise although a clock jumps back, rows of one time lie together in a *bucket*, and each bucket is read once.
"""

from collections.abc import Iterable
from typing import Final
from zlib import crc32

SHARDS: Final = 64
LANES: Final = 2
PARTS: Final = SHARDS * LANES
# From so many followers on, an event goes by the lane for bulk.
BULK_FROM: Final = 1000
BUCKET_US: Final = 600 * 1_000_000
US_PER_MS: Final = 1000


def shard_of(user: str) -> int:
    """Returns the shard of `user`. CRC-32 spreads names as evenly as a cryptographic hash does, at a tenth of the time."""
    return crc32(user.encode()) % SHARDS


def part_of(shard: int, is_bulk: bool) -> int:
    """Returns the part of the log for a shard and a lane."""
    return shard + SHARDS * is_bulk


def shard_of_part(part: int) -> int:
    """Returns the shard that a part of the log belongs to."""
    return part % SHARDS


def is_bulk(part: int) -> bool:
    """Returns whether a part is a lane for bulk."""
    return part >= SHARDS


def bucket_of(n: int) -> int:
    """Returns the bucket in which the row with number `n` lies."""
    return n // BUCKET_US


class Clock:
    """The source of row numbers for one part of the log: each is above all before it."""

    __slots__ = ("last",)

    def __init__(self, last: int = 0) -> None:
        self.last = last

    def take(self, count: int, now_ms: int) -> range:
        """Returns `count` numbers in a row, from the time `now_ms` on or above the last."""
        start = max(self.last + 1, now_ms * US_PER_MS)
        self.last = start + count - 1
        return range(start, start + count)


def by_shard(users: Iterable[str]) -> dict[int, list[str]]:
    """Returns `users` by their shards."""
    shards: dict[int, list[str]] = {}
    for user in users:
        shards.setdefault(shard_of(user), []).append(user)
    return shards

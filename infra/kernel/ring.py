"""The hash ring: which slot owns a topic.

uhashring lays the points out. This class makes the ring an immutable value whose answer depends on the set of slots alone, and looks keys
up by bisection, without what uhashring keeps for each key. The hash is blake2b, never the built-in one: that is salted, and two
processes would disagree.
"""

from bisect import bisect_right
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from uhashring import HashRing

# Points of a slot. With 128 the fullest of 16 slots has up to 1.28 times the mean share; SB-19 allows 1.25.
POINTS: Final = 256


def hash64(key: bytes | str) -> int:
    """Returns a 64-bit hash of `key`, the same in every process."""
    data = key.encode() if isinstance(key, str) else key
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


class Ring:
    """An immutable consistent-hash ring over slot names (SB-17, SB-19, SB-20)."""

    __slots__ = ("_owners", "_points", "slots")

    def __init__(self, slots: Iterable[str], points: int = POINTS) -> None:
        self.slots: tuple[str, ...] = tuple(sorted(set(slots)))  # two slots may share a point; then the order decides
        layout = HashRing(list(self.slots), hash_fn=hash64, vnodes=points).get_points() if self.slots else []
        self._points: list[int] = [point for point, _ in layout]
        self._owners: list[str] = [owner for _, owner in layout]

    def owner(self, key: bytes) -> str | None:
        """Returns the slot that owns `key`; None on an empty ring."""
        return self.owner_at(hash64(key))

    def owner_at(self, hashed: int) -> str | None:
        """Returns the slot that owns a key with this hash; None on an empty ring."""
        if not self._points:
            return None
        # The next point clockwise; behind the last one comes the first.
        return self._owners[bisect_right(self._points, hashed) % len(self._points)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ring) and (self._points, self._owners) == (other._points, other._owners)

    def __hash__(self) -> int:
        return hash((tuple(self._points), tuple(self._owners)))

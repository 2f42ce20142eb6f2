"""Bounded memories of what came or was used lately, in two generations. Pure.

When the young generation is full it becomes the old one, and what was old is forgotten. So a memory of size n knows the last n entries for
sure, and never more than twice as many. An LRU would be exact, and would have to reorder its entries on every hit.
"""

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
G = TypeVar("G")

RECENT_IDS: Final = 1 << 16


class _Generations(Generic[G]):
    """The young generation, which grows to `size`, and the old one; `empty` makes a new one."""

    __slots__ = ("_empty", "_old", "_size", "young")

    def __init__(self, size: int, empty: Callable[[], G]) -> None:
        # Public for the hot path: a hit there is one `young.get`.
        self.young = empty()
        self._old = empty()
        self._size, self._empty = size, empty

    def _turn(self) -> None:
        self.young, self._old = self._empty(), self.young


class Recent(_Generations[dict[K, V]]):
    """Values of the keys that were used lately. To use a value is to take it and add it again; then it is young."""

    __slots__ = ()

    def __init__(self, size: int) -> None:
        super().__init__(size, dict)

    def take(self, key: K) -> V | None:
        """Removes `key` and returns its value, None where it is not known."""
        young, old = self.young.pop(key, None), self._old.pop(key, None)
        return old if young is None else young

    def add(self, key: K, value: V) -> None:
        """Remembers `value`, as young."""
        if len(self.young) >= self._size:
            self._turn()
        self.young[key] = value


class RecentIds(_Generations[set[bytes]]):
    """Ids that came lately. To see one again does not make it young."""

    __slots__ = ()

    def __init__(self, size: int = RECENT_IDS) -> None:
        super().__init__(size, set)

    def __iter__(self) -> Iterator[bytes]:
        """Returns those that are known now, the older ones first."""
        return iter([*self._old, *self.young])

    def forget(self, key: bytes) -> None:
        """Forgets `key`: it has not come after all."""
        self.young.discard(key)
        self._old.discard(key)

    def seen(self, key: bytes) -> bool:
        """Returns whether `key` came lately; from now on it did."""
        young = self.young
        if key in young or key in self._old:
            return True
        young.add(key)
        if len(young) >= self._size:
            self._turn()
        return False

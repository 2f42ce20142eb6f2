"""A bounded memory of what was used lately."""

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """At most twice `size` entries. When the young generation is full it becomes the old one, and the old one is forgotten; what is
    taken and added again is young. So a hit costs what `young.get` costs, where an LRU would reorder on every hit."""

    def __init__(self, size: int) -> None:
        self.young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._size = size

    def take(self, key: K) -> V | None:
        """Removes `key` and returns its value, None where it is not known."""
        young, old = self.young.pop(key, None), self._old.pop(key, None)
        return old if young is None else young

    def add(self, key: K, value: V) -> None:
        """Remembers `value`, as young."""
        if len(self.young) >= self._size:
            self.young, self._old = {}, self.young
        self.young[key] = value

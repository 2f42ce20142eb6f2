"""Lingering: topics that the last one has left, and that are recorded for some time more. Pure."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from infra.kernel.topics import Kind, Topic, kind_of


class Lingering:
    """The (row, topic) pairs that nobody follows, by kind, in the order in which they were left. Who is left again waits anew.

    What has followers again by the time that it is due is the caller's business.
    """

    __slots__ = ("_kinds",)

    def __init__(self) -> None:
        # Row -> topic, and the stamp of the window at which it was left.
        self._kinds: dict[Kind, OrderedDict[int, tuple[Topic, int]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kinds.values()))

    def add(self, rows: Iterable[tuple[int, Topic]], stamp: int) -> None:
        """Adds `rows`, which were left at `stamp`."""
        for row, topic in rows:
            queue = self._kinds.setdefault(kind_of(topic), OrderedDict())
            queue[row] = (topic, stamp)
            queue.move_to_end(row)

    def due(self, horizon: Callable[[Kind], int]) -> Iterator[tuple[int, Topic]]:
        """Yields what was left before the `horizon` of its kind: nobody who followed it then can be served from there any more."""
        for kind, queue in self._kinds.items():
            limit = horizon(kind)
            while queue:
                row, (topic, stamp) = next(iter(queue.items()))
                if stamp >= limit:
                    break
                del queue[row]
                yield row, topic

    def pairs(self) -> list[tuple[int, Topic]]:
        """Returns what is here."""
        return [(row, topic) for queue in self._kinds.values() for row, (topic, _) in queue.items()]

    def take(self, pairs: Iterable[tuple[int, Topic]]) -> list[tuple[int, Topic]]:
        """Takes out what of `pairs` is still here, and returns it."""
        found = []
        for row, topic in pairs:
            queue = self._kinds.get(kind_of(topic))
            if queue and row in queue and queue[row][0] == topic:  # the number may be another topic's by now
                del queue[row]
                found.append((row, topic))
        return found

"""Follower gains: about how many sessions follow each topic here, told to the aggregator. Pure (DPS-20)."""

from collections.abc import Iterable, Sequence

from infra.kernel.gains import Gains, settled
from infra.kernel.topics import Topic

from .hub import Hub


class FollowerGains:
    """The gains of the topics of `hub`. A topic that sessions begin or cease to follow is looked at when `changed` is called next."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._gains = Gains()
        self._touched: set[Topic] = set()

    def touch(self, topics: Iterable[Topic]) -> None:
        """Notes that sessions have begun or ceased to follow `topics`."""
        self._touched.update(topics)

    def of(self, rows: Sequence[int]) -> bytes:
        """Returns the gains of `rows` as they are told."""
        return self._gains.told(rows)

    def changed(self) -> list[tuple[int, Topic]]:
        """Returns the (row, topic) of which another gain has to be told than before, and notes that it is."""
        touched, self._touched = self._touched, set()
        return [(row, topic) for topic in touched if (row := self._look(topic)) is not None]

    def _look(self, topic: Topic) -> int | None:
        row = self._hub.topics.get(topic)
        if row is None:
            return None
        before, now = self._gains[row.handle], settled(self._gains[row.handle], len(row))
        self._gains[row.handle] = now
        # What a first follower is worth was told with the topic.
        return row.handle if row and now != (before or 1) else None

"""How many events each topic had that this broker owns, since the decision service asked last. Pure."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from infra.kernel.assignment import may_leave
from infra.kernel.events import Event
from infra.kernel.frames import Tally
from infra.kernel.topics import Topic

# A count costs about two hundred bytes.
MAX_TOPICS: Final = 1 << 20
# As many of the longest topics fit into a frame of a link.
BULK: Final = 4096


class TopicCounts:
    """The counts of topics that may be offloaded, at most `max_topics`; events of further ones are `missed`."""

    def __init__(self, max_topics: int = MAX_TOPICS) -> None:
        self.missed = 0
        self._max_topics = max_topics
        self._counts: dict[Topic, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def event(self, event: Event) -> None:
        """Counts one more `event`."""
        topic = event.topic
        count = self._counts.get(topic)
        if count is not None:
            self._counts[topic] = count + 1
        elif may_leave(topic):
            if len(self._counts) < self._max_topics:
                self._counts[topic] = 1
            else:
                self.missed += 1

    def take(self) -> Iterator[tuple[Tally]]:
        """Returns everything, in frames of `BULK` topics at most; counting begins anew when the first is asked for."""
        # A generator: nothing is taken until the first frame is wanted. What is counted while they are sent is told the next time.
        counts, self._counts = self._counts, {}
        items = iter(counts.items())
        while some := list(islice(items, BULK)):
            yield (Tally([topic for topic, _ in some], [count for _, count in some]),)

    def clear(self) -> None:
        """Forgets all counts: nobody wants to know."""
        self._counts = {}

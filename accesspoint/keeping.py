"""Keeping: what the brokers of a site keep of the past, as they have told. Pure."""

from collections.abc import Iterable

from infra.kernel.frames import Keeps
from infra.kernel.topics import Topic, tag_of


class Keeping:
    """The kinds of topics whose events are kept.

    - `kinds`: kind -> what of them, and for how long; empty while nobody has told.
    - `longest_s`: for how long any of them are.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, dict[str, object]] = {}
        self.longest_s = 0.0
        self._tags: frozenset[int] = frozenset()

    def learn(self, frame: Keeps) -> None:
        """Takes over what an aggregator tells."""
        self.kinds = {kind: {"keep": keep, "seconds": seconds} for kind, (keep, seconds) in frame.kinds.items()}
        self.longest_s = max((seconds for _, seconds in frame.kinds.values()), default=0.0)
        self._tags = frozenset(tag for kind in self.kinds if (tag := tag_of(kind)) is not None)

    def has(self, topic: Topic) -> bool:
        """Returns whether events of `topic` are kept."""
        return topic[0] in self._tags

    def others(self, topics: Iterable[Topic]) -> list[Topic]:
        """Returns those of `topics` whose events are not kept."""
        tags = self._tags
        return [topic for topic in topics if topic[0] not in tags]

"""Friend topics: what one session follows because it is of friends. Pure.

A topic may be followed for two reasons: because it is of a friend, and because the client has named it. It ends with the last reason.
"""

from collections.abc import Callable, Iterable

from infra.kernel.topics import Topic


class FriendTopics:
    """The topics of friends that a session follows.

    - `is_standing`: whether it follows all of them, also those to come; otherwise only those that it has named as such.
    - `recovers`: whether it wants to hear when it may miss something of them.
    - `todo`: those that it is to follow, and does not yet; `beyond`: those for which it has no room.
    - `gained`: those that it follows, and has not been told of. `waiting`: is called when it has been told.
    - `is_busy`: whether some of `todo` are on their way.
    """

    __slots__ = (
        "_named",
        "beyond",
        "gained",
        "is_busy",
        "is_standing",
        "recovers",
        "todo",
        "told_beyond",
        "told_whole",
        "topics",
        "waiting",
    )

    def __init__(self) -> None:
        self.is_standing = self.recovers = self.is_busy = False
        self.topics: dict[Topic, None] = {}
        self._named: set[Topic] = set()
        self.todo: dict[Topic, None] = {}
        self.beyond: dict[Topic, None] = {}
        self.gained: dict[Topic, None] = {}
        self.waiting: list[Callable[[], None]] = []
        self.told_beyond, self.told_whole = 0, True

    def begin(self, topic: Topic, *, is_named: bool) -> None:
        """Notes that `topic` is followed, or about to be. `is_named`: the client has named it before."""
        if topic not in self.topics:
            self.topics[topic] = None
            if is_named:
                self._named.add(topic)

    def name(self, topics: Iterable[Topic]) -> None:
        """Notes that the client has named `topics` itself."""
        self._named.update(topic for topic in topics if topic in self.topics)

    def unname(self, topics: Iterable[Topic]) -> set[Topic]:
        """Notes that the client wants `topics` no more for themselves. Returns those that stay because they are of friends."""
        kept = {topic for topic in topics if topic in self.topics}
        self._named -= kept
        return kept

    def forget(self, topics: Iterable[Topic]) -> list[Topic]:
        """Forgets `topics`, which are not of friends any more. Returns those that nothing else keeps."""
        gone = [topic for topic in topics if topic in self.topics]
        alone = [topic for topic in gone if topic not in self._named]
        for topic in gone:
            del self.topics[topic]
            self._named.discard(topic)
            self.gained.pop(topic, None)
        return alone

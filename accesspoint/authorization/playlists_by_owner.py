"""The playlists of each owner that somebody here follows, so that nobody has to look through all topics. Pure."""

from collections.abc import Iterable

from infra.kernel.topics import PLAYLIST_TAG, Topic, owner_of


class PlaylistsByOwner:
    """Owner -> their topics. As a rule it is one, which is kept as it is; several are a set."""

    __slots__ = ("_topics",)

    def __init__(self) -> None:
        self._topics: dict[str, Topic | set[Topic]] = {}

    def __len__(self) -> int:
        """Returns the number of owners."""
        return len(self._topics)

    def of(self, owner: str) -> Iterable[Topic]:
        """Returns the followed playlists of `owner`."""
        found = self._topics.get(owner, ())
        return (found,) if isinstance(found, bytes) else found

    def wanted(self, topics: Iterable[Topic]) -> None:
        """Adds topics that somebody has begun to follow; those that are no playlists are passed over."""
        for topic in topics:
            if topic[0] == PLAYLIST_TAG:
                self._add(owner_of(topic), topic)

    def _add(self, owner: str, topic: Topic) -> None:
        found = self._topics.setdefault(owner, topic)
        if isinstance(found, set):
            found.add(topic)
        elif found != topic:
            self._topics[owner] = {found, topic}

    def unwanted(self, topics: Iterable[Topic]) -> None:
        """Forgets topics that nobody follows any more."""
        for topic in topics:
            if topic[0] == PLAYLIST_TAG:
                self._remove(owner_of(topic), topic)

    def _remove(self, owner: str, topic: Topic) -> None:
        found = self._topics.get(owner)
        if isinstance(found, set):
            found.discard(topic)
            if len(found) == 1:
                (self._topics[owner],) = found
        elif found == topic:
            del self._topics[owner]

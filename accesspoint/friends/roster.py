"""Roster: the friends of one user and their playlists, as the services have told them. Pure.

A friend is a user whom the user follows. A playlist counts if the user follows it and its owner is a friend (SB-6).
"""

from collections.abc import Collection, Iterable, Iterator

from infra.kernel.roles import SOCIAL
from infra.kernel.topics import Kind, Topic, kind_of, owner_of, user_topic


class Roster:
    """The friends of `user` and their playlists."""

    __slots__ = ("_friends", "_playlists", "_user")

    def __init__(self, user: str) -> None:
        self._user = user
        self._friends: dict[str, None] = {}
        self._playlists: dict[str, dict[Topic, None]] = {}

    def read(self, service: str, owners: Collection[str] | None, topics: Iterable[Topic]) -> None:
        """Takes what the user follows of `owners` (None: of all), as `service` has told it: users or playlists."""
        held = self._friends if service == SOCIAL else self._playlists
        for owner in list(held) if owners is None else owners:
            held.pop(owner, None)
        for topic in topics:
            if (owner := owner_of(topic)) != self._user:
                self._add(owner, topic)

    def _add(self, owner: str, topic: Topic) -> None:
        if kind_of(topic) is Kind.USER:
            self._friends[owner] = None
        else:
            self._playlists.setdefault(owner, {})[topic] = None

    def is_friend(self, owner: str) -> bool:
        """Returns whether `owner` is a friend."""
        return owner in self._friends

    def has(self, topic: Topic) -> bool:
        """Returns whether `topic` is that of a friend, or of a playlist of theirs."""
        owner = owner_of(topic)
        return owner in self._friends and (kind_of(topic) is Kind.USER or topic in self._playlists.get(owner, ()))

    def topics(self, owners: Collection[str] | None = None) -> list[Topic]:
        """Returns what is to be followed of `owners` (None: of all friends): first the feeds, then the playlists."""
        friends = [owner for owner in (self._friends if owners is None else owners) if owner in self._friends]
        return [*map(user_topic, friends), *self._playlists_of(friends)]

    def _playlists_of(self, friends: Iterable[str]) -> Iterator[Topic]:
        return (topic for owner in friends for topic in self._playlists.get(owner, ()))

"""The watchers of a client: parts of the SDK that hear of a topic themselves, beside the application."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Protocol

from segue.sdk.messages import Ended, Event

_LOG: Final = logging.getLogger("segue.sdk.client")


class TopicWatcher(Protocol):
    """A part that hears of one topic. What its methods raise is logged."""

    def heard(self, event: Event) -> None:
        """Takes an event of the topic."""

    def missed(self) -> None:
        """Takes note that something of the topic may be missing."""

    def ended(self, code: str, reason: str) -> None:
        """Takes note that the user may not see the topic any more. It hears no more of it."""


class Watchers:
    """The watchers of a client, by topic. A topic is theirs alone while the application does not follow it, by name or as one of friends.

    `is_of_friends` says whether a topic is followed because it is of a friend.
    """

    def __init__(self, is_of_friends: Callable[[str], bool]) -> None:
        self._is_of_friends = is_of_friends
        self._by_topic: dict[str, list[TopicWatcher]] = {}
        self._named: set[str] = set()

    def add(self, topic: str, watcher: TopicWatcher, *, named: bool) -> None:
        """Has `watcher` hear of `topic`; `named`: it is subscribed by name for watchers, for the application has not done so."""
        self._by_topic.setdefault(topic, []).append(watcher)
        if named:
            self._named.add(topic)

    def remove(self, topic: str, watcher: TopicWatcher) -> bool:
        """Has `watcher` hear no more of `topic`; returns whether others do."""
        left = [each for each in self._by_topic.pop(topic, []) if each is not watcher]
        if left:
            self._by_topic[topic] = left
        else:
            self._named.discard(topic)
        return bool(left)

    def share(self, topics: Iterable[str]) -> None:
        """Notes that the application subscribes `topics` itself from now on."""
        self._named.difference_update(topics)

    def keep(self, topics: Iterable[str]) -> None:
        """Notes that the application subscribes `topics`, of which watchers hear, no longer: by name they are theirs."""
        self._named.update(topics)

    def hear(self, topic: str) -> bool:
        """Returns whether anybody hears of `topic`."""
        return topic in self._by_topic

    def has_named(self, topic: str) -> bool:
        """Returns whether `topic` is subscribed by name for watchers only."""
        return topic in self._named

    def is_alone(self, topic: str) -> bool:
        """Returns whether `topic` is followed for watchers only."""
        return topic in self._named and not self._is_of_friends(topic)

    def heard(self, event: Event) -> None:
        """Tells the watchers of its topic of an event."""
        for watcher in self._of(event.topic):
            _told(partial(watcher.heard, event))

    def missed(self, topics: Iterable[str] | None = None) -> None:
        """Tells the watchers of `topics` (None: all) that something may be missing."""
        for topic in list(self._by_topic) if topics is None else topics:
            for watcher in self._of(topic):
                _told(watcher.missed)

    def ended(self, news: Ended) -> None:
        """Tells the watchers of topics that the user may not see them any more. They hear of these no more."""
        for each in news.topics:
            self._named.discard(each.topic)
            for watcher in self._by_topic.pop(each.topic, ()):
                _told(partial(watcher.ended, each.code, each.reason))

    def _of(self, topic: str) -> list[TopicWatcher]:
        return list(self._by_topic.get(topic, ()))


def _told(tell: Callable[[], None]) -> None:
    try:
        tell()
    except Exception:
        _LOG.exception("a watcher of a topic failed")

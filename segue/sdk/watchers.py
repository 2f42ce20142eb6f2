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
        """Takes note that the user may not see the topic any more."""


class Watchers:
    """The watchers of a client, by topic. A topic is theirs alone while the application does not follow it itself."""

    def __init__(self) -> None:
        self._by_topic: dict[str, list[TopicWatcher]] = {}
        self._alone: set[str] = set()

    def add(self, topic: str, watcher: TopicWatcher, *, alone: bool) -> None:
        """Has `watcher` hear of `topic`; `alone`: the application does not follow it."""
        self._by_topic.setdefault(topic, []).append(watcher)
        if alone:
            self._alone.add(topic)

    def remove(self, topic: str, watcher: TopicWatcher) -> bool:
        """Has `watcher` hear no more of `topic`; returns whether others do."""
        left = [each for each in self._by_topic.pop(topic, []) if each is not watcher]
        if left:
            self._by_topic[topic] = left
        else:
            self._alone.discard(topic)
        return bool(left)

    def share(self, topics: Iterable[str]) -> None:
        """Notes that the application follows `topics` itself from now on."""
        self._alone.difference_update(topics)

    def is_alone(self, topic: str) -> bool:
        """Returns whether `topic` is followed for watchers only."""
        return topic in self._alone

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
        """Tells the watchers of topics that the user may not see any more."""
        for each in news.topics:
            for watcher in self._of(each.topic):
                _told(partial(watcher.ended, each.code, each.reason))

    def _of(self, topic: str) -> list[TopicWatcher]:
        return list(self._by_topic.get(topic, ()))


def _told(tell: Callable[[], None]) -> None:
    try:
        tell()
    except Exception:
        _LOG.exception("a watcher of a topic failed")

"""Rows of a trace as the engine writes them: which events and subscriptions, under which numbers. Pure.

Roles tell things as they have them, because they tell on the way of every event. The writer of a segment works out numbers and words
later, for many rows together.
"""

from functools import lru_cache
from typing import Final, Literal, NamedTuple, Protocol

from .pseudonym import pseudonym
from .topics import MAX_ID, Topic, inbox_topic, kind_of, user_of
from .trace import SERVICE_OF, SOCIAL_SERVICES, Service

# Names whose numbers are remembered: the same users and topics come again and again, and a number costs a hash.
REMEMBERED: Final = 1 << 16
# Inboxes are no topics of the workload: nobody chooses to follow one.
INBOX_TAG: Final = inbox_topic("")[0]

# Where the kind of an event stands in its tail (see `events`); nothing before it can hold the same text.
BEFORE_KIND: Final = b'","kind":"'
# It ends within so many bytes: two ids in a topic, the id of an event, and what stands around them.
KIND_WITHIN: Final = 2 * MAX_ID + 256

Site = str | None
Told = float  # Unix seconds
Visit = tuple[Told, str, bool, Literal["join", "leave"]]
Change = tuple[Told, str, Topic, Site, Literal["subscribe", "unsubscribe"]]


class Publications:
    """Events as three lists of one length: when, on which topic, and of which kind (empty where a peer got it wrong).

    There are very many. To make a tuple for each, and to take it apart again, would be most of what they cost.
    """

    __slots__ = ("kinds", "times", "topics")

    def __init__(self) -> None:
        self.times: list[Told] = []
        self.topics: list[Topic] = []
        self.kinds: list[bytes] = []

    def __len__(self) -> int:
        return len(self.times)

    def add(self, at_s: Told, topic: Topic, kind: bytes) -> None:
        """Adds the event of this `kind` that was published on `topic` at `at_s`."""
        self.times.append(at_s)
        self.topics.append(topic)
        self.kinds.append(kind)

    def pop(self) -> None:
        """Takes the newest event out."""
        for column in (self.times, self.topics, self.kinds):
            column.pop()

    def clear(self) -> None:
        """Takes all events out."""
        for column in (self.times, self.topics, self.kinds):
            column.clear()


Rows = Publications | list[Visit] | list[Change]


class Recorder(Protocol):
    """The receiver of what roles see of the workload. It never waits and never raises."""

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        """Records that a connection of `user`, on a `mobile` device or not, begins or ends (`action`)."""

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        """Records that `user` follows `topic` from now on, or no longer does (`action`).

        `site` is where they are connected; None: nobody knows.
        """


class Subject(NamedTuple):
    """A topic as a trace knows it."""

    service: Service
    number: int


class Numbers:
    """The numbers of users and topics under one `key`: see `pseudonym`."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.user = lru_cache(REMEMBERED)(self._user)
        self.topic = lru_cache(REMEMBERED)(self._topic)

    def _user(self, name: str) -> int:
        return pseudonym(self._key, name.encode())

    def _topic(self, topic: Topic) -> Subject:
        # An inbox has no number. What is about a user has that user's number, everything else a number of its own.
        service = SERVICE_OF[kind_of(topic)]
        return Subject(service, pseudonym(self._key, user_of(topic).encode() if service in SOCIAL_SERVICES else topic))


def is_subscription(user: str, topic: Topic) -> bool:
    """Returns whether a trace has the pair (`user`, `topic`): nobody follows an inbox by choice, or themselves (see `trace`)."""
    if topic[0] == INBOX_TAG:
        return False
    return SERVICE_OF[kind_of(topic)] not in SOCIAL_SERVICES or user_of(topic) != user


def kind_in(tail: bytes) -> bytes:
    """Returns the kind that an event's tail tells; empty if it tells none."""
    start = tail.find(BEFORE_KIND, 0, KIND_WITHIN) + len(BEFORE_KIND)
    return tail[start : tail.find(b'"', start)] if start >= len(BEFORE_KIND) else b""

"""Subscriptions: what sessions follow, within what they may; announced to the aggregator, and when that is installed. Pure."""

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.http_error import described
from infra.kernel.limbo import Limbo
from infra.kernel.roles import NOTIFICATION
from infra.kernel.topics import Topic

from .followable import parse_followable
from .hub import Hub, Row
from .journal import Journal
from .messages import Rejected
from .options import AccessPointOptions
from .session import Session
from .waits import Answer, Waits


class Subscriptions:
    """The subscriptions of the sessions in `hub`. `journal`, if there is one, is told when they begin and end."""

    def __init__(self, options: AccessPointOptions, hub: Hub, announcer: Announcer, journal: Journal | None) -> None:
        self._hub, self._announcer, self._journal = hub, announcer, journal
        self._waits = Waits(options.site)
        self._limbo = Limbo([announcer])
        # While it is set, no number is given to another topic: deliveries wait that name them.
        self.keeps_numbers = False
        self._at_a_time, self._install_s = options.max_topics_per_message, options.install_s
        self._most = options.max_topics + (NOTIFICATION in options.services)  # its inbox does not count

    def subscribe(self, session: Session, uris: list[str]) -> tuple[list[Topic], list[Rejected]]:
        """Subscribes `session` to `uris`. Returns what of them it follows now, and what is wrong with the others.

        Raises `Refused` if there are too many in one message.
        """
        if len(uris) > self._at_a_time:
            raise Refused("too-many-topics", f"{len(uris)} topics in one message; send at most {self._at_a_time} at a time")
        try:
            # The quick way first: as a rule nothing is wrong, and nothing is done before all of it was looked at.
            topics = [parse_followable(session.user, uri) for uri in uris]
            self._want(session, topics)
        except Refused:
            return self._want_what_is_right(session, uris)
        return topics, []

    def _want(self, session: Session, topics: list[Topic]) -> None:
        """Subscribes to all of `topics`. Raises `Refused`, and nothing is done, if that might be too many."""
        if len(topics) > self._room(session):
            raise Refused("too-many-topics")
        self.add(session, topics)

    def add(self, session: Session, topics: list[Topic]) -> None:
        """Subscribes `session` to `topics`, however many they are."""
        # The journal before the hub, here and in `unsubscribe`: it looks at who holds a topic without the change.
        if self._journal is not None:
            self._journal.subscribed(session, [topic for topic in dict.fromkeys(topics) if not self._hub.holds(session, topic)])
        if news := self._hub.subscribe_all(session, topics):
            self._announcer.want(news)

    def _room(self, session: Session) -> int:
        """Returns how many topics a client may still follow."""
        return self._most - len(session.handles)

    def _want_what_is_right(self, session: Session, uris: list[str]) -> tuple[list[Topic], list[Rejected]]:
        """Subscribes to those that are topics, as far as there is room; returns as `subscribe` does."""
        rejected: list[Rejected] = []
        followed: dict[Topic, None] = {}
        news: list[Topic] = []
        room = self._room(session)
        for uri in uris:
            try:
                topic = parse_followable(session.user, uri)
                if topic not in followed and not self._hub.holds(session, topic):
                    if len(news) >= room:
                        raise Refused("too-many-topics")
                    news.append(topic)
                followed[topic] = None
            except Refused as refused:
                rejected.append((uri, described(refused)))
        self._want(session, news)
        return list(followed), rejected

    def unsubscribe(self, session: Session, uris: list[str]) -> list[Topic]:
        """Unsubscribes `session` from `uris`; returns them as topics. Raises `Refused`, and nothing is done, if one is none."""
        topics = [parse_followable(session.user, uri) for uri in uris]  # all or nothing: a row that was left must be withdrawn
        if self._journal is not None:
            self._journal.unsubscribed(session, [topic for topic in dict.fromkeys(topics) if self._hub.holds(session, topic)])
        left = [self._hub.unsubscribe(session, topic) for topic in topics]
        self._withdraw([row for row in left if row is not None])
        return topics

    def leave(self, session: Session) -> None:
        """Withdraws the topics of `session`, which is gone, and no others (SB-10)."""
        self._withdraw(self._hub.leave(session))

    def _withdraw(self, rows: list[Row]) -> None:
        if rows:
            self._announcer.unwant(row.topic for row in rows)
            self._limbo.add((row.handle, row.topic) for row in rows)

    def when_installed(self, wait: str, now_s: float, answer: Answer) -> None:
        """Calls `answer` when all that was announced so far is installed, at this site or at all.

        - `wait`: "local" or "all".
        - `now_s`: now; `install_s` later it is called at the latest.
        """
        self._waits.add(wait, self._announcer.mark(), now_s + self._install_s, answer)
        self._waits.advance(self._announcer.reached, now_s)

    def advance(self, now_s: float) -> None:
        """Answers who has waited, and frees the numbers of withdrawn topics; it is `now_s`, or the announcer has got further."""
        self._waits.advance(self._announcer.reached, now_s)
        if not self.keeps_numbers:
            for handle, topic in self._limbo.leave():
                self._hub.release(handle, topic)

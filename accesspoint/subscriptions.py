"""Subscriptions: what sessions follow, within what they may; announced to the aggregator, and when that is installed. Pure."""

from collections.abc import Callable

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.limbo import Limbo
from infra.kernel.roles import NOTIFICATION
from infra.kernel.topics import Topic

from .authorization.playlists_by_owner import PlaylistsByOwner
from .followable import parse_followable
from .follower_gains import FollowerGains
from .hub import Hub
from .journal import Journal
from .options import AccessPointOptions
from .row import Row
from .session import Session
from .waits import Answer, Waits
from .wish import Wish


class Subscriptions:
    """The subscriptions of the sessions in `hub`. `journal`, if there is one, is told when they begin and end.

    - `gains`: counts followers, if somebody wants to know.
    - `dropped(session, topics)`: is told what a session that stays has left.
    - `playlists`: the playlists that somebody follows.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        hub: Hub,
        announcer: Announcer,
        journal: Journal | None,
        gains: FollowerGains | None,
        dropped: Callable[[Session, list[Topic]], None],
    ) -> None:
        self.playlists = PlaylistsByOwner()
        self._hub, self._announcer, self._journal, self._gains, self._dropped = hub, announcer, journal, gains, dropped
        self._waits = Waits(options.site)
        self._limbo = Limbo([announcer])
        # While it is set, no number is given to another topic: deliveries wait that name them.
        self.keeps_numbers = False
        self._at_a_time, self._install_s = options.max_topics_per_message, options.install_s
        self._most = options.max_topics + (NOTIFICATION in options.services)  # its inbox does not count

    def read(self, session: Session, uris: list[str], followed: Callable[[list[Topic]], None] | None = None) -> Wish:
        """Returns the topics `uris` of a subscribe message of `session`, and what is wrong with the others; see `Wish` for `followed`.

        Raises `Refused` if there are too many in one message.
        """
        self.check_count(uris)
        return Wish(session.user, uris, followed)

    def check_count(self, uris: list[str]) -> None:
        """Raises `Refused` if a message has too many topics: it is dealt with in one turn of the loop."""
        if len(uris) > self._at_a_time:
            raise Refused("too-many-topics", f"{len(uris)} topics in one message; send at most {self._at_a_time} at a time")

    @property
    def most_topics(self) -> int:
        """How many topics a session may have, its inbox included."""
        return self._most

    def follow(self, session: Session, wish: Wish, topics: list[Topic], pending: int = 0) -> None:
        """Subscribes `session` to `topics` of `wish`, as far as there is room beside `pending` others that wait. The rest is refused."""
        room = self._most - self._hub.count(session) - pending
        if len(topics) > room:
            # Perhaps it holds some of them already. Those take no room.
            new = [topic for topic in topics if not self._hub.holds(session, topic)]
            wish.refuse({topic: Refused("too-many-topics") for topic in new[max(room, 0) :]})
            topics = [topic for topic in topics if topic in wish.topics]
        self.add(session, topics)
        if wish.followed is not None:
            wish.followed(topics)

    def holds(self, session: Session, topic: Topic) -> bool:
        """Returns whether `session` follows `topic`."""
        return self._hub.holds(session, topic)

    def add(self, session: Session, topics: list[Topic]) -> None:
        """Subscribes `session` to `topics`, however many they are."""
        # The journal before the hub, here and in `drop`: it looks at who holds a topic without the change.
        if self._journal is not None:
            self._journal.subscribed(session, [topic for topic in dict.fromkeys(topics) if not self._hub.holds(session, topic)])
        if news := self._hub.subscribe_all(session, topics):
            self.playlists.wanted(topic for _, topic in news)
            self._announcer.want(news)
        if self._gains is not None:
            self._gains.touch(topics)

    def parsed(self, session: Session, uris: list[str]) -> list[Topic]:
        """Returns `uris` as topics that a client of the session's user may name. Raises `Refused` if one is none, or for too many."""
        self.check_count(uris)
        return [parse_followable(session.user, uri) for uri in uris]

    def drop(self, session: Session, topics: list[Topic]) -> None:
        """Unsubscribes `session` from `topics`; those that it does not hold do no harm."""
        if session.friends is not None:
            session.friends.forget(topics)
        if self._journal is not None:
            self._journal.unsubscribed(session, [topic for topic in dict.fromkeys(topics) if self._hub.holds(session, topic)])
        left = [self._hub.unsubscribe(session, topic) for topic in topics]
        self._dropped(session, topics)
        if self._gains is not None:
            self._gains.touch(topics)
        self._withdraw([row for row in left if row is not None])

    def leave(self, session: Session) -> None:
        """Withdraws the topics of `session`, which is gone, and no others (SB-10)."""
        if self._gains is not None:
            self._gains.touch(self._hub.held(session))
        self._withdraw(self._hub.leave(session))

    def _withdraw(self, rows: list[Row]) -> None:
        if rows:
            self.playlists.unwanted(row.topic for row in rows)
            self._announcer.unwant(row.topic for row in rows)
            self._limbo.add((row.handle, row.topic) for row in rows)

    def tick(self) -> None:
        """Tells the aggregator of which topics the number of followers is another one by now."""
        if self._gains is not None and (changed := self._gains.changed()):
            self._announcer.reweigh(changed)

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

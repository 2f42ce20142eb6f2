"""Following friends: sessions that want all topics of friends get them, and those of friends to come; and lose those of friends that were.

A session hears of a change within a moment, whichever way it came: by another device, by a linked address book, by a contact who has
joined, by a block or a setting (SB-4, SB-5, SB-6). Pure.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import Barred
from infra.kernel.http_error import described
from infra.kernel.topics import Topic, format_topic, owner_of

from .. import messages
from ..authorization.gatekeeper import Gatekeeper
from ..calls import Calls
from ..followable import parse_followable
from ..hub import Hub
from ..offload_notices import OffloadNotices
from ..options import AccessPointOptions
from ..session import Session, SessionState
from ..sessions_by_user import SessionsByUser
from ..soon import Soon
from ..subscriptions import Subscriptions
from .friend_topics import FriendTopics
from .rosters import Owners, Rosters

STRANGE: Final = Refused("forbidden", "this is no topic of a friend of yours, nor of a playlist of theirs that you follow")
UNKNOWN: Final = Refused("unavailable", "nobody can say now whether this is a topic of a friend of yours; ask again")


class FriendFollowing:
    """The sessions of one access point that follow friends.

    - `hub`, `users`: what sessions hold, and whose they are.
    - `gatekeeper`, `subscriptions`: say what they may follow, and begin and end it.
    - `calls`: lead to the services.
    - `offload_notices`: tell what of it is out of real time.
    - `soon(step)`: has a step called in the next turn of the loop.

    `at_once` is how many topics one message has at most.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        hub: Hub,
        users: SessionsByUser,
        gatekeeper: Gatekeeper,
        subscriptions: Subscriptions,
        calls: Calls,
        offload_notices: OffloadNotices,
        soon: Soon,
    ) -> None:
        self.rosters = Rosters(options.services, calls, self._changed, soon)
        self._hub, self._users, self._gatekeeper, self._subscriptions = hub, users, gatekeeper, subscriptions
        self._offload_notices, self._soon = offload_notices, soon
        self.at_once = options.max_topics_per_message
        self._now_s = 0.0

    # What sessions ask.

    def begin(self, session: Session, now_s: float, then: Callable[[float], None]) -> None:
        """Calls `then(now_s)` when the friends of `session` are known, as far as somebody can say; at once or later.

        Raises `Refused` (unavailable) at a site without friends.
        """
        if session.friends is None:
            self.rosters.join(session.user)
            session.friends = FriendTopics()

        def known(known_s: float) -> None:
            if session.friends is not None and session.state is SessionState.READY:
                then(known_s)

        self.rosters.when_settled(session.user, now_s, known)

    def sort(self, session: Session, uris: list[str]) -> tuple[list[str], list[messages.Rejected]]:
        """Returns those of `uris` that are of friends, which `session` is about to follow, and the others with what is wrong with them."""
        assert session.friends is not None
        roster, taken, rejected = self.rosters.of(session.user), [], []
        unknown = STRANGE if self.rosters.is_whole(session.user) else UNKNOWN
        for uri in uris:
            try:
                topic = parse_followable(session.user, uri)
                if not roster.has(topic):
                    raise unknown
            except Refused as refused:
                rejected.append((uri, described(refused)))
            else:
                session.friends.begin(topic, is_named=self._hub.holds(session, topic))
                taken.append(uri)
        return taken, rejected

    def settle(self, session: Session, topics: list[Topic], uris: list[str]) -> None:
        """Notes that `session` follows `topics` of `uris`, which `sort` has returned, and not the others."""
        if session.friends is not None:
            followed = {*topics}
            session.friends.forget(topic for uri in uris if (topic := parse_followable(session.user, uri)) not in followed)

    def stand(self, session: Session, now_s: float, *, recovers: bool, then: Callable[[], None]) -> None:
        """Has `session` follow all topics of friends from now on. Calls `then` when it has been told of those that there are now.

        `recovers`: whether it wants to hear when it may miss something of them.
        """
        assert session.friends is not None
        friends = session.friends
        friends.is_standing, friends.recovers = True, friends.recovers or recovers
        friends.waiting.append(then)
        self._want(session, friends, self.rosters.of(session.user).topics(), now_s)

    def end(self, session: Session) -> None:
        """Ends what `session` follows of friends, unless its client has named it."""
        if session.friends is not None:
            friends, session.friends = session.friends, None
            self.rosters.leave(session.user)
            self._gatekeeper.unsubscribe(session, friends.forget(list(friends.topics)))

    def left(self, session: Session) -> None:
        """Forgets a session that is gone."""
        if session.friends is not None:
            session.friends = None
            self.rosters.leave(session.user)

    def count(self) -> tuple[int, int]:
        """Returns how many topics all sessions follow because they are of friends, and for how many they have no room."""
        sessions = (session for user in self.rosters.users() for session in self._users.of(user))
        held = [session.friends for session in sessions if session.friends is not None]
        return sum(len(friends.topics) for friends in held), sum(len(friends.beyond) for friends in held)

    # What services tell.

    def barred(self, service: str, frame: Barred, now_s: float) -> None:
        """Takes note of what `service` has changed."""
        self._now_s = max(self._now_s, now_s)
        self.rosters.barred(service, frame, now_s)

    def tick(self, now_s: float) -> None:
        """Asks again where nobody could answer."""
        self._now_s = max(self._now_s, now_s)
        self.rosters.tick(now_s)

    def _changed(self, user: str, owners: Owners) -> None:
        roster = self.rosters.of(user)
        for session in list(self._users.of(user)):
            friends = session.friends
            if friends is None:
                continue
            gone = [topic for topic in friends.topics if (owners is None or owner_of(topic) in owners) and not roster.has(topic)]
            if gone:
                self._lose(session, friends, gone)
            if friends.is_standing:
                self._want(session, friends, [*roster.topics(owners), *(friends.beyond if gone else ())], self._now_s)

    def _lose(self, session: Session, friends: FriendTopics, gone: list[Topic]) -> None:
        self._gatekeeper.unsubscribe(session, friends.forget(gone))
        for start in range(0, len(gone), self.at_once):
            some = gone[start : start + self.at_once]
            session.say(messages.followed([], map(format_topic, some), len(friends.beyond), self.rosters.is_whole(session.user)))

    # What is to be followed is followed piece by piece: each is done in a turn of the loop, or waits for who may see what.

    def _want(self, session: Session, friends: FriendTopics, topics: list[Topic], now_s: float) -> None:
        self._now_s = max(self._now_s, now_s)
        roster = self.rosters.of(session.user)
        friends.beyond = {topic: None for topic in friends.beyond if roster.has(topic)}
        friends.todo |= dict.fromkeys(topic for topic in topics if topic not in friends.topics and roster.has(topic))
        if not friends.is_busy:
            friends.is_busy = True
            self._step(session, friends)

    def _step(self, session: Session, friends: FriendTopics) -> None:
        if session.friends is not friends or session.state is not SessionState.READY:
            return
        batch = self._next(session, friends)
        if not batch:
            self._whole(session, friends)
            return
        for topic in batch:
            friends.begin(topic, is_named=self._hub.holds(session, topic))
        try:
            self._gatekeeper.admission.subscribe(
                session, [format_topic(topic) for topic in batch], self._now_s, partial(self._followed, session, friends, batch)
            )
        except Refused:  # too much of this user waits for answers
            friends.forget(batch)
            self.rosters.again(session.user)
            self._whole(session, friends)

    def _next(self, session: Session, friends: FriendTopics) -> list[Topic]:
        """Returns the next topics to follow, as many as there is room for. The others are beyond."""
        batch: list[Topic] = []
        room = self._subscriptions.most_topics - self._hub.count(session)
        while friends.todo and len(batch) < self.at_once:
            topic = next(iter(friends.todo))
            del friends.todo[topic]
            friends.beyond.pop(topic, None)
            if topic in friends.topics:
                continue
            if self._hub.holds(session, topic):
                batch.append(topic)
            elif room > 0:
                room -= 1
                batch.append(topic)
            elif batch:  # perhaps some of these may not be seen, and leave room
                friends.todo[topic] = None
                break
            else:
                friends.beyond[topic] = None
        return batch

    def _followed(
        self,
        session: Session,
        friends: FriendTopics,
        batch: list[Topic],
        topics: list[Topic],
        rejected: list[messages.Rejected],
        now_s: float,
    ) -> None:
        if session.friends is not friends:
            return
        self._now_s = max(self._now_s, now_s)
        followed = {*topics}
        friends.forget(topic for topic in batch if topic not in followed)
        friends.gained |= dict.fromkeys(topic for topic in topics if topic in friends.topics)
        if friends.recovers:
            session.follows_with_recovery.update(topics)
        if any(why["code"] == "unavailable" for _, why in rejected):
            self.rosters.again(session.user)
        self._soon(partial(self._step, session, friends))

    def _whole(self, session: Session, friends: FriendTopics) -> None:
        """Tells the client what it has gained when that is installed, then who waits for that."""
        friends.is_busy = False
        waiting, friends.waiting = friends.waiting, []
        gained, friends.gained = list(friends.gained), {}
        news = len(friends.beyond), self.rosters.is_whole(session.user)
        if not (gained or waiting) and news == (friends.told_beyond, friends.told_whole):
            return
        friends.told_beyond, friends.told_whole = news

        def installed(installed: str, missing_sites: list[str], _: float) -> None:
            if session.state is SessionState.READY:
                self._tell(session, friends, [topic for topic in gained if topic in friends.topics])
                for then in waiting:
                    then()

        self._subscriptions.when_installed("local", self._now_s, installed)

    def _tell(self, session: Session, friends: FriendTopics, gained: list[Topic]) -> None:
        whole = friends.told_whole
        for start in range(0, max(1, len(gained)), self.at_once):
            some = gained[start : start + self.at_once]
            session.say(messages.followed(map(format_topic, some), [], friends.told_beyond, whole))
            self._offload_notices.subscribed(session, some)

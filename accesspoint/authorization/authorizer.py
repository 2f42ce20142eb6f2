"""The authorizer: whether a session may see a topic, as far as that is known, and who is asked where it is not. Pure.

It is asked when a client names a topic, never when an event comes. What follows from the topic and the token is decided on the spot.
What a session holds was allowed. The rest is in the cache, or an arbiter is asked.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from infra.kernel.access import is_everybodys, is_own
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import NOBODY, Barred
from infra.kernel.topics import Kind, Topic, format_topic, kind_of, user_topic

from ..hub import Hub
from ..row import Member, Row
from ..session import Session
from ..sessions_by_user import SessionsByUser
from ..soon import Soon, in_slices
from .arbiter import Arbiter, NoArbiter, Policy
from .audience_rechecks import AudienceRechecks, EndTopic
from .granted_topics import GrantedTopics
from .playlists_by_owner import PlaylistsByOwner
from .questions import Questions, Verdicts
from .rechecks import MAX_OPEN, End, Rechecks
from .renewals import Renewals
from .verdict_cache import VerdictCache

# Policies under which a topic that is for everybody is, and whose answers come from somebody else.
_KNOWS_EVERYBODYS: Final = ("social", "open")
# With more sessions than this the users who hold a topic are asked about together, else one by one, with all that they hold of its owner.
FEW: Final = 64
# So many users are due in one tick, and what so many hold ends in one turn of the loop: a millisecond or two.
RENEWED_AT_ONCE: Final = 2_000
ENDED_AT_ONCE: Final = 20
UNANSWERED: Final = Refused("unavailable", "for a while nobody has said whether you may still see this; subscribe again")


class Sorted(NamedTuple):
    """Topics of a message: those that are `refused`, and those of which it is `unknown`. All others are allowed."""

    refused: dict[Topic, Refused]
    unknown: list[Topic]


class Authorizer:
    """The one who decides what sessions may see.

    - `policy`: what decides.
    - `arbiter`: who is asked under `social` and `hook`.
    - `hub`, `users`, `playlists`: what sessions hold, whose they are, and the playlists among it.
    - `end(user, refused)`: ends what `user` may not see any more; `end_topic(topic, why, users)` what many users hold of one topic.
    - `soon(step)`: has a step called in the next turn of the loop.
    - `timeout_s`: how long an answer may take.
    - `max_verdicts`: how many are remembered.
    - `max_granted`: how many topics of one session tokens for a subscription may allow.
    - `renewals`: when users are asked about again, if the arbiter tells no changes; `most_again` at a time.

    `now_s` is the time that it was told last.
    """

    def __init__(
        self,
        policy: Policy,
        arbiter: Arbiter | None,
        hub: Hub,
        users: SessionsByUser,
        playlists: PlaylistsByOwner,
        *,
        end: End,
        end_topic: EndTopic,
        soon: Soon,
        timeout_s: float,
        max_verdicts: int,
        max_granted: int,
        renewals: Renewals | None = None,
        most_again: int = MAX_OPEN,
    ) -> None:
        self.policy: Policy = policy
        self.cache = VerdictCache(max_verdicts)
        self.granted = GrantedTopics(max_granted)
        self.now_s = 0.0
        self._has_arbiter = arbiter is not None
        self._arbiter = arbiter or NoArbiter()
        self._hub, self._users, self._playlists = hub, users, playlists
        self.questions = Questions(self._arbiter, timeout_s)
        self._renewals = Renewals(0.0, 0.0) if renewals is None else renewals
        self._end, self._soon = end, soon
        self.rechecks = Rechecks(self._arbiter, self._holds, end, soon, most_open=most_again, renewed=self._renewals.renewed)
        self.audiences = AudienceRechecks(self._arbiter, end_topic, self.rechecks.want_followers, soon)

    @property
    def asked(self) -> int:
        """How many topics have been asked about, for the first time or again."""
        return self.questions.asked + self.rechecks.asked + self.audiences.asked

    # Questions of sessions.

    def sort(self, session: Session, topics: Iterable[Topic]) -> Sorted:
        """Returns what is known of `topics`."""
        found = Sorted({}, [])
        for topic in topics:
            if is_own(session.user, topic):
                continue
            refused = self._narrowed(session, topic)
            if refused is not None:
                found.refused[topic] = refused
            elif not self._is_allowed(session, topic):
                verdict = self.cache.get(session.user, topic)
                if verdict is None:
                    found.unknown.append(topic)
                elif verdict[0] is not None:
                    found.refused[topic] = verdict[0]
        return found

    def narrowed(self, session: Session, topics: Iterable[Topic]) -> dict[Topic, Refused]:
        """Returns those of `topics`, which `session` holds, that its token does not allow, and why."""
        found = {topic: self._narrowed(session, topic) for topic in topics if not is_own(session.user, topic)}
        return {topic: refused for topic, refused in found.items() if refused is not None}

    def _narrowed(self, session: Session, topic: Topic) -> Refused | None:
        """Returns why no token allows it: the grants of the session's do not name the topic, or it has none that anything follows from."""
        if self.granted.has(session, topic):
            return None
        if session.grants is not None:
            return session.grants.refusal(topic)
        if self.policy == "token":
            return Refused("forbidden", f"no token of yours allows you to see {format_topic(topic)}: fetch one that names it")
        return None

    def _is_allowed(self, session: Session, topic: Topic) -> bool:
        if not self._has_arbiter or (self.policy in _KNOWS_EVERYBODYS and is_everybodys(session.user, topic)):
            return True
        return self._hub.holds(session, topic)

    def ask(
        self, session: Session, topics: list[Topic], now_s: float, then: Callable[[Verdicts], None], *, keeps_allowed: bool = False
    ) -> None:
        """Asks about topics that are unknown. `then` is called once, with a verdict for each of them.

        `keeps_allowed`: what is allowed is remembered, too, since the session is not going to hold it.
        """
        self.now_s = max(self.now_s, now_s)

        def answered(verdicts: Verdicts) -> None:
            self._remember(session.user, verdicts, keeps_allowed=keeps_allowed)
            then(verdicts)

        self.questions.ask(session.user, session.client, topics, now_s, answered)

    def _remember(self, user: str, verdicts: Verdicts, *, keeps_allowed: bool) -> None:
        if self._arbiter.tells_changes:
            known = [(topic, verdict) for topic, verdict in verdicts.items() if _lasts(verdict, keeps_allowed=keeps_allowed)]
            if known:
                self.cache.put(user, known)

    def left(self, session: Session, topics: Iterable[Topic]) -> None:
        """Notes that `session` does not hold `topics` any more. A client that comes back names the same ones, as a rule."""
        if not self._arbiter.tells_changes or self.rechecks.concerns(session.user) or not self.audiences.is_idle:
            return
        known: list[tuple[Topic, Refused | None]] = [(topic, None) for topic in self._others(session.user, topics)]
        if known:
            self.cache.put(session.user, known)

    # News.

    def barred(self, frame: Barred, now_s: float) -> None:
        """Takes back what was answered, and asks again about what sessions hold of it."""
        self.now_s = max(self.now_s, now_s)
        for owner, user in zip(frame.owners, frame.askers, strict=True):
            if user == NOBODY:
                self._changed_for_all(owner, now_s)
            # Nobody is called so who has a name; but somebody may be, and then this is about them as well.
            self._changed(owner, user, now_s)

    def _changed(self, owner: str, user: str, now_s: float) -> None:
        self.cache.forget_pair(owner, user)
        self.questions.changed(owner, user)
        if user in self._users:
            self.rechecks.want(user, owner, now_s)

    def _changed_for_all(self, owner: str, now_s: float) -> None:
        self.cache.forget_owner(owner)
        self.questions.changed_for_all(owner)
        few: list[Row] = []
        for topic in [user_topic(owner), *self._playlists.of(owner)]:
            row = self._hub.topics.get(topic)
            if row is not None and len(row) > FEW:
                self.audiences.want(topic, _users(list(row)), now_s)
            elif row:
                few.append(row)
        self.rechecks.want_followers(((user, owner) for row in few for user in _users(list(row))), now_s)

    def link_up(self, now_s: float) -> None:
        """Notes that a node can be asked that could not: what it has changed meanwhile, nobody has told."""
        self.cache.clear()
        self.questions.changed_at_all()
        self.questions.go_on(now_s)
        self.rechecks.want_all(list(self._users), now_s)

    def link_down(self) -> None:
        """Notes that a node is lost: from now on its changes are not told. What stands stands."""
        self.cache.clear()
        if not self._arbiter.is_there:
            self.rechecks.clear()
            self.audiences.clear()

    def tick(self, now_s: float) -> None:
        """Ends questions that are late, asks again what failed, and what was answered long ago."""
        self.now_s = max(self.now_s, now_s)
        for_every_one((partial(self.questions.tick, now_s), partial(self.rechecks.tick, now_s), partial(self._renew, now_s)))

    def _renew(self, now_s: float) -> None:
        due = self._renewals.due(now_s, RENEWED_AT_ONCE)
        self.rechecks.want_all([user for user, is_over in due if not is_over], now_s)
        in_slices([user for user, is_over in due if is_over], ENDED_AT_ONCE, self._soon, self._end_over)

    def _end_over(self, user: str) -> None:
        """Ends what `user` holds, about whom nobody has answered for too long."""
        self._end(user, dict.fromkeys(self._holds(user), UNANSWERED))

    # What is held.

    def _holds(self, user: str) -> Iterable[Topic]:
        return dict.fromkeys(topic for session in self._users.of(user) for topic in self._others(user, self._hub.held(session)))

    def _others(self, user: str, topics: Iterable[Topic]) -> Iterator[Topic]:
        """Returns those of `topics` that somebody else has to allow."""
        is_given = is_everybodys if self.policy in _KNOWS_EVERYBODYS else is_own
        return (topic for topic in topics if kind_of(topic) is not Kind.INBOX and not is_given(user, topic))


def _users(members: Iterable[Member]) -> Iterator[str]:
    """Yields the users of sessions, each time that one of theirs comes."""
    for member in members:
        assert isinstance(member, Session)
        yield member.user


def _lasts(verdict: Refused | None, *, keeps_allowed: bool) -> bool:
    return keeps_allowed if verdict is None else verdict.code.name == "forbidden"

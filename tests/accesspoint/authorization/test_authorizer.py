"""No sequence of what users and links do lets anybody hold what the table forbids (AUTH-2 to AUTH-10): the pure world."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from infra.kernel.access import Listening
from infra.kernel.frames import Barred, Call, Reply
from infra.kernel.topics import parse_topic
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession
from tests.support.user import feed

USERS = ("ann", "bob", "cid")
TOPICS = [*map(feed, USERS), "hm://playlist/user/bob/playlist/mix/", "hm://notifications/feed/a1%new-album/"]
HOUR_MS = 3_600_000

users = st.sampled_from(USERS)
topics = st.lists(st.sampled_from(TOPICS), min_size=1, max_size=4)


class Company(RuleBasedStateMachine):
    """A core and a twin of the social service. News and answers of the twin travel: they arrive when a rule says so."""

    def __init__(self) -> None:
        super().__init__()
        self.world = GuardedCore(ping_s=1e9, silent_s=4e9)  # nobody is too quiet here
        self.sessions = {user: self.world.client(user) for user in USERS}
        self.on_its_way: list[Barred | list[Reply]] = []
        self.is_linked = True
        self.n = 0

    def tells(self, news: Barred) -> None:
        if self.is_linked:
            self.on_its_way.append(news)

    @rule(one=users, other=users)
    def befriends(self, one: str, other: str) -> None:
        self.tells(self.world.twin.befriend(one, other))

    @rule(one=users, other=users)
    def unfollows(self, one: str, other: str) -> None:
        self.tells(self.world.twin.unfollow(one, other))

    @rule(one=users, other=users)
    def blocks(self, one: str, other: str) -> None:
        if one != other:
            self.tells(self.world.twin.block(one, other))

    @rule(one=users, other=users)
    def unblocks(self, one: str, other: str) -> None:
        self.tells(self.world.twin.unblock(one, other))

    @rule(owner=users, listening=st.sampled_from(Listening))
    def shows(self, owner: str, listening: Listening) -> None:
        self.tells(self.world.twin.show(owner, listening))

    @rule(user=users, until_ms=st.sampled_from((0, HOUR_MS)))
    def hides(self, user: str, until_ms: int) -> None:
        self.tells(self.world.twin.hide(user, "c1", until_ms))

    @rule(user=users, uris=topics)
    def subscribes(self, user: str, uris: list[str]) -> None:
        self.n += 1
        self.sessions[user].tell(self.world.now_s, op="subscribe", id=self.n, topics=uris)

    @rule(user=users, uris=topics)
    def unsubscribes(self, user: str, uris: list[str]) -> None:
        self.sessions[user].tell(self.world.now_s, op="unsubscribe", topics=uris)
        held = self.world.holds(self.sessions[user])
        assert not {parse_topic(uri) for uri in uris} & set(held)

    @rule(user=users)
    def reconnects(self, user: str) -> None:
        self.world.core.leave(self.sessions[user], "lost")
        self.sessions[user] = self.world.client(user)

    @rule()
    def answers(self) -> None:
        """Lets the twin answer by what holds now; the answers travel behind the news."""
        if self.is_linked and self.world.outlet.calls:
            self.on_its_way.append(self.world.outlet.replies())

    @precondition(lambda self: self.is_linked)
    @rule(user=users, owner=users)
    def changes_while_it_is_asked(self, user: str, owner: str) -> None:
        """Makes a race: an answer is made, then it changes, and the news come first."""
        self.reconnects(user)
        self.unblocks(owner, user)
        self.unblocks(user, owner)
        self.shows(owner, Listening.FRIENDS)
        self.befriends(user, owner)
        self._settle()
        self.subscribes(user, [feed(owner)])
        self.answers()
        self.blocks(owner, user)
        if self.on_its_way:
            self.arrives(overtakes=True)

    @precondition(lambda self: self.on_its_way)
    @rule(overtakes=st.booleans())
    def arrives(self, overtakes: bool = False) -> None:
        """Takes what comes next; or news overtake answers, which were made before the change."""
        news_first = (place for place, each in enumerate(self.on_its_way) if isinstance(each, Barred))
        news = self.on_its_way.pop(next(news_first, 0) if overtakes else 0)
        if isinstance(news, Barred):
            self.world.core.gatekeeper.barred(news, self.world.now_s)
            self.world.turn()
        else:
            self.world.answer(news)

    @precondition(lambda self: self.is_linked)
    @rule()
    def breaks(self) -> None:
        self.is_linked = False
        self.on_its_way.clear()
        self.world.cut()

    @precondition(lambda self: not self.is_linked)
    @rule()
    def mends(self) -> None:
        self.is_linked = True
        self.world.link()

    @rule(seconds=st.sampled_from((0.25, 1.0, 5.0)))
    def time_goes_by(self, seconds: float) -> None:
        self.world.tick(seconds)

    @precondition(lambda self: self.is_linked)
    @rule()
    def settles(self) -> None:
        """Lets everything arrive: then nobody holds what the table forbids, and nothing waits."""
        self._settle()
        for user, session in self.sessions.items():
            for topic in self.world.holds(session):
                assert self.world.twin.rule(user, topic) is None, (user, topic)  # type: ignore[arg-type]
        assert (len(self.world.core.gatekeeper.admission), len(self.world.core.gatekeeper.authorizer.questions)) == (0, 0)

    @precondition(lambda self: self.is_linked)
    @rule(user=users)
    def acts(self, user: str) -> None:
        """Checks that presence hears of an act exactly if the device is not private (AUTH-8)."""
        self._settle()
        self.world.presence.clear()
        self.sessions[user].tell(self.world.now_s, op="act", kind="play")
        self._settle()
        heard = [frame for frame in self.world.presence if isinstance(frame, Call) and frame.op == "act"]
        is_private = self.world.now_s * 1000 < self.world.twin.private.get((user, "c1"), 0)
        assert len(heard) == (not is_private)

    def _settle(self) -> None:
        while self.on_its_way or self.world.outlet.calls:
            if not self.on_its_way:
                self.answers()
            self.arrives()
        self.world.tick(0.5)
        if self.world.outlet.calls:
            self._settle()

    @invariant()
    def the_index_of_playlists_is_what_is_held(self) -> None:
        held = {topic for session in self.sessions.values() for topic in self.world.holds(session) if topic[:1] == b"P"}
        assert set(self.world.core.subscriptions.playlists.of("bob")) == held

    @invariant()
    def no_message_is_lost(self) -> None:
        assert all(_is_known(session) for session in self.sessions.values())


def _is_known(session: RecordingSession) -> bool:
    """Returns whether the session goes on: nothing of this is a reason to end it."""
    return session.ending is None


TestCompany: Any = Company.TestCase
TestCompany.settings = settings(max_examples=80, stateful_step_count=30)

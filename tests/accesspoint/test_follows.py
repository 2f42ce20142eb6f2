"""What the decision service knows of who follows what, whatever clients do and whenever it asks."""

import random
from collections.abc import Callable, Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint.core import AccessPointCore
from accesspoint.follows import BULK, USERS, Follows
from accesspoint.options import AccessPointOptions
from infra.kernel.frames import Followed
from infra.kernel.topics import Topic, inbox_topic, parse_topic, user_topic
from infra.runtime.tokens import Identity
from tests.support.assignments import playlist
from tests.support.recording_session import RecordingSession, never

OPTIONS = AccessPointOptions(
    site="sto", node="ap1", policy="open", aggregators=["a1"], services={"notification": ["n1"], "decision": ["o1"]}
)
URIS = [*(f"hm://presence/user/u{n}/" for n in range(4)), "hm://playlist/user/dan/playlist/mix/", "hm://notifications/feed/a%new-album/"]

Pairs = set[tuple[str, bytes]]


class Service:
    """The service, as far as it learns who follows what; a pair that it knows already, or that it does not, is a mistake."""

    def __init__(self, follows: Follows, followed: Callable[[str], Iterable[Topic]]) -> None:
        self.follows, self.followed = follows, followed
        self.pairs: Pairs = set()

    def ask(self) -> list[int]:
        """Hears all there is to say; returns how many pairs came in each portion."""
        sizes = []
        for portion in self.follows.tell(self.followed):
            sizes.append(sum(len(frame.users) for frame in portion))
            for frame in portion:
                told = set(zip(frame.users, frame.topics, strict=True))
                assert len(told) == len(frame.users) > 0
                assert told.isdisjoint(self.pairs) if isinstance(frame, Followed) else told <= self.pairs
                self.pairs ^= told
        return sizes


def make_core() -> tuple[AccessPointCore, Follows]:
    core = AccessPointCore(OPTIONS, lambda token, wall_s: Identity(token, 1e12), random.Random(1), never)
    assert core.follows is not None
    return core, core.follows


def followed_by(core: AccessPointCore) -> Callable[[str], Iterable[Topic]]:
    assert core.journal is not None
    return core.journal.followed


def welcomed(core: AccessPointCore, user: str) -> RecordingSession:
    session = RecordingSession(core)
    session.tell(op="hello", token=user)
    return session


def truth(core: AccessPointCore) -> Pairs:
    held = {(each.user, topic) for each in core.sessions for topic in core.hub.held(each)}
    return {(user, topic) for user, topic in held if topic[:1] in (b"U", b"P")}


STEPS = st.lists(
    st.tuples(
        st.integers(0, 4), st.sampled_from(["subscribe", "unsubscribe", "leave", "come", "ask", "link"]), st.lists(st.sampled_from(URIS))
    ),
    max_size=40,
)


@settings(max_examples=100)
@given(STEPS)
def test_after_each_answer_the_service_knows_exactly_who_follows_what(steps: list[tuple[int, str, list[str]]]) -> None:
    """SB-63: connections of one user count once; inboxes and artists are left out; nothing is told twice. Five sessions of three users."""
    core, follows = make_core()
    names = ("ann", "ann", "bob", "bob", "eve")
    sessions = [welcomed(core, user) for user in names]
    service = Service(follows, followed_by(core))
    linked = False
    for who, op, uris in steps:
        session = sessions[who]
        if op == "link":
            assert core.journal is not None
            linked, service = True, Service(follows, followed_by(core))
            follows.end()
            follows.begin(core.journal.users)
        elif op == "ask" and linked:
            service.ask()
            assert service.pairs == truth(core)
        elif op == "leave":
            core.leave(session, "lost")
        elif op == "come" and session not in core.sessions:
            sessions[who] = welcomed(core, names[who])
        elif op in ("subscribe", "unsubscribe") and session in core.sessions:
            session.tell(op=op, topics=uris)


def test_without_a_service_nothing_is_kept() -> None:
    core, follows = make_core()
    welcomed(core, "ann").tell(op="subscribe", topics=URIS)
    assert Service(follows, followed_by(core)).ask() == []
    follows.begin(["ann"])
    follows.end()
    assert Service(follows, followed_by(core)).ask() == []


def test_what_began_and_ended_between_two_surveys_is_not_told() -> None:
    core, follows = make_core()
    follows.begin([])
    ann = welcomed(core, "ann")
    ann.tell(op="subscribe", topics=URIS[:1])
    ann.tell(op="unsubscribe", topics=URIS[:1])
    assert Service(follows, followed_by(core)).ask() == []


def test_many_users_and_many_topics_of_one_come_in_portions() -> None:
    """A big access point does not stall: frames and portions are bounded, and users without topics are passed over in portions too."""
    topics: dict[str, list[Topic]] = {f"u{n}": [user_topic(f"f{n}")] for n in range(BULK)}
    topics["fan"] = [playlist("dan", f"p{n}") for n in range(2 * BULK + 1)]
    topics |= {f"idle{n}": [inbox_topic("ann"), parse_topic(URIS[-1])] for n in range(2 * USERS)}

    def followed(user: str) -> Iterable[Topic]:
        return topics[user]

    service = Service(Follows(), followed)
    service.follows.begin(topics)
    sizes = service.ask()
    assert service.pairs == {(user, topic) for user, some in topics.items() for topic in some if topic[:1] in (b"U", b"P")}
    assert max(sizes) <= BULK
    assert sizes.count(0) >= 2


def test_what_changes_while_users_are_introduced_is_told_once() -> None:
    """The changes of who is still to come are in what they follow then; those of who was told of come next."""
    core, follows = make_core()
    sessions = {user: welcomed(core, user) for user in ("ann", "bob")}
    for session in sessions.values():
        session.tell(op="subscribe", topics=URIS[:2])
    service = Service(follows, followed_by(core))
    assert core.journal is not None
    follows.begin(core.journal.users)
    for session in sessions.values():
        session.tell(op="unsubscribe", topics=URIS[:1])
        session.tell(op="subscribe", topics=URIS[2:3])
    service.ask()
    assert service.pairs == truth(core)
    sessions["ann"].tell(op="unsubscribe", topics=URIS[:3])
    assert service.ask() == [2]
    assert service.pairs == truth(core)

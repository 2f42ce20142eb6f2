"""What a capture hears of sessions, whatever clients do."""

import random
from collections import Counter
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from infra.kernel.capture import Site
from infra.kernel.topics import Topic, format_topic
from infra.runtime.tokens import Identity
from tests.support.recording_session import RecordingSession, never

OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"], max_topics=4, services={"notification": ["n1"]})
FEEDS = [f"hm://presence/user/u{n}/" for n in range(6)]


class Told:
    """A recorder that remembers."""

    def __init__(self) -> None:
        self.sessions: list[tuple[str, bool, str]] = []
        self.changes: list[tuple[str, str, str]] = []

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        self.sessions.append((user, mobile, action))

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        assert site == "sto"
        if not topic.startswith(b"I"):  # who captures leaves inboxes out
            self.changes.append((user, format_topic(topic), action))


def core_and_told() -> tuple[AccessPointCore, Told]:
    told = Told()
    return AccessPointCore(OPTIONS, lambda token, wall_s: Identity(token, 1e12), random.Random(1), never, told), told


def welcomed(core: AccessPointCore, user: str = "eve", **hello: Any) -> RecordingSession:
    session = RecordingSession(core)
    session.tell(op="hello", token=user, **hello)
    return session


def test_a_session_joins_with_its_hello_and_leaves_with_its_end() -> None:
    core, told = core_and_told()
    silent = RecordingSession(core)
    eve = welcomed(core, device="mobile")
    for session in (silent, eve, eve):
        core.leave(session, "lost")
    assert told.sessions == [("eve", True, "join"), ("eve", True, "leave")]


def test_a_user_with_two_devices_follows_from_the_first_that_does_to_the_last() -> None:
    core, told = core_and_told()
    desktop, phone = welcomed(core), welcomed(core, device="mobile")
    desktop.tell(op="subscribe", topics=FEEDS[:2])
    phone.tell(op="subscribe", topics=FEEDS[:1])
    assert told.changes == [("eve", FEEDS[0], "subscribe"), ("eve", FEEDS[1], "subscribe")]
    core.leave(desktop, "lost")
    assert told.changes[2:] == [("eve", FEEDS[1], "unsubscribe")]
    phone.tell(op="unsubscribe", topics=FEEDS[:1])
    assert told.changes[3:] == [("eve", FEEDS[0], "unsubscribe")]


def test_what_is_refused_is_not_told() -> None:
    core, told = core_and_told()
    session = welcomed(core)
    session.tell(op="subscribe", topics=["hm://nothing/", *FEEDS])
    session.tell(op="subscribe", topics=["hm://notifications/inbox/bob/"])
    assert told.changes == [("eve", feed, "subscribe") for feed in FEEDS[:4]]


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["subscribe", "unsubscribe", "leave"]), st.lists(st.sampled_from(FEEDS), max_size=4)),
    max_size=30,
)


@settings(max_examples=60)
@given(STEPS)
def test_each_pair_begins_and_ends_in_turn_and_stands_while_some_session_of_the_user_holds_it(
    steps: list[tuple[int, str, list[str]]],
) -> None:
    """SB-3: repeated topics, topics too many and two devices of each user change nothing about it. Four sessions of two users."""
    core, told = core_and_told()
    sessions = [welcomed(core, user) for user in ("ann", "ann", "bob", "bob")]
    for who, op, topics in steps:
        if op == "leave":
            core.leave(sessions[who], "lost")
        elif sessions[who] in core.sessions:
            sessions[who].tell(op=op, topics=topics)
        standing = Counter[tuple[str, str]]()
        for user, topic, action in told.changes:
            standing[user, topic] += 1 if action == "subscribe" else -1
            assert standing[user, topic] in (0, 1)
        held = {
            (each.user, topic) for each in sessions if each in core.sessions for topic in FEEDS if core.hub.holds(each, _compact(topic))
        }
        assert {pair for pair, number in standing.items() if number} == held


def _compact(uri: str) -> Topic:
    return Topic(b"U" + uri.split("/")[4].encode())

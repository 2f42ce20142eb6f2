"""What sessions are told of their topics that leave real time and come back."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint.core import AccessPointCore
from accesspoint.offload_notices import SESSIONS
from accesspoint.options import AccessPointOptions
from accesspoint.outbox import Outbox
from accesspoint.soon import Soon
from infra.kernel.errors import Refused
from infra.kernel.frames import Assignment
from infra.kernel.topics import Topic, format_topic, user_topic
from infra.runtime.tokens import Identity
from tests.support.assignments import assignment, playlist
from tests.support.recording_session import RecordingSession, never

OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"], max_topics_per_message=3, install_s=0.0)
BOB, EVE, MIX = user_topic("bob"), user_topic("eve"), playlist("dan", "mix")


def uris(*topics: Topic) -> list[str]:
    return [format_topic(topic) for topic in topics]


def make_core(soon: Soon = never, **options: Any) -> AccessPointCore:
    changed = {field: options.get(field, getattr(OPTIONS, field)) for field in OPTIONS.__struct_fields__}
    return AccessPointCore(AccessPointOptions(**changed), lambda token, wall_s: Identity(token, 1e12), random.Random(1), soon)


def following(core: AccessPointCore, *topics: Topic, user: str = "ann") -> RecordingSession:
    session = RecordingSession(core)
    session.tell(op="hello", token=user)
    for topic in topics:
        session.tell(op="subscribe", topics=uris(topic))
    core.tick(0.0, 0.25)
    return session


def say(core: AccessPointCore, frame: Assignment) -> int:
    """Has the service say it, and everybody told; returns in how many steps."""
    return len(list(core.offload_notices.tell())) if core.offload_notices.offer(frame) else 0


def told(session: RecordingSession) -> list[tuple[int, list[str], list[str], int]]:
    found = [message for message in session.messages if message["op"] == "offloaded"]
    return [(each["epoch"], each["left"], each["back"], each["every_ms"]) for each in found]


def test_a_session_is_told_in_one_message_what_of_its_topics_left_and_came_back() -> None:
    core = make_core()
    both, other = following(core, BOB, MIX), following(core, EVE)
    say(core, assignment(1, BOB, every_ms=500))
    say(core, assignment(2, MIX, base=1, come=(BOB,)))
    say(core, assignment(3, user_topic("nobody"), base=2))
    assert told(both) == [(1, uris(BOB), [], 500), (2, uris(MIX), uris(BOB), 0)]
    assert (told(other), core.offload_notices.told) == ([], 2)


def test_who_subscribes_to_a_topic_that_is_out_is_told_behind_the_answer() -> None:
    core = make_core()
    session = following(core)
    say(core, assignment(4, BOB, every_ms=9))
    session.tell(op="subscribe", id=1, topics=uris(BOB, EVE))
    session.tell(op="subscribe", id=2, topics=uris(MIX))
    core.tick(0.0, 0.25)
    assert [message["op"] for message in session.messages] == ["welcome", "subscribed", "offloaded", "subscribed"]
    assert told(session) == [(4, uris(BOB), [], 9)]


def test_who_left_the_topic_before_the_answer_is_told_nothing() -> None:
    core = make_core(install_s=5.0)
    say(core, assignment(4, BOB))
    session = RecordingSession(core)
    session.tell(op="hello", token="ann")
    session.tell(op="subscribe", id=1, topics=uris(BOB))
    session.tell(op="unsubscribe", id=2, topics=uris(BOB))
    core.tick(5.0, 0.25)
    assert [message["op"] for message in session.messages] == ["welcome", "unsubscribed", "subscribed"]


def test_many_topics_of_one_session_come_in_several_messages() -> None:
    core = make_core()
    topics = [user_topic(f"u{n}") for n in range(7)]
    session = following(core, *topics)
    say(core, assignment(1, *topics))
    assert [len(left) for _, left, _, _ in told(session)] == [3, 3, 1]
    assert sorted(uri for _, left, _, _ in told(session) for uri in left) == uris(*topics)


def test_a_session_that_does_not_read_is_told_once_it_does_and_only_what_holds_then() -> None:
    """Nothing piles up for it, whatever switches meanwhile."""
    steps: list[Callable[[], None]] = []
    core = make_core(steps.append)
    slow = following(core, BOB, EVE, MIX)
    slow.outbox = Outbox(0.0, 1000)
    core.slow.stopped(slow)
    epoch = 0
    for _ in range(50):
        for topic in (BOB, EVE):
            epoch += 1
            say(core, assignment(epoch, topic, base=epoch - 1, come=(EVE,) if topic == BOB else (BOB,)))
    assert told(slow) == []
    core.slow.resumed(slow)
    assert told(slow) == []
    (catch_up,) = steps
    catch_up()
    ((epoch_told, left, back, _),) = told(slow)
    assert (epoch_told, left, sorted(back)) == (100, uris(EVE), uris(BOB))


def test_a_slow_session_that_ends_is_forgotten() -> None:
    core = make_core()
    slow = following(core, BOB)
    slow.outbox = Outbox(0.0, 1000)
    core.slow.stopped(slow)
    say(core, assignment(1, BOB))
    core.leave(slow, "lost")
    core.offload_notices.catch_up()
    assert (told(slow), core.offload_notices._missed, core.offload_notices._resumed) == ([], {}, [])


def test_a_crowd_is_told_in_steps_and_what_switches_meanwhile_is_told_too() -> None:
    """One telling at a time; a switch that comes during it is told behind it, by the same."""
    core = make_core()
    crowd = [following(core, BOB, user=f"u{n}") for n in range(2 * SESSIONS)]
    assert core.offload_notices.offer(assignment(1, BOB))
    telling = core.offload_notices.tell()
    next(telling)
    reached = sum(bool(told(each)) for each in crowd)
    assert 0 < reached < len(crowd)
    late = following(core, EVE)
    crowd[0].tell(op="subscribe", topics=uris(EVE))
    assert not core.offload_notices.offer(assignment(2, EVE, base=1, come=(BOB,)))
    for _ in telling:
        pass
    assert told(late) == [(2, uris(EVE), [], 0)]
    for each in crowd:
        state: dict[str, bool] = {}
        for _, left, back, _ in told(each):
            state |= dict.fromkeys(left, True) | dict.fromkeys(back, False)
        assert state.get(uris(BOB)[0], False) is False
    assert core.offload_notices.offer(assignment(3, MIX))


def test_what_cannot_be_followed_is_refused_and_nobody_is_told() -> None:
    core = make_core()
    session = following(core, BOB)
    with pytest.raises(Refused, match="send the whole"):
        core.offload_notices.offer(assignment(2, BOB, base=1))
    assert told(session) == []


TOPICS = [user_topic(f"u{n}") for n in range(5)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("assign"), st.frozensets(st.sampled_from(TOPICS))),
        st.tuples(st.sampled_from(["subscribe", "unsubscribe", "stop", "read"]), st.frozensets(st.sampled_from(TOPICS), min_size=1)),
        st.tuples(st.just("step"), st.frozensets(st.nothing())),
    ),
    max_size=30,
)


@settings(max_examples=150)
@given(STEPS)
def test_whatever_happens_a_client_ends_up_knowing_which_of_its_topics_are_out(steps: list[tuple[str, frozenset[Topic]]]) -> None:
    """It forgets what it was told of a topic when it leaves it, as the SDK does."""
    core = make_core(max_topics_per_message=2000)
    session, epoch, tellings, known, heard = following(core), 0, [], set[str](), 0
    for step, topics in steps:
        if step == "assign":
            epoch += 1
            if core.offload_notices.offer(assignment(epoch, *topics)):
                tellings.append(core.offload_notices.tell())
        elif step == "stop" and session.outbox is None:
            session.outbox = Outbox(0.0, 1000)
            core.slow.stopped(session)
        elif step == "read" and session.outbox is not None:
            core.slow.resumed(session)
            core.offload_notices.catch_up()
        elif step == "step" and tellings and next(tellings[0], None) is None:
            del tellings[0]
        elif step in ("subscribe", "unsubscribe") and session.outbox is None:
            session.tell(op=step, topics=uris(*topics))
        for _, left, back, _ in told(session)[heard:]:
            heard, known = heard + 1, (known | set(left)) - set(back)
        if step == "unsubscribe" and session.outbox is None:
            known -= set(uris(*topics))
    for telling in tellings:
        list(telling)
    if session.outbox is not None:
        core.slow.resumed(session)
        core.offload_notices.catch_up()
    for _, left, back, _ in told(session)[heard:]:
        known = (known | set(left)) - set(back)
    held = uris(*core.hub.held(session))
    assert known == {uri for uri in held if uri in uris(*core.offload_notices.assigned.out)}

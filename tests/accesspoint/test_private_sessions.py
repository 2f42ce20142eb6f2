"""accesspoint.private_sessions: what is played in private goes no further, also while nobody can say whether it is (AUTH-8)."""

import json
from typing import Any

import msgspec
import pytest

from accesspoint.private_sessions import HERE, MAX_WAITING, MAX_WAITING_BYTES
from infra.kernel.access import FOREVER_MS
from infra.kernel.frames import Call, Reply
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession
from tests.support.social_twin import SocialTwin

HOUR_S = 3600


def world_of(*, has_social: bool = True, is_linked: bool = True, **options: Any) -> GuardedCore:
    """Returns an access point with a presence service, and with a social service where `has_social`."""
    services = {"presence": ["p1"], **({"social": ["s1"]} if has_social else {})}
    policy = "social" if has_social else "open"
    return GuardedCore(SocialTwin(), is_linked=is_linked, services=services, policy=policy, **options)


def act(session: RecordingSession, id_: int, now_s: float = 0.0, **more: Any) -> dict[str, Any] | None:
    return session.tell(now_s, op="act", id=id_, kind="track-started", data={}, **more)


def passed_on(world: GuardedCore) -> list[int]:
    """Returns the ids of the acts that presence has got."""
    return [msgspec.json.decode(call.body)["id"] for call in world.presence if isinstance(call, Call) and call.op == "act"]


def asked(world: GuardedCore) -> list[str]:
    """Returns what the social service is asked and has not answered."""
    return [call.op for call in world.outlet.calls]


def refuse(world: GuardedCore, code: str, reason: str = "", body: bytes = b"") -> None:
    """Lets the social service answer what it is asked with a code, or with `body`."""
    calls, world.outlet.calls = world.outlet.calls, []
    world.answer([Reply(call.n, code, reason, body) for call in calls])


# A session asks once.


def test_a_session_asks_before_its_first_act_and_not_again() -> None:
    """AUTH-8."""
    world = world_of()
    bob = world.client("bob")
    act(bob, 1)
    act(bob, 2)
    assert (asked(world), passed_on(world)) == (["is-private"], [])
    world.answer()
    assert passed_on(world) == [1, 2]
    act(bob, 3)
    assert (asked(world), passed_on(world)) == ([], [1, 2, 3])


def test_until_its_hour_a_private_session_is_told_ok_and_nobody_hears_of_it() -> None:
    """AUTH-8: the hour is the social service's, and by the wall clock."""
    world = world_of()
    world.twin.hide("bob", "c1", HOUR_S * 1000)
    bob = world.client("bob")
    act(bob, 1)
    world.answer()
    assert bob.messages[-1] == {"op": "ok", "id": 1}
    assert act(bob, 2, HOUR_S - 0.001) == {"op": "ok", "id": 2}
    assert (passed_on(world), world.core.gatekeeper.private.dropped) == ([], 2)
    act(bob, 3, HOUR_S)
    assert (passed_on(world), world.core.gatekeeper.private.dropped) == ([3], 2)


def test_whose_hello_was_private_is_never_asked_about() -> None:
    """AUTH-8: not even when their other devices change."""
    world = world_of()
    bob = world.client("bob", private=True)
    world.core.gatekeeper.private.changed("bob")
    assert act(bob, 1) == {"op": "ok", "id": 1}
    assert (asked(world), passed_on(world)) == ([], [])


def test_after_a_change_elsewhere_sessions_of_the_user_ask_again_and_others_do_not() -> None:
    """AUTH-8."""
    world = world_of()
    bob, eve = world.client("bob"), world.client("eve")
    for session in (bob, eve):
        act(session, 1)
        world.answer()
    world.tell(world.twin.hide("bob", "c1", FOREVER_MS))
    act(eve, 2)
    assert asked(world) == []
    act(bob, 3)
    assert asked(world) == ["is-private"]
    world.answer()
    assert passed_on(world) == [1, 1, 2]


# Where nobody can say.


def test_while_nobody_can_say_acts_are_refused() -> None:
    """AUTH-8: fails closed, and the next act asks again."""
    world = world_of(is_linked=False)
    bob = world.client("bob")
    answer = act(bob, 1)
    assert answer is not None
    assert (answer["id"], answer["code"]) == (1, "unavailable")
    assert answer["reason"] == "nobody can say now whether you listen in private: no social service can be reached now"
    assert passed_on(world) == []
    world.link()
    act(bob, 2)
    world.answer()
    assert passed_on(world) == [2]


def test_each_act_that_waits_is_refused_if_the_service_refuses() -> None:
    """AUTH-8: each is asked about by itself, in order."""
    world = world_of()
    bob = world.client("bob")
    act(bob, 1)
    act(bob, 2)
    refuse(world, "internal-error", "a defect of ours")
    refuse(world, "internal-error", "a defect of ours")
    assert [(each["id"], each["code"]) for each in bob.messages[1:]] == [(1, "unavailable"), (2, "unavailable")]
    assert (asked(world), passed_on(world)) == ([], [])
    assert world.core.refusals == {"unavailable": 2}


def test_a_refusal_that_ends_the_session_ends_what_waits_of_it() -> None:
    """AUTH-8: nothing that waits behind it is passed on."""
    world = world_of()
    bob = world.client("bob")
    bob.tell(op="private", id=1, on=True)
    act(bob, 2)
    refuse(world, "token-revoked", "you have gone")
    assert (bob.ending, passed_on(world)) == (("token-revoked", None), [])


@pytest.mark.parametrize("body", [b"\xc1", msgspec.msgpack.encode("soon")])
def test_an_answer_that_makes_no_sense_refuses_the_act(body: bytes) -> None:
    """AUTH-8."""
    world = world_of()
    bob = world.client("bob")
    act(bob, 1)
    refuse(world, "", body=body)
    assert bob.messages[-1]["code"] == "unavailable"
    assert bob.messages[-1]["reason"].endswith("the social service has answered something else")
    assert passed_on(world) == []


@pytest.mark.parametrize(("code", "body"), [("", b""), ("unknown-op", b"")])
def test_a_service_of_an_older_version_knows_no_private_sessions(code: str, body: bytes) -> None:
    world = world_of()
    bob = world.client("bob")
    act(bob, 1)
    refuse(world, code, "there is no is-private here", body)
    assert passed_on(world) == [1]


# Changing it.


def test_what_the_service_has_noted_holds_for_all_sessions_of_the_device_and_for_no_other() -> None:
    """AUTH-8."""
    world = world_of()
    bob, again, tv = world.client("bob"), world.client("bob"), world.client("bob")
    tv.client = "tv"
    assert bob.tell(op="private", id=1, on=True) is None
    world.answer()
    assert bob.messages[-1] == {"op": "private", "id": 1, "on": True, "until_ms": FOREVER_MS}
    for session in (bob, again):
        assert act(session, 2) == {"op": "ok", "id": 2}
    act(tv, 3)
    world.answer()
    assert passed_on(world) == [3]


def test_an_act_after_a_change_waits_for_it() -> None:
    """AUTH-8: the order of the session is kept, so what was said in private stays private."""
    world = world_of()
    bob = world.client("bob")
    bob.tell(op="private", id=1, on=True)
    act(bob, 2)
    bob.tell(op="private", id=3, on=False)
    act(bob, 4)
    assert asked(world) == ["private"]
    world.answer()
    assert passed_on(world) == [4]
    assert [each["id"] for each in bob.messages[1:]] == [1, 2, 3]


def test_a_change_that_the_service_refuses_is_an_error_with_its_own_reason() -> None:
    world = world_of()
    bob = world.client("bob")
    bob.tell(op="private", id=1, on=True, hours=3)
    refuse(world, "bad-field", "hours must be less")
    assert (bob.messages[-1]["id"], bob.messages[-1]["code"], bob.messages[-1]["reason"]) == (1, "bad-field", "hours must be less")


def test_an_old_service_that_cannot_change_it_says_so() -> None:
    """AUTH-8: whoever asks for privacy and gets none is told."""
    world = world_of()
    bob = world.client("bob")
    bob.tell(op="private", id=1, on=True)
    refuse(world, "unknown-op", "there is no private here")
    assert bob.messages[-1]["code"] == "unknown-op"


def test_after_an_answer_without_an_hour_the_next_act_asks() -> None:
    """AUTH-8: the client has the answer as it came; what it means is asked for before anything is passed on."""
    world = world_of()
    bob = world.client("bob")
    bob.tell(op="private", id=1, on=True)
    world.twin.hide("bob", "c1", FOREVER_MS)
    refuse(world, "", body=b'{"op":"private","id":1}')
    assert bob.messages[-1] == {"op": "private", "id": 1}
    act(bob, 2)
    assert asked(world) == ["is-private"]
    world.answer()
    assert (bob.messages[-1], passed_on(world)) == ({"op": "ok", "id": 2}, [])


# Answers from before a change.


def test_an_answer_from_before_a_change_is_not_believed_after_it() -> None:
    """AUTH-8: another social node has made the device private while one was still answering that it is not."""
    world = GuardedCore()
    ann = world.client("ann")
    act(ann, 1)
    old = world.outlet.replies()
    world.core.gatekeeper.barred(world.twin.hide("ann", "c1", FOREVER_MS), world.now_s)
    world.answer(old)
    assert [call.op for call in world.outlet.calls] == ["is-private"]
    world.answer()
    assert (passed_on(world), ann.messages[-1]) == ([], {"op": "ok", "id": 1})


def test_a_session_of_the_same_device_that_waits_for_an_older_answer_hears_of_the_wish_of_the_other_one() -> None:
    """AUTH-8."""
    world = GuardedCore()
    one, other = world.client("ann"), world.client("ann")
    act(one, 1)
    old = world.outlet.replies()
    other.tell(world.now_s, op="private", id=2, on=True)
    wish = world.outlet.replies()
    world.answer(wish)
    world.answer(old)
    world.answer()
    assert passed_on(world) == []


def test_the_answer_to_a_wish_is_not_believed_where_something_has_changed_since() -> None:
    """AUTH-8: the wish of this session was done first, and another wish after it, at another node."""
    world = GuardedCore()
    ann = world.client("ann")
    ann.tell(world.now_s, op="private", id=1, on=False)
    old = world.outlet.replies()
    world.core.gatekeeper.barred(world.twin.hide("ann", "c1", FOREVER_MS), world.now_s)
    world.answer(old)
    act(ann, 2)
    world.answer()
    assert passed_on(world) == []


# Without a social service.


def test_without_a_social_service_it_is_known_here_alone() -> None:
    """AUTH-8: acts are passed on without asking; a change holds for all sessions of the device."""
    world = world_of(has_social=False, is_linked=False)
    bob, again = world.client("bob"), world.client("bob")
    act(bob, 1)
    assert bob.tell(op="private", id=2, on=True) == {"op": "private", "id": 2, "on": True, "until_ms": FOREVER_MS}
    for session in (bob, again):
        act(session, 3)
    assert bob.tell(op="private", id=4, on=False) == {"op": "private", "id": 4, "on": False, "until_ms": 0}
    act(bob, 5)
    assert passed_on(world) == [1, 5]


def test_without_a_social_service_hours_are_counted_here() -> None:
    """AUTH-8."""
    world = world_of(has_social=False, is_linked=False)
    bob = world.client("bob")
    said = bob.tell(op="private", id=1, on=True, hours=2)
    assert said == {"op": "private", "id": 1, "on": True, "until_ms": 2 * HOUR_S * 1000}
    act(bob, 2, 2 * HOUR_S - 0.001)
    act(bob, 3, 2 * HOUR_S)
    assert passed_on(world) == [3]


def test_without_a_social_service_a_private_hello_is_private() -> None:
    """AUTH-8."""
    world = world_of(has_social=False, is_linked=False)
    bob = world.client("bob", private=True)
    assert bob.private_until_ms == HERE
    assert act(bob, 1) == {"op": "ok", "id": 1}
    assert passed_on(world) == []


# Bounds, and ends.


def test_so_many_acts_may_wait_and_the_next_is_told_to_slow_down() -> None:
    """DPS-26: one client does not take the room of others."""
    world = world_of(max_calls_per_client=10_000)
    bob = world.client("bob")
    for id_ in range(MAX_WAITING):
        assert act(bob, id_) is None
    refused = act(bob, MAX_WAITING)
    assert refused is not None
    assert (refused["id"], refused["code"]) == (MAX_WAITING, "rate-limited")
    world.answer()
    assert passed_on(world) == list(range(MAX_WAITING))


def test_so_many_bytes_may_wait() -> None:
    world = world_of()
    bob = world.client("bob")
    text = "x" * 3000
    taken = 0
    while act(bob, taken, title=text) is None:
        taken += 1
    size_bytes = len(json.dumps({"op": "act", "id": 10, "kind": "track-started", "data": {}, "title": text}))
    assert taken == MAX_WAITING_BYTES // size_bytes


def test_what_waits_of_a_session_that_is_gone_is_forgotten() -> None:
    """AUTH-8: the answer that comes later finds nobody."""
    world = world_of()
    bob = world.client("bob")
    act(bob, 1)
    said = len(bob.messages)
    world.core.leave(bob, "bye")
    world.answer()
    assert (passed_on(world), len(bob.messages)) == ([], said)

"""accesspoint.private_sessions: acts of a device that is private go nowhere, also while that changes."""

from infra.kernel.frames import Call
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession

DAY_MS = 86_400_000


def act(session: RecordingSession, world: GuardedCore, id_: int) -> None:
    session.tell(world.now_s, op="act", id=id_, kind="track-started", data={})


def heard(world: GuardedCore) -> int:
    """Returns how many acts presence has heard of."""
    return sum(isinstance(frame, Call) and frame.op == "act" for frame in world.presence)


def test_an_answer_from_before_a_change_is_not_believed_after_it() -> None:
    """AUTH-8: another social node has made the device private while one was still answering that it is not."""
    world = GuardedCore()
    ann = world.client("ann")
    act(ann, world, 1)
    old = world.outlet.replies()
    world.core.gatekeeper.barred(world.twin.hide("ann", "c1", DAY_MS), world.now_s)
    world.answer(old)
    assert [call.op for call in world.outlet.calls] == ["is-private"]
    world.answer()
    assert (heard(world), ann.messages[-1]) == (0, {"op": "ok", "id": 1})


def test_a_session_of_the_same_device_that_waits_for_an_older_answer_hears_of_the_wish_of_the_other_one() -> None:
    """AUTH-8."""
    world = GuardedCore()
    one, other = world.client("ann"), world.client("ann")
    act(one, world, 1)
    old = world.outlet.replies()
    other.tell(world.now_s, op="private", id=2, on=True)
    wish = world.outlet.replies()
    world.answer(wish)
    world.answer(old)
    world.answer()
    assert heard(world) == 0


def test_the_answer_to_a_wish_is_not_believed_where_something_has_changed_since() -> None:
    """AUTH-8: the wish of this session was done first, and another wish after it, at another node."""
    world = GuardedCore()
    ann = world.client("ann")
    ann.tell(world.now_s, op="private", id=1, on=False)
    old = world.outlet.replies()
    world.core.gatekeeper.barred(world.twin.hide("ann", "c1", DAY_MS), world.now_s)
    world.answer(old)
    act(ann, world, 2)
    world.answer()
    assert heard(world) == 0

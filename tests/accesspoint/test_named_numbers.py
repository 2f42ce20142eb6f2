"""What of the events that come to an access point is news to somebody who has said numbers."""

import pytest

from accesspoint import hub as hub_module
from accesspoint.core import AccessPointCore
from accesspoint.named_numbers import NamedNumbers, awaited, unknown
from infra.kernel.frames import Keeps
from infra.kernel.topics import parse_topic
from tests.support.bare_core import FEEDS, make_core, welcomed
from tests.support.recording_session import RecordingSession

DAN, EVE = (parse_topic(uri) for uri in FEEDS[:2])
SECONDS = 120.0


def body(site: str, epoch: int, seq: int) -> bytes:
    return b'{"op":"event","site":"%b","epoch":%d,"seq":%d,"topic":"%b"}' % (site.encode(), epoch, seq, FEEDS[0].encode())


def places(session: RecordingSession) -> list[tuple[str, int]]:
    return [(message["site"], message["seq"]) for message in session.messages if message["op"] == "event"]


def following(core: AccessPointCore, *names: str) -> list[RecordingSession]:
    core.keeping.learn(Keeps({"user": ("latest", SECONDS)}))
    sessions = [welcomed(core, name) for name in names]
    for session in sessions:
        core.subscriptions.add(session, [DAN])
    return sessions


def deliver(core: AccessPointCore, *bodies: bytes) -> None:
    core.hub.deliver([core.hub.topics[DAN].handle] * len(bodies), bodies)
    core.hub.flush()


def test_what_comes_before_a_known_event_of_its_site_is_known_whatever_its_epoch() -> None:
    """DPS-6: other sites have numbers of their own."""
    bodies = [body("sto", 7, 9), body("lon", 3, 1), body("sto", 8, 1), body("sto", 8, 2), body("sto", 8, 3)]
    assert unknown(bodies, [("sto", 8, 2)]) == [bodies[1], bodies[4]]
    assert unknown(bodies, [("sto", 6, 20)]) == bodies
    assert awaited(bodies, [("sto", 8, 3), ("sto", 8, 4), ("ash", 1, 1)]) == [("sto", 8, 4), ("ash", 1, 1)]


def test_what_no_broker_has_written_is_known_to_nobody() -> None:
    bodies = [b"", b'{"op":"event","x":1}', body("sto", 7, 1)]
    assert unknown(bodies, [("sto", 7, 1)]) == bodies[:2]
    assert awaited(bodies[:2], [("sto", 7, 1)]) == [("sto", 7, 1)]


def test_what_somebody_has_does_not_come_again_until_all_that_they_named_has_come() -> None:
    """DPS-6: others get it; and what is news comes to all, in order."""
    core = make_core()
    ann, bob = following(core, "ann", "bob")
    names = NamedNumbers(core.hub, core.keeping)
    names.note(ann, DAN, [("lon", 3, 2), ("ash", 5, 1)], 0.0)
    deliver(core, body("lon", 3, 1))
    deliver(core, body("lon", 3, 2), body("lon", 3, 3), body("sto", 7, 1))
    deliver(core, body("lon", 3, 4))
    assert len(names) == 1
    deliver(core, body("ash", 5, 2))
    assert len(names) == 0
    assert core.hub.topics[DAN].apart is None
    deliver(core, body("ash", 5, 1))  # as no site does: it shows that nothing is looked through any more
    assert places(ann) == [("lon", 3), ("sto", 1), ("lon", 4), ("ash", 2), ("ash", 1)]
    assert places(bob) == [("lon", 1), ("lon", 2), ("lon", 3), ("sto", 1), ("lon", 4), ("ash", 2), ("ash", 1)]


def test_nothing_is_kept_for_much_longer_than_events_are_or_for_more_than_may_be() -> None:
    """DPS-6: the first ones are served like everybody. What an owner brings late that stood still has not gone from its window."""
    core = make_core()
    ann, bob, cyd = following(core, "ann", "bob", "cyd")
    names = NamedNumbers(core.hub, core.keeping, most=2)
    for now_s, session in enumerate((ann, bob, cyd)):
        names.note(session, DAN, [("lon", 3, 2)], float(now_s))
    assert len(names) == 2
    names.tick(1.9 * SECONDS)
    assert len(names) == 2
    names.tick(2 * SECONDS + 1.5)
    assert len(names) == 1
    deliver(core, body("lon", 3, 2))
    assert [places(each) for each in (ann, bob, cyd)] == [[("lon", 2)], [("lon", 2)], []]


def test_whoever_is_gone_or_has_left_the_topic_is_forgotten() -> None:
    """DPS-6: nothing is kept of who needs it no more."""
    core = make_core()
    gone, left = following(core, "ann", "bob")
    names = NamedNumbers(core.hub, core.keeping)
    for session in (gone, left):
        names.note(session, DAN, [("sto", 7, 4)], 0.0)
        names.note(session, EVE, [("sto", 7, 4)], 0.0)  # which they do not follow
    assert len(names) == 2
    core.hub.leave(gone)
    core.subscriptions.drop(left, [DAN])
    assert core.hub.topics[DAN].apart is None
    for session in (gone, left):
        names.forget(session, DAN)
    assert len(names) == 0


def test_somebody_who_has_a_part_gets_the_rest_once_of_a_topic_that_is_served_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """SB-56: what waits for others has been looked through for them."""
    monkeypatch.setattr(hub_module, "BURST_FROM", 1)
    core = make_core()
    ann, bob = following(core, "ann", "bob")
    names = NamedNumbers(core.hub, core.keeping)
    names.note(ann, DAN, [("lon", 3, 2)], 0.0)
    for some in ((1, 2, 3), (4,)):
        for seq in some:
            deliver(core, body("lon", 3, seq))
        while core.hub.bursting:
            core.hub.step()
    core.hub.flush()
    assert places(ann) == [("lon", 3), ("lon", 4)]
    assert places(bob) == [("lon", seq) for seq in (1, 2, 3, 4)]

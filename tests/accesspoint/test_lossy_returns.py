"""What of the events that an access point has missed is news to somebody who has said numbers."""

from accesspoint.lossy_returns import LossyReturns, unknown
from infra.kernel.topics import parse_topic
from tests.support.bare_core import FEEDS, make_core, welcomed

DAN = parse_topic(FEEDS[0])


def body(site: str, epoch: int, seq: int) -> bytes:
    return b'{"op":"event","site":"%b","epoch":%d,"seq":%d,"topic":"%b"}' % (site.encode(), epoch, seq, FEEDS[0].encode())


def test_what_comes_before_a_known_event_of_its_site_is_known_whatever_its_epoch() -> None:
    """DPS-6: other sites have numbers of their own."""
    bodies = [body("sto", 7, 9), body("lon", 3, 1), body("sto", 8, 1), body("sto", 8, 2), body("sto", 8, 3)]
    assert unknown(bodies, [("sto", 8, 2)]) == [bodies[1], bodies[4]]
    assert unknown(bodies, [("sto", 6, 20)]) == bodies


def test_whoever_is_gone_or_has_left_the_topic_is_forgotten() -> None:
    """DPS-6: nothing is kept of who needs it no more."""
    core = make_core()
    gone, left, there = (welcomed(core, name) for name in ("ann", "bob", "cyd"))
    core.subscriptions.add(left, [DAN])
    core.subscriptions.add(there, [DAN])
    returns = LossyReturns(core.hub)
    for number, session in enumerate((gone, left, there)):
        returns.note(session, DAN, number, [("sto", 7, 4)])
    returns.forget(gone, DAN)
    core.subscriptions.drop(left, [DAN])
    returns.forget(left, DAN)
    returns.hold(DAN)
    assert [core.hub.is_joining(each, DAN, number) for number, each in enumerate((gone, left, there))] == [False, False, True]
    returns.go_on(DAN, [], is_whole=True)
    returns.hold(DAN)
    assert not core.hub.is_joining(there, DAN, 2)

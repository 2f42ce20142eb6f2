"""What an aggregator says to an access point: that all has been passed on which brokers had sent (fences)."""

from itertools import pairwise

import pytest

from aggregator.core import LEFT_AT_ONCE
from aggregator.points import CAUGHT_UP_BEATS, LEAVE_COST
from infra.kernel.frames import Fence, Heartbeat, Inherited, Subscribe, Unsubscribe, View
from infra.kernel.shares import SHARE
from infra.kernel.topics import user_topic
from tests.support.fenced_site import LEFT, FencedSite, RestartedSite
from tests.support.recording_wire import RecordingWire


def test_a_fence_waits_for_a_broker_that_brings_what_was_missed_when_its_link_is_back() -> None:
    """DPS-11: whoever goes on at this aggregator has had that from another one, and would get it again."""
    for is_lost_before in (True, False):
        site = FencedSite()
        if is_lost_before:
            site.lose("b2")
        site.point.frames([Fence(7)])
        if not is_lost_before:
            site.lose("b2")
        site.answer("b1")
        assert site.fenced() == []
        site.links["b2"] = site.link_up("b2")
        site.points.tell_all()
        assert site.fenced() == []
        site.answer("b2")
        assert site.fenced() == [7]


def test_a_fence_waits_no_longer_for_a_broker_that_is_out_or_cannot_be_reached() -> None:
    """DPS-5: the access point may have nobody else who delivers."""
    site = FencedSite()
    site.lose("b2")
    site.point.frames([Fence(7)])
    site.answer("b1")
    site.brokers.set_view(View(2, ("b1",)))
    site.answer("b1")
    assert site.fenced() == [7]
    site = FencedSite()
    site.lose("b2")
    site.point.frames([Fence(8)])
    site.answer("b1")
    for _ in range(CAUGHT_UP_BEATS):
        site.points.tick()
    assert site.fenced() == []
    site.points.tick()
    assert site.fenced() == [8]


@pytest.mark.parametrize("is_back", [True, False])
async def test_a_fence_waits_for_what_heirs_give_of_a_broker_that_is_lost(is_back: bool) -> None:
    """DPS-11, DPS-18: whoever comes has had that from another aggregator, and whoever goes would not get it."""
    site = RestartedSite()
    site.point.frames([Fence(7)])
    site.answer("b1")
    if is_back:
        site.restart()
        site.answer("b2")
        assert site.fenced() == [], "its next process has nothing of what it had sent"
    else:
        site.lose("b2")
    site.hear("b1", Heartbeat(LEFT))
    site.answer("b1")
    assert site.fenced() == []
    site.hear("b1", Inherited("b2", ["playlist"]))
    site.points.tell_all()
    assert site.fenced() == [7]


async def test_a_fence_does_not_wait_for_heirs_that_say_nothing_for_ever() -> None:
    """DPS-5: the access point may have nobody else who delivers."""
    site = RestartedSite()
    site.point.frames([Fence(7)])
    site.restart()
    site.answer("b2")
    site.hear("b1", Heartbeat(LEFT))
    site.answer("b1")
    for _ in range(CAUGHT_UP_BEATS + 1):
        site.points.tick()
    assert site.fenced() == [7]


def test_what_an_access_point_wanted_that_is_gone_is_withdrawn_a_share_in_each_turn() -> None:
    """DPS-26: a hundred thousand topics held up all other access points for 0.3 s."""
    site, topics = FencedSite("b1"), [user_topic(f"u{n}") for n in range(20 * LEFT_AT_ONCE)]
    site.point.frames([Subscribe(1, list(range(len(topics))), list(topics))])
    wire = site.links["b1"].wire
    assert isinstance(wire, RecordingWire)

    def withdrawn() -> int:
        return sum(len(frame.topics) for frame in wire.sent if isinstance(frame, Unsubscribe))

    site.point.down("closed")
    assert len(site.points) == 0
    counts = [withdrawn()]
    while counts[-1] < len(topics):
        steps, site.steps = site.steps, []
        assert steps, "nobody goes on"
        for step in steps:
            step()
        counts.append(withdrawn())
    assert max(after - before for before, after in pairwise([0, *counts])) <= -(-SHARE // LEAVE_COST) * LEFT_AT_ONCE
    assert site.points.topics_in_limbo == len(topics)

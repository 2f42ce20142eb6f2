"""What an aggregator says to an access point: that all has been passed on which brokers had sent (fences), and what may be missing."""

import asyncio
from typing import Any

import pytest

from aggregator.core import AggregatorCore
from aggregator.points import CAUGHT_UP_BEATS, AccessPoints
from broker.client import SiteClient
from infra.kernel.frames import HIGHEST_TAG, Applied, Fence, Fenced, Hello, Keeps, Lost, Subscribe, View
from infra.kernel.roles import ACCESSPOINT, BROKER
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire


class FencedSite:
    """An aggregator with links to the brokers b1 and b2, and an access point that asks for fences."""

    def __init__(self, *slots: str) -> None:
        nobody: Any = None  # it dials nobody
        self.view = View(1, slots or ("b1", "b2"))
        self.brokers = SiteClient(nobody, "sto", {slot: f"x{slot[1]}" for slot in self.view.slots}, wanted=lambda: ())
        self.points = AccessPoints(AggregatorCore(), self.brokers, lambda: None)
        self.links = {slot: self.link_up(slot) for slot in self.view.slots}
        self.wire = RecordingWire()
        self.point = self.points.link_up(self.link(self.wire, Hello(ACCESSPOINT, "ap1", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG), None))
        for slot in self.links:
            self.answer(slot)

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, Link.flush)

    def link_up(self, slot: str) -> Link:
        link = self.link(RecordingWire(), Hello(BROKER, slot, "sto", 1, 1, self.view, tags=HIGHEST_TAG), f"x{slot[1]}")
        self.brokers.link_up(link)
        return link

    def lose(self, slot: str) -> None:
        self.brokers.link_down(self.links[slot])
        self.points.tell_all()

    def answer(self, slot: str) -> None:
        """Has a broker answer everything that it was told, behind what its link lacked."""
        self.brokers.frames(self.links[slot], [Applied(1 << 60, {"sto": 1 << 60})])
        self.points.tell_all()

    def fenced(self) -> list[int]:
        return [frame.n for frame in self.wire.sent if isinstance(frame, Fenced)]


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


@pytest.mark.parametrize(("slots", "told"), [(("b1",), [[b"Uann"]]), (("b1", "b2"), [])])
async def test_nobody_waits_for_heirs_where_there_is_no_other_broker(slots: tuple[str, ...], told: list[list[bytes]]) -> None:
    """DPS-8: a broker was there again before it was missed, and its followers heard of `owner-lost` two seconds too late."""
    site = FencedSite(*slots)
    site.points.keep(Keeps({"user": ("latest", 4.0)}, ["user"]))
    site.points.broker_up("b1", 1)
    site.points.follow_ring()
    assert site.brokers.announcer.ring.owner(Topic(b"Uann")) == "b1"
    site.point.frames([Subscribe(1, [0], [b"Uann"])])
    site.points.broker_down("b1")
    site.points.broker_up("b1", 2)
    await asyncio.sleep(0)  # the next turn, in which it is told
    assert [frame.topics for frame in site.wire.sent if isinstance(frame, Lost)] == told

"""When an aggregator says to an access point that all has been passed on which brokers had sent: fences."""

from typing import Any

from aggregator.core import AggregatorCore
from aggregator.points import CAUGHT_UP_BEATS, AccessPoints
from broker.client import SiteClient
from infra.kernel.frames import HIGHEST_TAG, Applied, Fence, Fenced, Hello, View
from infra.kernel.roles import ACCESSPOINT, BROKER
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire


class FencedSite:
    """An aggregator with links to the brokers b1 and b2, and an access point that asks for fences."""

    def __init__(self) -> None:
        nobody: Any = None  # it dials nobody
        self.brokers = SiteClient(nobody, "sto", {"b1": "x1", "b2": "x2"}, wanted=lambda: ())
        self.points = AccessPoints(AggregatorCore(), self.brokers, lambda: None)
        self.links = {slot: self.link_up(slot) for slot in ("b1", "b2")}
        self.wire = RecordingWire()
        self.point = self.points.link_up(self.link(self.wire, Hello(ACCESSPOINT, "ap1", "sto", 1, 1, View(0, ())), None))
        for slot in self.links:
            self.answer(slot)

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, Link.flush)

    def link_up(self, slot: str) -> Link:
        view = View(1, ("b1", "b2"))
        link = self.link(RecordingWire(), Hello(BROKER, slot, "sto", 1, 1, view, tags=HIGHEST_TAG), f"x{slot[1]}")
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

"""An aggregator with its brokers and an access point, at the ends of links that go nowhere: what it is told, and what it says."""

import asyncio
from collections.abc import Callable
from typing import Any

from aggregator.core import AggregatorCore
from aggregator.points import AccessPoints
from broker.client import SiteClient
from infra.kernel.frames import HIGHEST_TAG, Applied, Fenced, Heartbeat, Hello, Keeps, Lost, Subscribe, View
from infra.kernel.roles import ACCESSPOINT, BROKER
from infra.kernel.shares import Shares
from infra.kernel.topics import parse_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(24)]
BOTH, LEFT, BACK = View(1, ("b1", "b2")), View(2, ("b1",)), View(3, ("b1", "b2"), (256, 0), (256, 256))
OF_B2 = {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"}


class FencedSite:
    """An aggregator with links to the brokers b1 and b2, and an access point that asks for fences."""

    def __init__(self, *slots: str) -> None:
        nobody: Any = None  # it dials nobody
        self.steps: list[Callable[[], None]] = []
        self.view = View(1, slots or ("b1", "b2"))
        self.core = AggregatorCore()
        self.brokers = SiteClient(nobody, "sto", {slot: f"x{slot[1]}" for slot in self.view.slots}, wanted=self.core.wanted)
        self.points = AccessPoints(self.core, self.brokers, lambda: None, Shares(lambda step: self.steps.append(step)))
        self.links = {slot: self.link_up(slot) for slot in self.view.slots}
        self.wire = RecordingWire()
        self.point = self.points.link_up(self.link(self.wire, Hello(ACCESSPOINT, "ap1", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG), None))
        for slot in self.links:
            self.answer(slot)

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, Link.flush)

    def link_up(self, slot: str, process: int = 1) -> Link:
        link = self.link(RecordingWire(), Hello(BROKER, slot, "sto", 1, process, self.view, tags=HIGHEST_TAG), f"x{slot[1]}")
        self.brokers.link_up(link)
        self.points.losses.broker_up(slot, process)
        return link

    def hear(self, slot: str, *frames: Any) -> None:
        self.brokers.frames(self.links[slot], frames)
        self.brokers.taken(self.links[slot])
        self.points.losses.follow_ring()

    def lose(self, slot: str) -> None:
        self.points.losses.broker_down(slot)
        self.brokers.link_down(self.links[slot])
        self.points.tell_all()

    def answer(self, slot: str) -> None:
        """Has a broker answer everything that it was told, behind what its link lacked."""
        self.brokers.frames(self.links[slot], [Applied(1 << 60, {"sto": 1 << 60})])
        self.points.tell_all()

    def fenced(self) -> list[int]:
        return [frame.n for frame in self.wire.sent if isinstance(frame, Fenced)]


class RestartedSite(FencedSite):
    """The same, where playlists have copies: b2 is started again before it was missed, and its access point wants to know what it loses."""

    def __init__(self) -> None:
        super().__init__()
        hello = Hello(ACCESSPOINT, "ap2", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG)
        self.wire = RecordingWire()
        self.points.keep(Keeps({"playlist": ("all", 60)}, ["playlist"]))
        self.point = self.points.link_up(self.link(self.wire, hello, None))
        self.point.frames([Subscribe(1, list(range(len(LISTS))), list(LISTS))])
        self.hear("b2", Heartbeat(BOTH, {7: 5}))

    def restart(self) -> None:
        """Has b2 killed, and linked again as another process, before any view says so."""
        self.lose("b2")
        self.links["b2"] = self.link_up("b2", process=2)

    async def lost(self) -> set[bytes]:
        await asyncio.sleep(0)  # it is told in the next turn
        return {topic for frame in self.wire.sent if isinstance(frame, Lost) for topic in frame.topics}

"""A decision service among peers that play brokers and access points: they tell what the test says, and note what they are told."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

from analytics.offloading.plan import PlanOptions
from infra.kernel.assignment import Assigned
from infra.kernel.frames import AnyFrame, Assignment, Followed, Frame, Hello, Survey, Surveyed, Tally, View
from infra.kernel.topics import user_topic
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from infra.runtime.wire.memory import MemoryNetwork
from services.decision.options import DecisionOptions
from services.decision.server import DecisionService

from .cluster import DEADLINE_S, FAST
from .eventually import eventually

SITES = {"sto": {"b1": "sto/b1"}, "lon": {"b1": "lon/b1"}}
ADDRESS = "sto/decision1"
PLAN = PlanOptions(threshold=2, weight=1.0, capacity=0, period_s=3600.0)


class Teller:
    """A broker or an access point by hand: it says `saying`, once, when it is surveyed, and then that it is done unless it `is_slow`."""

    def __init__(self, network: MemoryNetwork, role: str, name: str) -> None:
        self.role, self.name = role, name
        self.saying: list[Frame] = []
        self.is_slow = False
        self.heard: list[AnyFrame] = []
        self.assigned = Assigned()
        self.link: Link | None = None
        self.lost: list[str] = []
        site, _, node = name.partition("/")
        log = get_logger(role, node, site)
        self.node = Node((role, node, site), Context(network=network, log=log, rng=random.Random(name)), self, timing=FAST)

    async def start(self) -> None:
        """Starts the peer: a broker listens, an access point dials."""
        if self.role == "broker":
            await self.node.listen(self.name)
        else:
            self.node.dial(ADDRESS, "decision", None)

    def say(self, *frames: Frame) -> None:
        """Sends `frames` now."""
        assert self.link is not None
        for frame in frames:
            self.link.send(frame)

    @property
    def bases(self) -> list[int]:
        """On which epochs the assignments were built that it was told."""
        return [frame.base for frame in self.heard if isinstance(frame, Assignment)]

    @property
    def out(self) -> set[str]:
        """Whose topics are out, as far as it knows."""
        return {topic.decode()[1:] for topic in self.assigned.out}

    # Links (see `LinkRole`).

    def view(self) -> View:
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        pass

    def link_up(self, link: Link) -> LinkHandler:
        self.link = link
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        self.link, self.assigned = None, Assigned()
        self.lost.append(reason)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        self.heard += frames
        for frame in frames:
            match frame:
                case Survey(n):
                    saying, self.saying = self.saying, []
                    self.say(*saying, *([] if self.is_slow else [Surveyed(n, self.assigned.epoch)]))
                case Assignment():
                    self.assigned.offer(frame)

    def tick(self, now: float) -> None:
        pass


class DecisionWorld:
    """`async with DecisionWorld() as w:` has a decision service, `sto/b1`, `lon/b1` and the access points `sto/ap1`, `lon/ap1`, all linked.

    Nothing is decided by the clock: `decide` does it.
    """

    def __init__(self, plan: PlanOptions = PLAN, wall: Callable[[], float] = time.time, **options: Any) -> None:
        self.options = DecisionOptions(site="sto", node="decision1", sites=SITES, plan=plan, listen=ADDRESS, link=FAST, **options)
        self.network = MemoryNetwork()
        self.peers: dict[str, Teller] = {}
        self.wall = wall
        self.decision: DecisionService

    async def __aenter__(self) -> Self:
        for role, name in (("broker", "sto/b1"), ("broker", "lon/b1"), ("accesspoint", "sto/ap1"), ("accesspoint", "lon/ap1")):
            await self.add(role, name)
        await self.start()
        await self.linked()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.decision.close()
        for peer in self.peers.values():
            await peer.node.close()

    async def start(self) -> None:
        """Starts the decision service."""
        log = get_logger("decision", "decision1", "sto")
        self.decision = DecisionService(self.options, Context(network=self.network, log=log, rng=random.Random(), wall=self.wall))
        await self.decision.start()

    async def add(self, role: str, name: str) -> Teller:
        """Starts a further peer."""
        peer = self.peers[name] = Teller(self.network, role, name)
        await peer.start()
        return peer

    async def remove(self, name: str) -> None:
        """Ends a peer."""
        await self.peers.pop(name).node.close()

    async def linked(self) -> None:
        """Waits until everybody has a link to the service that runs now."""
        await self.until(lambda: len(self.decision.links.links) == len(self.peers) and all(peer.link for peer in self.peers.values()))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for `condition`. Raises AssertionError after a deadline."""
        await eventually(condition, "condition not met", deadline_s=DEADLINE_S)


def tally(**counts: int) -> Tally:
    """Returns the frame of counts: `bob=3` means that the feed of bob had three events."""
    return Tally([user_topic(name) for name in counts], list(counts.values()))


def followed(user: str, names: Iterable[str]) -> Followed:
    """Returns the frame that says that `user` follows the feeds of `names`."""
    topics: list[bytes] = [user_topic(name) for name in names]
    return Followed([user] * len(topics), topics)

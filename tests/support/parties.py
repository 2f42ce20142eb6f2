"""Nodes with roles that note everything, and strangers that are no nodes."""

import asyncio
import random
import time
from collections.abc import Callable

from infra.kernel.errors import Refused
from infra.kernel.frames import PROTOCOL, AnyFrame, Heartbeat, Hello, View
from infra.kernel.link_timing import LinkTiming
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wire.wire import Network
from tests.support.recording_log import RecordingLog
from tests.support.talkative import talkative
from tests.support.wire_end import DEADLINE_S, End

# `QUICK` is for tests of what happens when a time is up. A slow machine is late for it, so all others have `PATIENT`.
QUICK = LinkTiming(heartbeat_s=0.01, silent_s=0.06, hello_s=0.2, redial_base_s=0.001, redial_cap_s=0.01)
PATIENT = LinkTiming(heartbeat_s=60.0, silent_s=300.0, hello_s=60.0, redial_base_s=0.001, redial_cap_s=0.01)
NOW_S = 1_700_000_000.0
TALKATIVE = talkative("broker", "aggregator")
VIEW = View(3, ("b1", "b2"))


class RecordingRole:
    """A role that notes everything; `refuse` names the method that is to raise `trouble`."""

    def __init__(self) -> None:
        self.up: list[Link] = []
        self.down: list[tuple[Link, str]] = []
        self.got: list[AnyFrame] = []
        self.ticks = 0
        self.refuse = ""
        self.trouble: Exception = Refused("forbidden", "not here")

    def _may(self, what: str) -> None:
        if what == self.refuse:
            raise self.trouble

    @property
    def links(self) -> list[Link]:
        lost = [link for link, _ in self.down]
        return [link for link in self.up if link not in lost]

    def view(self) -> View:
        return VIEW

    def admit(self, hello: Hello) -> None:
        self._may("admit")

    def link_up(self, link: Link) -> LinkHandler:
        self._may("link_up")
        self.up.append(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        assert link in self.links, "link_down once for each link that is up"
        self.down.append((link, reason))

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        assert link in self.links
        self.got += [frame for frame in frames if not isinstance(frame, Heartbeat)]
        self._may("frames")

    def tick(self, now: float) -> None:
        self.ticks += 1
        self._may("tick")


class Party:
    """A node with its role and its log."""

    def __init__(
        self,
        network: Network,
        name: str,
        *,
        seed: int = 1,
        role: str = "broker",
        site: str = "sto",
        timing: LinkTiming = PATIENT,
        skew_s: float = 0,
    ) -> None:
        self.role, self.log = RecordingRole(), RecordingLog()
        self.address = ""
        self.strangers: list[End] = []
        rng = random.Random(f"{name} {seed}")
        context = Context(network=network, log=self.log, rng=rng, wall=lambda: NOW_S + skew_s)
        self.node = Node((role, name, site), context, self.role, timing=timing, link_kinds=TALKATIVE)

    async def listen(self, address: str = "127.0.0.1:0") -> "Party":
        self.address = await self.node.listen(address)
        return self

    def dial(self, other: "Party", role: str = "broker", site: str = "sto") -> "Party":
        self.node.dial(other.address, role, site)
        return self


Make = Callable[..., Party]


async def until(condition: Callable[[], object]) -> None:
    """Waits for a condition on the state of nodes. Fails after a deadline."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "condition not met"
        await asyncio.sleep(0)


async def met(one: Party, other: Party) -> None:
    await until(lambda: one.role.links and other.role.links)


def hello(name: str = "x", *, role: str = "broker", incarnation: int = 7, version: int = PROTOCOL, time_s: float = NOW_S) -> Hello:
    return Hello(role, name, "sto", incarnation, int(time_s * 1000), View(0, ()), version)


async def stranger(network: Network, party: Party, *said: AnyFrame) -> End:
    """Returns a peer that is no node: it says `said` and nothing else."""
    end = End(await network.dial(party.address)).start()
    party.strangers.append(end)
    if said:
        end.wire.send(said)
    return end


async def answer(end: End) -> AnyFrame:
    return (await end.until_heard(1))[0]

"""An access point without clients that announces many topics at once and waits until they are installed."""

import asyncio
import random
import time
from typing import Final

from infra.kernel.announcer import BULK
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Applied, Hello, Subscribe, View
from infra.kernel.link_timing import LinkTiming
from infra.kernel.topics import user_topic
from infra.runtime.context import Context
from infra.runtime.event_loop import run
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from infra.runtime.wire.tcp import TcpNetwork

from .feeder import SITE

INSTALLED_S: Final = 60.0


def announce(address: str, topics: int) -> float:
    """Announces `topics` topics to the aggregator at `address`. Returns the seconds from the first frame until the site has all of them.

    Raises TimeoutError after `INSTALLED_S`.
    """
    return run(_announce(address, topics))


async def _announce(address: str, topics: int) -> float:
    announcer = _Announcer(topics)
    node = Node(
        ("accesspoint", "bench", SITE),
        Context(network=TcpNetwork(), log=get_logger("bench", "announcer", SITE), rng=random.Random(1)),
        announcer,
        timing=LinkTiming(),
    )
    try:
        node.dial(address, "aggregator", SITE)
        async with asyncio.timeout(INSTALLED_S):
            return await announcer.seconds
    finally:
        await node.close()


class _Announcer:
    """A role (see `LinkRole`) that announces topics and takes the time in `seconds`."""

    def __init__(self, topics: int) -> None:
        self.seconds: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._topics = topics
        self._changes = 0
        self._started_s = 0.0

    def link_up(self, link: Link) -> LinkHandler:
        """Announces all topics to the aggregator."""
        topics = [user_topic(f"user{number}") for number in range(self._topics)]
        self._started_s = time.perf_counter()
        for start in range(0, len(topics), BULK):
            bulk: list[bytes] = list(topics[start : start + BULK])
            self._changes += 1
            link.send(Subscribe(self._changes, list(range(start, start + len(bulk))), bulk))
        return ToRole(self, link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Stops the clock when the site has applied the last change."""
        for frame in frames:
            if isinstance(frame, Applied) and frame.sites.get(SITE, 0) >= self._changes and not self.seconds.done():
                self.seconds.set_result(time.perf_counter() - self._started_s)

    def link_down(self, link: Link, reason: str) -> None:
        """Fails the measurement: the aggregator should not have gone."""
        if not self.seconds.done():
            self.seconds.set_exception(ConnectionResetError(reason))

    def view(self) -> View:
        """Returns an empty view: there are no brokers here."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Raises `Refused`: nobody links to an access point."""
        raise Refused("wrong-peer", "access points take no links")

    def tick(self, now: float) -> None:
        """Does nothing: no work is due by time."""

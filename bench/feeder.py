"""The feeder plays an aggregator: an access point dials it, announces its topics, and gets its events over the link."""

import asyncio
import random
from collections.abc import Sequence
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import AnyFrame, Applied, Heartbeat, Hello, Revoked, Subscribe, Unsubscribe, View
from infra.kernel.link_timing import LinkTiming
from infra.kernel.topics import Topic, parse_topic
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from infra.runtime.wire.wire import Network

from .outlets import Outlets

SITE: Final = "sto"
_TIME_MS: Final = 1_700_000_000_000


def body_envelope(uri: str) -> tuple[bytes, bytes]:
    """Returns what stands before and after the payload in an event as a broker encodes it."""
    before, _, after = encode_tail(uri, _TIME_MS, "18b4c5f2a1d-77", "play", b"|").partition(b"|")
    return b"%b%d,%b" % (numbering(SITE, 1), 42, before), after


class Feeder:
    """A role (see `LinkRole`) and a `PublisherOutlet` at once.

    - `outlets`: the outlets that it belongs to.
    - `uris`: the topics of all events; an event names its topic by the place here.
    - `network`: where it listens.
    """

    def __init__(self, outlets: Outlets, uris: Sequence[str], network: Network) -> None:
        self._outlets = outlets
        self._topics: list[Topic] = [parse_topic(uri) for uri in uris]
        self._handles: dict[Topic, int] = {}
        self._links: set[Link] = set()
        self._linked = asyncio.Event()
        self._node = Node(
            ("aggregator", "feeder", SITE),
            Context(network=network, log=get_logger("bench", "feeder", SITE), rng=random.Random(1)),
            self,
            timing=LinkTiming(),
        )

    async def listen(self, address: str, timeout_s: float = 10.0) -> None:
        """Listens at `address` and returns when the access point has come. Raises OSError or TimeoutError."""
        await self._node.listen(address)
        async with asyncio.timeout(timeout_s):
            await self._linked.wait()
        self._outlets.freed(self)

    async def close(self) -> None:
        """Closes the link."""
        await self._node.close()

    def send(self, topics: Sequence[int], payloads: Sequence[bytes]) -> None:
        """Sends events (see `PublisherOutlet`). Like a broker, it sends nothing on a topic that nobody has announced."""
        for topic, body in zip(topics, self._outlets.events(topics, payloads), strict=True):
            handle = self._handles.get(self._topics[topic])
            if handle is not None:
                for link in self._links:
                    link.deliver(handle, body)
        self._outlets.freed(self)

    def view(self) -> View:
        """Returns an empty view: there are no brokers here."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` unless an access point asks."""
        if hello.role != "accesspoint":
            raise Refused("wrong-peer", f"the feeder feeds access points, not a {hello.role}")

    def link_up(self, link: Link) -> LinkHandler:
        """Notes the access point's link. Nobody is revoked here, and it lets nobody in before it knows that."""
        link.send(Revoked([], [], last=True))
        self._links.add(link)
        self._linked.set()
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """Forgets the access point's link."""
        self._links.discard(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Installs each announcement at once, and says so."""
        for frame in frames:
            match frame:
                case Subscribe(n, handles, topics):
                    self._handles |= zip(map(Topic, topics), handles, strict=True)
                    link.send(Applied(n, {SITE: n}))
                case Unsubscribe(n, _):
                    link.send(Applied(n, {SITE: n}))
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} makes no sense to the feeder")

    def tick(self, now: float) -> None:
        """Does nothing: no work is due by time."""

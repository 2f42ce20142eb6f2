"""A service that answers calls over links as the test says, and one that calls others."""

import random
from collections.abc import Callable
from typing import Self

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Barred, Call, Hello, Reply, View
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from infra.runtime.wire.wire import Network
from services.peers import ServicePeers
from tests.support.cluster import FAST

# The body of the reply; None for no reply at all. Raises Refused.
Script = Callable[[Call], bytes | None]


class ScriptedService:
    """`async with ScriptedService(network, "social", "sto/s1", script) as social:` listens at its name; `calls` grows.

    `script` says what is replied. `barred` has the pairs of `Barred` frames, `said`
    the replies to calls of its own. `dial` makes it a caller: `peers.call`.
    """

    def __init__(self, network: Network, role: str, name: str, script: Script = lambda call: b"") -> None:
        site, _, node = name.partition("/")
        self.calls: list[Call] = []
        self.barred: list[tuple[str, str]] = []
        self.said: dict[int, Reply] = {}
        self.script, self._name, self._site = script, name, site
        self.node = Node(
            (role, node, site), Context(network=network, log=get_logger(role, node, site), rng=random.Random(1)), self, timing=FAST
        )
        self.peers = ServicePeers(self.node, site, {})

    async def __aenter__(self) -> Self:
        await self.node.listen(self._name)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.node.close()

    def dial(self, role: str, *addresses: str, timeout_s: float = 5.0) -> ServicePeers:
        """Links to nodes of a role, to call them."""
        self.peers = ServicePeers(self.node, self._site, {role: addresses}, timeout_s)
        self.peers.start()
        return self.peers

    # Links (see `LinkRole`).

    def view(self) -> View:
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        pass

    def link_up(self, link: Link) -> LinkHandler:
        if self.peers.concerns(link):
            self.peers.link_up(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        if self.peers.concerns(link):
            self.peers.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        for frame in frames:
            if isinstance(frame, Call):
                self.calls.append(frame)
                if (reply := self._reply(frame)) is not None:
                    link.send(reply)
            elif isinstance(frame, Barred):
                self.barred += zip(frame.owners, frame.askers, strict=True)
            elif isinstance(frame, Reply):
                self.said[frame.n] = frame
                self.peers.reply(link, frame)

    def _reply(self, call: Call) -> Reply | None:
        try:
            body = self.script(call)
            return None if body is None else Reply(call.n, "", "", body)
        except Refused as refused:
            return Reply(call.n, refused.code.name, refused.reason, b"")

    def tick(self, now: float) -> None:
        pass

"""A node that plays any role on links: it notes what it is told and says what the test tells it to."""

import random
from collections.abc import Callable
from typing import Self

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Call, Frame, Hello, Reply, View
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import get_logger
from infra.runtime.node import Node

from .cluster import FAST, Cluster


class Peer:
    """`async with Peer(c, "notification", "sto/n1") as peer:` listens at its name; `dial` calls others.

    `answer(call)` makes the body of the reply to a call.
    """

    def __init__(self, c: Cluster, role: str, name: str, answer: Callable[[Call], bytes] = lambda call: b"") -> None:
        self.site, _, node = name.partition("/")
        self.name = name
        self.up: dict[str, Link] = {}
        self.lost: list[str] = []
        self.heard: list[AnyFrame] = []
        self._answer = answer
        self._c = c
        log = get_logger(role, node, self.site)
        self.node = Node((role, node, self.site), Context(network=c.network(name), log=log, rng=random.Random(1)), self, timing=FAST)

    async def __aenter__(self) -> Self:
        await self.node.listen(self.name)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.node.close()

    async def dial(self, name: str, role: str = "broker") -> None:
        """Links to a node and waits until the link stands."""
        self.node.dial(name, role, name.partition("/")[0])
        await self._c.until(lambda: name in self.up)

    def send(self, name: str, frame: Frame) -> None:
        """Sends a frame to a node that was dialled."""
        self.up[name].send(frame)

    def of(self, kind: type[AnyFrame]) -> list[AnyFrame]:
        """Returns what was heard, of one kind."""
        return [frame for frame in self.heard if isinstance(frame, kind)]

    # Links (see `LinkRole`).

    def view(self) -> View:
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        if hello.role != "accesspoint":
            raise Refused("wrong-peer")

    def link_up(self, link: Link) -> LinkHandler:
        if link.dialled is not None:
            self.up[link.dialled] = link
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        self.lost.append(reason)
        if link.dialled is not None:
            self.up.pop(link.dialled, None)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        self.heard += frames
        for frame in frames:
            if isinstance(frame, Call):
                link.send(Reply(frame.n, "", "", self._answer(frame)))

    def tick(self, now: float) -> None:
        pass

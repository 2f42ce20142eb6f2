"""Orders of operators at a broker: each goes to all access points of this site, and by one broker of every other site to theirs."""

import asyncio
from collections.abc import Mapping, Sequence

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import AnyFrame, Call, Reply, Revoked
from infra.kernel.orders import FAR_S, ORDER_OP, SITE_S, Answers, Order, body_of, merged, read_answers, read_order
from infra.kernel.roles import AGGREGATOR
from infra.runtime.call_client import CallClient
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from infra.runtime.logs import Logger
from infra.runtime.node import Node

from .client import SiteClient


class ClusterOrders:
    """The orders that one broker gives and passes on.

    - `node`: its links, those of the site's aggregators among them.
    - `far`: the client of each other site.
    """

    def __init__(self, node: Node, far: Mapping[str, SiteClient], log: Logger) -> None:
        self._node, self._far = node, far
        self._calls = {role: CallClient(wait_s) for role, wait_s in ((AGGREGATOR, SITE_S), (node.role, FAR_S))}
        self._callers = Callers({ORDER_OP: self._pass_on}, log)

    @property
    def sites(self) -> list[str]:
        """All sites, this one first."""
        return [self._node.site, *self._far]

    async def give(self, order: Order, sites: Sequence[str] = ()) -> Answers:
        """Returns what the access points of `sites` (none: of all) answer to `order`, and who did not in time. It takes `FAR_S` at most."""
        body, id_ = body_of(order), order.id
        asked = [site for site in self.sites if not sites or site in sites]
        here = self._node.site
        return merged(await asyncio.gather(*(self._here(body, id_) if site == here else self._there(site, body, id_) for site in asked)))

    async def _here(self, body: bytes, id_: str) -> Answers:
        aggregators = [link for link in self._node.links if link.peer.role == AGGREGATOR]
        if not aggregators:
            return Answers([], [self._node.site])
        return merged(await asyncio.gather(*(self._ask(link, body, id_, f"{link.peer.site}/{link.peer.node}") for link in aggregators)))

    async def _there(self, site: str, body: bytes, id_: str) -> Answers:
        links = self._far[site].links
        link = links.get(self._node.name) or next(iter(links.values()), None)
        return await self._ask(link, body, id_, site) if link is not None else Answers([], [site])

    async def _ask(self, link: Link, body: bytes, id_: str, name: str) -> Answers:
        """Returns the answers that come over `link` to the order `id_`; without any, `name` is missing."""
        if not link.knows(Revoked):  # one of an older version knows nothing of orders
            return Answers([], [name])
        try:
            reply = await self._calls[link.peer.role].call(link, ORDER_OP, body, queue=id_)  # no order waits for another one
            return read_answers(reply.body) if not reply.code else Answers([], [name])
        except (Unavailable, Refused):
            return Answers([], [name])

    # Links.

    def take(self, link: Link, frame: AnyFrame) -> None:
        """Takes a `Call` of a broker of another site, or a `Reply`."""
        if isinstance(frame, Reply):
            self._calls[link.peer.role].reply(link, frame)
        elif isinstance(frame, Call):
            self._callers.take(link, frame)

    def link_down(self, link: Link) -> None:
        """Gives up what a peer that is gone has not answered."""
        self._calls[link.peer.role].link_down(link)

    async def _pass_on(self, call: Call) -> bytes:
        return body_of(await self._here(call.body, read_order(call.body).id))

    async def close(self) -> None:
        """Gives up what is open. May be called twice."""
        await self._callers.close()

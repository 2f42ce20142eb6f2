"""The peers of a broker by their roles: who is let in, and what all links have besides the handler of their role."""

from collections.abc import Mapping

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Call, Hello, Reply, Revoked, RingWish, Settled
from infra.kernel.link_rights import SERVICE_KINDS
from infra.kernel.roles import AGGREGATOR, BROKER
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.tapped_link import TappedLink
from infra.runtime.wrong_peer import wrong_peer

from .mesh import Mesh
from .options import BrokerOptions
from .orders import ClusterOrders
from .peers import PeerRole
from .revocation_keeper import RevocationKeeper
from .ring_wishes import RingWishes


class PeerRoles:
    """The conduct of one broker towards nodes of each role.

    - `keeper`, `orders`: what is revoked, and what operators have ordered, which other nodes hear of and answer.
    - `wishes`: what operators want of the ring, which brokers of this site bring to each other.
    """

    def __init__(
        self,
        options: BrokerOptions,
        roles: Mapping[str, PeerRole],
        mesh: Mesh,
        keeper: RevocationKeeper,
        orders: ClusterOrders,
        wishes: RingWishes,
    ) -> None:
        self._options, self._roles, self._mesh, self._keeper, self._orders = options, roles, mesh, keeper, orders
        self._wishes = wishes

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for a role that has no business here, and as the conduct towards its role does.

        Those that subscribe must know which share of the ring everybody has.
        """
        role = self._roles.get(hello.role)
        if role is None:
            us = f"broker {self._options.slot} of {self._options.site}"
            raise wrong_peer(hello, us, f"aggregators, {', '.join(sorted(SERVICE_KINDS))}")
        role.admit(hello)
        if hello.role in (AGGREGATOR, BROKER) and not hello.knows(Settled) and self._mesh.view.shares:
            raise Refused(
                "unavailable", "brokers have shares of the ring now, which your version does not know; the ring will be whole again"
            )

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler for a peer of its role."""
        link.max_queued_bytes, link.max_bytes = self._options.max_link_queue_bytes, self._options.max_link_bytes
        handler = self._roles[link.peer.role].link_up(link)
        self._keeper.tell_all(link)
        if link.peer.role == BROKER and link.peer.site == self._options.site:
            return TappedLink(link, handler, (Revoked, RingWish, Reply), self._hear_sibling, self._wishes.link_down)
        if link.peer.role == BROKER:
            return TappedLink(link, handler, (Revoked, Call, Reply), self._oversee, self._orders.link_down)
        if link.peer.role == AGGREGATOR:
            return TappedLink(link, handler, (Reply,), self._oversee, self._orders.link_down)
        return handler

    def _hear_sibling(self, link: Link, frame: AnyFrame) -> None:
        if isinstance(frame, RingWish | Reply):
            self._wishes.take(link, frame)
        else:
            self._oversee(link, frame)

    def _oversee(self, link: Link, frame: AnyFrame) -> None:
        if isinstance(frame, Revoked):
            self._keeper.book.learn(frame)
        else:
            self._orders.take(link, frame)

"""The brokers of one site among each other: who is there, which view follows from it, and how one of them comes and goes."""

from collections.abc import Callable

from infra.kernel.frames import Hello, Leaving, View
from infra.kernel.membership import Membership
from infra.runtime.link import Link
from infra.runtime.node import Node

from .client import ROLE, SiteClient
from .options import BrokerOptions


class Mesh:
    """What one broker knows of it. `changed()` is called when another view holds."""

    def __init__(self, options: BrokerOptions, node: Node, born_ms: int, changed: Callable[[], None]) -> None:
        slots = options.sites[options.site]
        self.draining = False
        self.membership = Membership(options.slot, sorted(slots), node.now_s, options.membership, born_ms)
        others = {slot: address for slot, address in slots.items() if slot != options.slot}
        self.client = SiteClient(node, options.site, others, max_forward_bytes=options.max_forward_bytes)
        self._me, self._node, self._changed = options.slot, node, changed
        self._is_met = False

    @property
    def view(self) -> View:
        """The view that holds."""
        return self.membership.view

    def concerns(self, peer: Hello) -> bool:
        """Whether `peer` is one of these brokers."""
        return peer.role == ROLE and peer.site == self.client.site

    def link_up(self, link: Link) -> None:
        """One of them is there; it called, or it was called, and then it can be forwarded to."""
        if link.dialled is not None:
            self.client.link_up(link)
            if self.draining:
                link.send(Leaving())
        self.membership.rejoin(link.peer.node)
        self.heard(link)

    def link_down(self, link: Link) -> None:
        """A link is lost: who was there is suspected."""
        if link.dialled is not None:
            self.client.link_down(link)
        self.membership.link_lost(link.peer.node)

    def heard(self, link: Link) -> None:
        """A sign of life."""
        self.membership.heard(link.peer.node, self._node.now_s)

    def offer(self, view: View) -> None:
        """What somebody takes for the view."""
        if self.membership.offer(view):
            self._changed()
        self.tick()

    def tick(self) -> None:
        """Is it on us to issue a view?"""
        if self.membership.tick(self._node.now_s):
            self._changed()
        slots = self.view.slots
        self._is_met = self._is_met or (self._me in slots and {*slots} <= {self._me, *self.client.links})

    def leave(self) -> None:
        """Take leave of the others, for good."""
        self.draining = True
        self.membership.leave(self._me)
        for link in self.client.links.values():
            link.send(Leaving())

    def has_successor(self) -> bool:
        """Whether another one is alive, which takes over."""
        return bool(self.membership.alive(self._node.now_s))

    def ready(self) -> str | None:
        """Why this broker cannot own topics yet; None when it can.

        It can from the first time that all brokers of the view are linked; later, one that is lost is waited out by the others
        without refusing everybody else's events.
        """
        if self.draining:
            return "draining"
        if self._me not in self.view.slots:
            return "not in the site's view yet"
        return None if self._is_met else "not linked yet to every broker of the site's view"

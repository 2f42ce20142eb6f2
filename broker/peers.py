"""The peers of a broker, by role: who is admitted, and what handles their links.

Who is at the other end decides what a frame means:

====================  ==============================================  ==========================================
peer                  it called us                                    we called it
====================  ==============================================  ==========================================
aggregator            it subscribes, and gets events of all sites     -
broker, other site    it subscribes, and gets events of this site     it gives us the events of its site
broker, this site     it forwards events that we own                  it takes events that it owns
service               it publishes on its kinds of topics             -
social, artist        it hears of revocations                         -
decision service      it asks for counts, and says what is served     -
====================  ==============================================  ==========================================

The decision service is admitted and handled by `infra.runtime.decision_link.DecisionLink`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Applied, Deliver, Heartbeat, Hello, View
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, makes_no_sense

from .client import BrokerLink, SiteClient
from .copies import OwnerCopies
from .core import BrokerCore
from .heirs import Heirs
from .mesh import Mesh, SiblingLink
from .moving import TopicMoves
from .options import BrokerOptions
from .publishing import PublishingLinks
from .splits import Splits
from .subscribers import Subscribers
from .succession import SuccessionLink


class PeerRole(Protocol):
    """The broker's conduct towards the nodes of one role."""

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` if the node that says `hello` has no business here."""

    def link_up(self, link: Link) -> LinkHandler:
        """Gives the peer its place; returns the handler of its link."""


class Aggregators:
    """The aggregators of this site, which subscribe."""

    def __init__(self, core: BrokerCore, mesh: Mesh, subscribers: Subscribers) -> None:
        self._core, self._mesh, self._subscribers = core, mesh, subscribers

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for one of another site, or when there is no room for one more."""
        _check_site(hello, self._mesh.site)
        self._core.interest.check_room()

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a subscribing link."""
        subscriber = self._subscribers.link_up(link, self._mesh.offer)
        self._mesh.offer(link.peer.view)
        return subscriber


class PublishingServices:
    """The services of this site that publish."""

    def __init__(self, mesh: Mesh, publishing: PublishingLinks) -> None:
        self._mesh, self._publishing = mesh, publishing

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for a service of another site."""
        _check_site(hello, self._mesh.site)

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a publishing link."""
        return self._publishing.link_up(link)  # a service says nothing of brokers that they do not know


class HearingServices:
    """The services of this site that do not publish, and are told of revocations."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for a service of another site."""
        _check_site(hello, self._mesh.site)

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a link over which nothing comes."""
        return HearingLink(link)


class HearingLink:
    """The handler of a link whose peer only listens."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes signs of life. Raises `Refused` for anything else."""
        for frame in frames:
            if not isinstance(frame, Heartbeat):
                raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Does nothing: nobody is there any more to be told."""


class OtherBrokers:
    """The other brokers, of this site and of all others.

    - `mesh`: those of this site; `left(slot)` is called when one of them says that it leaves, `settled()` when one says how far it is.
    - `far`: the client of each other site; `relay` takes the events that come from there.
    - `subscribers`: where the counterparts that call us go.
    - `publishing`: where brokers of this site go that forward events to us.
    - `moves`: what goes with topics from one broker of this site to another.
    - `strayed(bodies)`: takes events of other sites that have come to another broker of this one.
    - `splits`: what parts of this site have served without knowing of each other.
    - `copies`, `heirs`: what goes from owners of topics to their heirs before others get it.
    """

    def __init__(
        self,
        options: BrokerOptions,
        core: BrokerCore,
        mesh: Mesh,
        far: Mapping[str, SiteClient],
        subscribers: Subscribers,
        *,
        publishing: PublishingLinks,
        relay: Callable[[Deliver], None],
        left: Callable[[str], None],
        settled: Callable[[], None],
        moves: TopicMoves,
        strayed: Callable[[Sequence[bytes]], None],
        splits: Splits,
        copies: OwnerCopies,
        heirs: Heirs | None,
    ) -> None:
        self._copies, self._heirs = copies, heirs
        self._sites, self._core, self._mesh, self._far, self._subscribers = options.sites, core, mesh, far, subscribers
        self._publishing, self._relay, self._left, self._moves = publishing, relay, left, moves
        self._settled, self._strayed, self._splits = settled, strayed, splits

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for one that the configuration does not name, or when there is no room for one that subscribes."""
        if hello.node not in self._sites.get(hello.site, {}):
            raise Refused("wrong-peer", f"no broker {hello.node} of site {hello.site} is configured here")
        if hello.site != self._mesh.site:
            self._core.interest.check_room()

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a link within the site, from a counterpart that subscribes, or to one that gives us events."""
        if link.peer.site == self._mesh.site:
            return self._sibling(link)
        client, handler = self._far[link.peer.site], self._far_handler(link)
        self._learn(client, link.peer.view)
        return handler

    def _sibling(self, link: Link) -> LinkHandler:
        called = link.dialled is not None
        rest: LinkHandler
        if called:
            rest, goes_by = self._mesh.client.link_up(link), self._mesh.offer
        else:
            rest = self._publishing.link_up(link, self._mesh.offer)
            goes_by = rest.goes_by
        self._mesh.join(link)
        self._mesh.offer(link.peer.view)
        if called:
            self._moves.link_up(link.peer.node)
            self._splits.link_up(link.peer.node)
            if self._heirs is not None:
                self._heirs.link_up(link.peer.node)
        sibling = SiblingLink(
            self._mesh, link, rest, goes_by, self._left, self._settled, self._moves.take, self._splits.take, self._strayed
        )
        return SuccessionLink(link, sibling, self._copies, self._heirs)

    def _far_handler(self, link: Link) -> LinkHandler:
        client = self._far[link.peer.site]
        if link.dialled is not None:
            return FarBrokerLink(client.link_up(link), self._relay, self._subscribers.tell_all)
        return self._subscribers.link_up(link, lambda view: self._learn(client, view))

    def _learn(self, client: SiteClient, view: View) -> None:
        if client.set_view(view):
            self._subscribers.tell_all()


class FarBrokerLink:
    """The handler of a link to a counterpart, which gives us the events of its site. `changed` is called when more or less may be
    installed there than before."""

    __slots__ = ("_broker", "_changed", "_relay")

    def __init__(self, broker: BrokerLink, relay: Callable[[Deliver], None], changed: Callable[[], None]) -> None:
        self._broker, self._relay, self._changed = broker, relay, changed

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes events, and news of what is installed at the other site."""
        for deliver in self._broker.deliveries(frames):
            self._relay(deliver)
        self._broker.taken()
        if any(isinstance(frame, Applied | Heartbeat) for frame in frames):
            self._changed()

    def down(self, reason: str) -> None:
        """Takes what was installed there for lost."""
        self._broker.down(reason)
        self._changed()


def _check_site(hello: Hello, site: str) -> None:
    if hello.site != site:
        raise Refused("wrong-peer", f"{hello.role} of site {hello.site} belongs to the brokers of its own site, this is {site}")

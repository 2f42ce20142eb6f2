"""The links that subscribe: aggregators of this site, and brokers of others; what they want, and what they are told of it.

The other sites hear of what aggregators want here; an aggregator hears how far that is installed at each of them.
"""

from collections.abc import Mapping, Sequence

from infra.kernel.frames import Subscribe, Unsubscribe, View
from infra.kernel.limbo import Limbo
from infra.kernel.receipts import Receipts
from infra.kernel.topics import Topic
from infra.runtime.link import Link

from .client import SiteClient
from .core import BrokerCore, Rows
from .handover import Handover


class Subscriber:
    """What a subscribing link has and was told, and the view of this site under which it has announced everything."""

    __slots__ = ("bit", "receipts", "view")

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.receipts = Receipts()
        self.view = View(0, ())


class Subscribers:
    """All of one broker of `site`. `far` has the client of every other site."""

    def __init__(self, site: str, core: BrokerCore, far: Mapping[str, SiteClient], handover: Handover) -> None:
        self.links: dict[Link, Subscriber] = {}
        self._site, self._core, self._far, self._handover = site, core, far, handover
        self._limbo = Limbo([client.announcer for client in far.values()])

    def link_up(self, link: Link) -> None:
        """One more, which wants nothing yet."""
        site, node = link.peer.site, link.peer.node
        self.links[link] = Subscriber(self._core.open(link, site != self._site, (site, node)))

    def link_down(self, link: Link) -> None:
        """It is gone, and what it wanted with it. Any other link changes nothing."""
        if subscriber := self.links.pop(link, None):
            self._withdraw(*self._core.close(subscriber.bit))
            self._handover.announced(link)

    def late(self, view: View) -> list[Link]:
        """Those that have not announced everything under `view` yet."""
        return [link for link, subscriber in self.links.items() if subscriber.view != view]

    def change(self, link: Link, frame: Subscribe | Unsubscribe) -> None:
        """It wants more, or less; `tell` says when that is installed."""
        subscriber = self.links[link]
        topics: Sequence[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        if isinstance(frame, Unsubscribe):
            self._withdraw(*self._core.unsubscribe(subscriber.bit, topics))
        elif news := self._core.subscribe(subscriber.bit, topics, frame.handles):
            for client in self._far.values():
                client.want(news)
        marks = {site: client.announcer.mark() for site, client in self._seen_by(link).items()}
        subscriber.receipts.record(frame.n, {self._site: 0} | marks)

    def _seen_by(self, link: Link) -> Mapping[str, SiteClient]:
        """The sites at which it matters to `link` what is installed: a broker of another site cares about this one only."""
        return self._far if link.peer.site == self._site else {}

    def _withdraw(self, silent: Rows, dead: Rows) -> None:
        if silent:
            for client in self._far.values():
                client.unwant(topic for _, topic in silent)
        if dead:
            self._limbo.add(dead)
            self.release()

    def release(self) -> None:
        """Free the numbers of rows that nobody wants any more, as far as no delivery can come under them."""
        if self._handover.over:  # what it holds names rows
            for row, topic in self._limbo.leave():
                self._core.release(row, topic)

    def tell_all(self) -> None:
        """Another site has got further, or is lost."""
        self.release()
        for link in self.links:
            self.tell(link)

    def tell(self, link: Link) -> None:
        """Say what of its changes is installed, and where, if that is news."""
        reached = {site: client.announcer.reached.get(site, 0) for site, client in self._seen_by(link).items()}
        if (news := self.links[link].receipts.advance({self._site: 0} | reached)) is not None:
            link.send(news)

"""Events of other sites: they go to followers here, also while their topics move between brokers of this site.

What comes on a topic that has gone to another broker goes to that one (`Strayed`). What comes on one that is about to be served here waits
until everybody who follows it has said so. It is routed again then, and whenever another view holds: by then the topic may have gone on.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from infra.kernel.events import origin_epoch_seq, topic_in
from infra.kernel.frames import Deliver, Strayed
from infra.kernel.topics import Topic, kind_of
from infra.runtime.link import Link

from .core import BrokerCore
from .handover import Handover
from .site_order import SiteOrder


class SiteEvents:
    """The way of events of other sites to those who follow here.

    - `core`: delivers them. `handover`: has those wait whose topics are about to be served here.
    - `links`: slot -> link, to brokers of this site. `owner(topic)`: returns the slot that owns a topic; None while nobody does.
    - `has_parted()`: tells whether nothing is here of what has gone to others.
    - `order`: has those wait that may have overtaken others.
    """

    def __init__(
        self,
        core: BrokerCore,
        handover: Handover,
        links: Mapping[str, Link],
        owner: Callable[[Topic], str | None],
        has_parted: Callable[[], bool],
    ) -> None:
        self._core, self._handover, self._links, self._owner, self._has_parted = core, handover, links, owner, has_parted
        self.order = SiteOrder(self._last, self._is_recorded, self.take_strayed)

    def relay(self, deliver: Deliver) -> None:
        """Gives followers what a broker of another site has sent."""
        if self._handover.over and self.order.is_over and self._has_parted():
            self._core.relay(deliver.handles, deliver.bodies)
            return
        self._route([*zip(deliver.handles, deliver.bodies, strict=True)])

    def _route(self, pairs: Collection[tuple[int, bytes]]) -> None:
        """Sends what has come here and to no other broker of this site where its topics are now: to followers, or to other brokers."""
        waits: list[tuple[int, bytes]] = []
        goes: list[tuple[int, bytes]] = []
        strays: dict[Link, list[bytes]] = {}
        for handle, body in pairs:
            topic = topic_in(body)
            if topic is not None and (link := self._new_owner(topic)) is not None:
                strays.setdefault(link, []).append(body)
            else:
                (waits if topic is not None and self._handover.holds(topic) else goes).append((handle, body))
        for link, bodies in strays.items():
            link.send(Strayed(bodies))
        self._relay_at_once(goes)
        self._wait([body for _, body in waits], partial(self._route, waits))

    def _relay_at_once(self, pairs: Sequence[tuple[int, bytes]]) -> None:
        """Gives followers what has come here and to no other broker of this site, unless something before it may still come."""
        if self.order.is_over:
            self._core.relay(*_columns(pairs))
            return
        for handle, body in pairs:  # one after the other: each may be what the next one waits for
            if (topic := topic_in(body)) is None or not self.order.waits(topic, body):
                self._core.relay([handle], [body])

    def _wait(self, bodies: Sequence[bytes], route: Callable[[], None]) -> None:
        if bodies and not self._handover.hold(bodies, route, at_views=True):
            self._handover.give_up()  # what waits goes first
            route()

    def _new_owner(self, topic: Topic) -> Link | None:
        """Returns the link to the broker that `topic` has gone to, if it takes events of other sites from us."""
        link = self._links.get(self._owner(topic) or "")
        return link if link is not None and link.knows(Strayed) else None

    def stray(self, body: bytes) -> None:
        """Sends an event that nobody wants here any more to the owner of its topic by now, if that is another broker."""
        if (topic := topic_in(body)) is not None and (link := self._new_owner(topic)) is not None:
            link.send(Strayed([body]))

    def take_strayed(self, bodies: Sequence[bytes]) -> None:
        """Gives followers events of other sites that have come to another broker of this one, where the topics were before."""
        waits: list[bytes] = []
        goes: list[bytes] = []
        for body in bodies:
            topic = topic_in(body)
            if topic is not None and (link := self._new_owner(topic)) is not None:
                link.send(Strayed([body]))
            else:
                (waits if topic is not None and self._handover.holds(topic) else goes).append(body)
        self._relay_strayed(goes)
        self._wait(waits, partial(self.take_strayed, waits))

    def _relay_strayed(self, bodies: Sequence[bytes]) -> None:
        """Gives followers what has come by way of a former owner, unless something before it may still come by way of another one."""
        if self.order.is_over:
            self._relay_known(bodies)
            return
        for body in bodies:  # one after the other, as those that have come at once
            topic = topic_in(body)
            if topic is None or not self.order.waits(topic, body, is_strayed=True):
                self._relay_known([body])
            if topic is not None:
                self.order.strayed([topic])

    def _relay_known(self, bodies: Sequence[bytes]) -> None:
        rows = self._core.interest.rows
        known = [(rows[topic], body) for body in bodies if (topic := topic_in(body)) is not None and topic in rows]
        self._core.stale += len(bodies) - len(known)
        self._core.relay(*_columns(known))

    def _last(self, topic: Topic, site: str) -> tuple[int, int] | None:
        """Returns epoch and number of the last event of `site` that is kept of `topic`; None where none is."""
        window, row = self._core.window, self._core.interest.rows.get(topic)
        places = map(origin_epoch_seq, reversed(window.kept(row))) if window is not None else iter(())
        return next(((epoch, seq) for its, epoch, seq in places if its == site), None)

    def _is_recorded(self, topic: Topic) -> bool:
        return self._core.window is not None and kind_of(topic) in self._core.window.bounds


def _columns(pairs: Sequence[tuple[int, bytes]]) -> tuple[list[int], list[bytes]]:
    return [handle for handle, _ in pairs], [body for _, body in pairs]

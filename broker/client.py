"""The client of a site's brokers, for other roles: it announces interest, receives events, publishes, and follows the view.

Aggregators use it for their own site, brokers for each other site, services to publish. It owns no sockets: the role's `Node`
dials, and the role gives the links to it (`SiteClient.link_up`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from infra.kernel.announcer import Announcer, GainsOf, Wanted
from infra.kernel.bequest import Bequest
from infra.kernel.errors import Refused
from infra.kernel.events import Event, kind_in
from infra.kernel.frames import (
    Announced,
    AnyFrame,
    Applied,
    Bereft,
    Deliver,
    Heartbeat,
    Inherited,
    Published,
    Resume,
    Revoked,
    Sealed,
    Settled,
    View,
)
from infra.kernel.membership import MOST_VIEW_NUMBER
from infra.kernel.moving_topics import WantedByCell
from infra.kernel.roles import BROKER
from infra.kernel.steps import was_left_out
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense
from infra.runtime.node import Node
from infra.runtime.revocation_book import RevocationBook
from infra.runtime.turns import in_turns

from .forwarder import MAX_WAITING_BYTES, Done, Forwarder
from .taken_stamps import TakenStamps


class SiteClient:
    """All links from this node to the brokers of one site.

    - `brokers`: slot -> address.
    - `wanted`: returns all (row, topic) that this node wants; without it this node only publishes. `by_cell`: see `Announcer`.
    - `max_forward_bytes`: so much of events waits for each broker at most.
    - `slots`: all slots of the site, where `brokers` are not all of them.
    - `gains_of`: see `Announcer`.
    - `era`: returns what must be the same when a link comes back for us to go on where it broke, None when that is not known. Brokers of
      other sites give an event to one of us; in another era it may have been another one.
    - `book`: learns what brokers tell of revocations.
    - `progressed()`: is called when all is announced, or withdrawn, that took more than one turn of the loop.
    """

    def __init__(
        self,
        node: Node,
        site: str,
        brokers: Mapping[str, str],
        wanted: Wanted | None = None,
        by_cell: WantedByCell | None = None,
        *,
        max_forward_bytes: int = MAX_WAITING_BYTES,
        book: RevocationBook | None = None,
        slots: Collection[str] | None = None,
        era: Callable[[], int | None] = lambda: 0,
        gains_of: GainsOf = lambda rows: b"",
        progressed: Callable[[], None] = lambda: None,
    ) -> None:
        self.site = site
        self._known = frozenset(brokers if slots is None else slots)
        self._book = book
        self.announcer = Announcer(site, wanted or tuple, by_cell, gains_of, lambda work: in_turns(self._in_turns(work)), self._goes_by)
        self._progressed = progressed
        self._announces = wanted is not None
        self.forwarder = Forwarder(max_forward_bytes)
        self.links: dict[str, Link] = {}
        self._processes: dict[str, int] = {}
        # The kinds of topics that have copies at the site. What a broker of theirs still sends when it is out of the view, its heir has.
        self.copied: Collection[str] = ()
        # What brokers have left that are gone without a word, or were. One may be back as another process before all heirs have answered.
        self.bequests: dict[str, Bequest] = {}
        # In which view they were lost: the first one here without them, or the one into which they came anew. Who has said up to where we
        # have got everything since it knew of that, or is another process, stands here no more.
        self._lost_in: dict[str, View] = {}
        self._node, self._stamps = node, TakenStamps(era)
        self._brokers = dict(brokers)
        self._slots = {address: slot for slot, address in brokers.items()}
        # The newest view of which each broker has said on its link that it goes by it, behind all that it had published before; those that
        # must say so of the one that holds before it is announced.
        self._said: dict[str, View] = {}
        self._unsaid: set[str] = set()
        self._announced = View(0, ())
        self._settled = 0

    def start(self) -> None:
        """Dials every broker of the site, and goes on doing so."""
        for address in self._brokers.values():
            self._node.dial(address, BROKER, self.site)

    def concerns(self, link: Link) -> bool:
        """Tells whether `link` is one of these."""
        return link.dialled in self._slots

    def link_up(self, link: Link) -> "BrokerLink":
        """Tells a broker that answered everything that it owns, under the newest view known; returns the handler of its link.

        Raises `Refused("wrong-peer")` if it is another one than the configuration says: topics would go astray.
        """
        slot = self._slot(link)
        if link.peer.node != slot:
            raise Refused("wrong-peer", f"{link.dialled} is broker {link.peer.node}, the configuration says {slot}")
        self.set_view(link.peer.view)
        self.links[slot] = link
        self._said[slot] = View(0, ()) if link.knows(Sealed) else link.peer.view
        if self._book is not None:
            self._book.meet(link)
        self.forwarder.up(slot, link)
        former, self._processes[slot] = self._processes.get(slot), link.peer.incarnation
        is_other = former not in (None, link.peer.incarnation)
        self._begin_after_loss(slot, link, is_other=is_other)
        if self._announces:
            self.announcer.node_up(slot, link, self._resume(slot, link), is_other=is_other)
            # Perhaps not the view that holds, or none: then this says only that nothing is missing of what was wanted before. The answer is
            # `Sealed`: a broker that has gone over to a view between its hello and the link has told everybody but us.
            link.send(Announced(self._announced))
            if self._announced.number:
                self._settle_on(link)
        return BrokerLink(self, link)

    def link_down(self, link: Link) -> None:
        """Forgets a broker to which the link is lost."""
        slot = self._slot(link)
        for lost, bequest in self.bequests.items():
            if bequest.is_open:
                bequest.lose(slot)
                self._close(lost, bequest)
        self._stamps.link_down(slot)
        self.links.pop(slot, None)
        self._said.pop(slot, None)
        self.forwarder.down(slot)
        self.announcer.node_down(slot)
        self._announce()

    def _begin_after_loss(self, slot: str, link: Link, *, is_other: bool) -> None:
        """Notes that what comes on a new link of a broker that was lost is its own, unless it does not know of that.

        It cannot go on where its link broke: what it has let out meanwhile has come from its heirs. Another process has nothing of that.
        """
        if slot not in self.bequests or (lost_in := self._lost_in.get(slot)) is None:
            return
        if self.copied and not is_other:
            self._stamps.forget(slot)
        if is_other or link.peer.view.order >= lost_in.order:
            del self._lost_in[slot]

    def _resume(self, slot: str, link: Link) -> Callable[[int], None] | None:
        """Returns what says up to where we have got everything, if that is still what a broker that is back can go by."""
        stamps = self._stamps.link_up(slot, may_resume=link.knows(Resume))
        return None if stamps is None else lambda n: link.send(Resume(stamps, n))

    @property
    def stamps(self) -> dict[int, int]:
        """Up to where everything of each broker has been taken; empty while one of them has not said that, or no view is known."""
        return self._stamps.all_of(self.view.slots)

    def epochs_of(self, slot: str) -> frozenset[int]:
        """Returns the epochs, and streams, of which a broker has said up to where all has come, by this process of it or earlier ones."""
        return frozenset(self._stamps.of_lost(slot))

    def taken(self, link: Link) -> None:
        """Notes that all deliveries that `frames` has returned of `link` have been taken, so what was said with them holds."""
        self._stamps.take(self._slot(link))

    def frames(self, link: Link, frames: Iterable[AnyFrame]) -> list[Deliver]:
        """Takes acknowledgements, views and revocations; returns the deliveries among `frames`, in order, each with the events that count.

        Raises `Refused` for any other frame.
        """
        deliveries: list[Deliver] = []
        for frame in frames:
            match frame:
                case Deliver(stamps=stamps):
                    deliveries.append(self._fresh(link, frame))
                    self._say(link, stamps)
                case Applied(n, sites, stamps):
                    self.announcer.applied(self._slot(link), n, sites)
                    self._say(link, stamps)
                    self._settle()
                case Inherited():
                    self._inherit(self._slot(link), frame)
                case Published():
                    self.forwarder.published(self._slot(link), frame)
                case Sealed(view):
                    self._said[self._slot(link)] = view
                    self.set_view(view)
                    self.announcer.said_view()
                    self._announce()
                    self._settle()
                case Heartbeat(view, stamps):
                    if not link.knows(Sealed):
                        self._said[self._slot(link)] = view
                    self.set_view(view)
                    self.announcer.said_view()
                    self._announce()
                    self._say(link, stamps)
                case Revoked():
                    if self._book is not None:
                        self._book.learn(frame)
                case _:
                    raise makes_no_sense(frame, link.peer)
        return deliveries

    def _say(self, link: Link, stamps: Mapping[int, int]) -> None:
        """Notes what is said with frames of `link`, unless its broker is out and does not know that.

        Also where what it still sends counts, not everything comes of it: what is wanted since then only the new owners are told.
        """
        slot = self._slot(link)
        if stamps and not self._is_out(slot):
            self._lost_in.pop(slot, None)
            self._stamps.say(slot, stamps)

    def _is_out(self, slot: str) -> bool:
        """Tells whether `slot` is out of the view without having left, or was, and may not know that."""
        if slot not in self.bequests:
            return False
        knows_by = self._lost_in.get(slot) if slot in self.view.slots else self.view
        return knows_by is not None and self._said[slot].order < knows_by.order

    def is_back(self, slot: str) -> bool:
        """Tells whether the broker `slot` is in the view, and has said on its link that it goes by it."""
        return slot in self.view.slots and slot in self._said and self._said[slot].order >= self.view.order

    def _goes_by(self, slot: str, view: View) -> bool:
        """Tells whether `slot` has said on its link that it goes by `view`, or a later one, or has no link."""
        return slot not in self._said or self._said[slot].order >= view.order

    def _inherit(self, heir: str, said: Inherited) -> None:
        """Notes what an heir of a lost broker has said, and up to where everything has come of what that one had."""
        self._stamps.inherit(said.slot, said.stamps, heir)
        if (bequest := self.bequests.get(said.slot)) is not None:
            bequest.answer(heir, said.kinds, said.ends)
            if bequest.is_whole:
                self._stamps.inherit(said.slot, bequest.ends, heir)
            self._close(said.slot, bequest)

    def _close(self, slot: str, bequest: Bequest) -> None:
        """Goes no more by what a lost broker has said, once its heirs have given us the rest.

        It never knew of what only its heirs have let out. Whoever went by its word would be given that again.
        """
        if bequest.answered and not bequest.is_open and not self.is_back(slot):
            self._stamps.forget(slot)

    def set_view(self, view: View) -> bool:
        """Takes over `view`, which a broker of the site has said, and returns True, if it is higher than the one known.

        Topics move to their owners under it. All brokers hear when that is announced and every broker has said that it goes by it
        (`Sealed`): what a former owner has published came before, so a new owner that waits overtakes nothing (DPS-17).

        A view that no broker can have issued is passed over: nobody could ever issue a higher one, or the topics of a slot that nobody
        knows would go nowhere.
        """
        if view.order <= self.view.order:  # as nearly every heartbeat says
            return False
        if view.number > MOST_VIEW_NUMBER or not view.is_sound or not self._known.issuperset(view.slots):
            return False
        was, before = self.view, self.view.goal_of
        lost = [slot for slot, share in before.items() if share and was_left_out(slot, was, view)]
        self._drop_bequests(view, before.keys() - view.slots - {*lost})
        # What is wanted anew stands behind what is said of a loss: nobody has missed anything of that. As planned, nothing is missed.
        changed = self.announcer.set_view(view, partial(self._bereave, view, lost) if lost and self._announces else None)
        if changed and self._announces:
            # Who is out without having left is dead, or soon found to be.
            self._unsaid = {slot for slot in self.links if slot in view.slots or before.get(slot) == 0}
            self._announce()
        return changed

    def _drop_bequests(self, view: View, left: Collection[str]) -> None:
        """Drops what brokers have left that have `left` as planned since, or that have topics at once under `view`.

        Who comes has nothing in its first view. So what its heirs have of it is still theirs, and they give it to us. Where there are no
        such steps, topics may be gone from heirs before they have given us that.
        """
        shares = view.share_of
        at_once = {slot for slot in self.bequests if slot not in self.view.slots and shares.get(slot)}
        for slot in at_once.union(left):
            self.bequests.pop(slot, None)

    def _bereave(self, view: View, lost: Iterable[str]) -> None:
        """Tells all brokers of `view` up to where we have got everything of those that are gone without having left."""
        for slot in lost:
            self._lost_in[slot] = view
            bequest = self.bequests[slot] = Bequest(view.ring)
            if stamps := self._stamps.of_lost(slot):
                for heir, link in self.links.items():
                    if heir in view.slots and heir != slot and link.knows(Bereft):
                        link.send(Bereft(view, slot, stamps))
                        bequest.heirs[heir] = None

    def _in_turns(self, work: Iterator[float]) -> Iterator[float]:
        """Does what is left to announce, or to withdraw, and then says so."""
        yield from work
        self._announce()
        self._settle()
        self._progressed()

    def _fresh(self, link: Link, deliver: Deliver) -> Deliver:
        """Returns what of `deliver` does not come from an heir as well: the broker may be out, and not know that."""
        if not self.copied or not self._is_out(self._slot(link)):
            return deliver
        pairs = [(handle, body) for handle, body in zip(deliver.handles, deliver.bodies, strict=True) if kind_in(body) not in self.copied]
        return Deliver([handle for handle, _ in pairs], [body for _, body in pairs], deliver.stamps)

    def _announce(self) -> None:
        """Says that everything is announced under the view that holds, when all have said it who must."""
        if not self._announces or self._announced == self.view or not self.announcer.is_announced:
            return
        self._unsaid = {slot for slot in self._unsaid if slot in self.links and self._said[slot].order < self.view.order}
        if self._unsaid:
            return
        self._announced = self.view
        # Behind what `set_view` has announced, on each link: `Announced` says that nothing is missing any more.
        for link in self.links.values():
            link.send(Announced(self.view))
        self._settle()

    def tick(self) -> None:
        """Counts a heartbeat interval: former owners are not kept for ever, and neither is what they have said."""
        self.announcer.tick()
        self._stamps.tick()
        self._announce()
        self._settle()

    def _settle(self) -> None:
        """Tells all brokers when nothing is left to do under the view that is announced."""
        if self._announced == self.view and self.announcer.is_parted and self._settled != self.view.number:
            self._settled = self.view.number
            for link in self.links.values():
                self._settle_on(link)

    def _settle_on(self, link: Link) -> None:
        if self._settled == self.view.number and link.knows(Settled):
            link.send(Settled(self._settled))

    def _slot(self, link: Link) -> str:
        assert link.dialled is not None
        return self._slots[link.dialled]

    @property
    def view(self) -> View:
        """The newest view of the site that is known."""
        return self.announcer.view

    @property
    def alive(self) -> bool:
        """Whether any broker of the site can be reached."""
        return bool(self.links)

    def ready(self) -> str | None:
        """Returns why not every broker of the site can be reached; None when it can."""
        if not self.view.slots:
            return "no broker has told the site's view yet"
        missing = [slot for slot in self.view.slots if slot not in self.links]
        return f"no link to {', '.join(missing)}" if missing else None

    def want(self, news: Iterable[tuple[int, Topic]]) -> None:
        """Announces the (row, topic) pairs in `news` to their owners."""
        self.announcer.want(news)

    def reweigh(self, pairs: Iterable[tuple[int, Topic]]) -> None:
        """Tells the owners of (row, topic) pairs, which are wanted, another gain of them."""
        self.announcer.reweigh(pairs)

    def unwant(self, topics: Iterable[Topic]) -> None:
        """Withdraws `topics` from their owners."""
        self.announcer.unwant(topics)

    def publish(self, event: Event, done: Done) -> None:
        """Sends `event` to the owner of its topic; `done(ok)` is called once, perhaps before this returns."""
        slot = self.announcer.ring.owner(event.topic)
        if slot is None:
            done(False)
        else:
            self.forwarder.forward(slot, 0, [event], done)


class BrokerLink:
    """The handler of a link to a broker. Who only publishes returns it to the node as it is; who wants events asks for `deliveries`."""

    __slots__ = ("_client", "_link")

    def __init__(self, client: SiteClient, link: Link) -> None:
        self._client, self._link = client, link

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes acknowledgements and views. No event comes to one who wants none."""
        self._client.frames(self._link, frames)

    def deliveries(self, frames: list[AnyFrame]) -> list[Deliver]:
        """Takes acknowledgements and views; returns the deliveries among `frames`, in order. Whoever has taken them calls `taken`."""
        return self._client.frames(self._link, frames)

    @property
    def slot(self) -> str:
        """The broker at the other end."""
        return self._link.peer.node

    @property
    def incarnation(self) -> int:
        """The number of its process."""
        return self._link.peer.incarnation

    def taken(self) -> None:
        """Notes that these deliveries have been taken."""
        self._client.taken(self._link)

    def down(self, reason: str) -> None:
        """Gives up what the broker has not acknowledged, and what was installed there."""
        self._client.link_down(self._link)

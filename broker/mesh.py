"""The brokers of one site among each other: who is there, which view follows from it, and how one of them comes and goes."""

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from infra.kernel.frames import (
    AnyFrame,
    Apart,
    Heartbeat,
    KeptEvents,
    Leaving,
    Moved,
    Past,
    RingWish,
    Sealed,
    Settled,
    Strayed,
    View,
)
from infra.kernel.membership import Membership
from infra.kernel.slot_processes import SlotProcesses
from infra.kernel.steps import begins
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node

from .client import SiteClient
from .options import BrokerOptions
from .window_bounds import copied


class Mesh:
    """One broker's picture of the brokers of its `site`.

    - `client`: the links to the others, by which events are forwarded.
    - `membership`: who lives, and the view that follows.
    - `changed()`: is called when another view holds.
    - `rows()`: returns how many topics are followed here.
    """

    def __init__(
        self, options: BrokerOptions, node: Node, born_ms: int, changed: Callable[[], None], rows: Callable[[], int] = lambda: 0
    ) -> None:
        slots = options.sites[options.site]
        self.site = options.site
        self.draining = False
        steps, leave_s = options.join_steps, options.drain_s / 2
        self.membership = Membership(
            options.slot,
            sorted(slots),
            node.now_s,
            options.membership,
            born_ms,
            steps=steps,
            leave_s=leave_s,
            topics=self._topics,
        )
        others = {slot: address for slot, address in slots.items() if slot != options.slot}
        self.client = SiteClient(node, options.site, others, max_forward_bytes=options.max_forward_bytes, slots=slots)
        self._me, self._node, self._changed, self._rows = options.slot, node, changed, rows
        # Whether this slot is, or was, in a view as this process; and whether it was out of one that this process knows.
        # The only slot of a site nobody takes the place of.
        self._is_let_in, self._was_out = not others, False
        self._puts_out_s = options.membership.grace_s + options.membership.suspect_s
        self._has_copies = bool(copied(options.window))
        self._processes = SlotProcesses()
        # The view that a process found when another one was in it.
        self._replaced_in: dict[str, View] = {}
        self._is_met = False
        self._said = Settled(0)
        # Up to which view the others have what has come to them.
        self._taken: dict[str, int] = {}
        self._settled = 0
        self.membership.told(self._me, 0, knows=True)

    @property
    def view(self) -> View:
        """The view that holds."""
        return self.membership.view

    def _topics(self) -> float:
        """Returns about how many topics this site has, by how many are here; 0 where nothing is here."""
        ring = self.view.ring
        mine = ring.parts(ring).get((self._me, self._me), 0.0)
        return self._rows() / mine if mine else 0.0

    def mine(self, topics: Sequence[Topic]) -> list[bool]:
        """Tells of each of many `topics` whether this broker owns it."""
        return [owner == self._me for owner in self.view.ring.owners(topics)]

    def join(self, link: Link) -> None:
        """Takes in a broker that is linked, whichever of us has called."""
        slot, incarnation = link.peer.node, link.peer.incarnation
        self.membership.met(slot, is_older=not link.knows(RingWish))
        met = self._processes.meet(slot, incarnation)
        if met.is_new:
            self.membership.rejoin(slot, self._node.now_s, is_in=met.is_in)
            if self._has_copies and not met.is_in:
                self._replaced_in[slot] = self.view
                self.membership.replaced(slot, self._node.now_s)
        if link.dialled is None:
            self._taken.pop(link.peer.node, None)
            self.membership.told(link.peer.node, 0, knows=link.knows(Settled))  # what it has said before was said on another link
        else:
            if self.draining:
                link.send(Leaving())
            if link.knows(Settled):
                link.send(self._said)
        self.heard(link.peer.node)

    def is_over(self, link: Link) -> bool:
        """Tells whether the process at the other end of `link` has been replaced: a link that is half open may deliver late."""
        return self._processes.is_over(link.peer.node, link.peer.incarnation)

    def was_replaced(self, slot: str, view: View) -> bool:
        """Tells whether `slot` was in `view` by an earlier process, so that this one has served nothing under it that others have."""
        return self._replaced_in.get(slot) == view

    def lost(self, slot: str) -> None:
        """Suspects the broker `slot`, a link with which is lost."""
        self.membership.link_lost(slot)

    def heard(self, slot: str) -> None:
        """Notes a sign of life of the broker `slot`."""
        self.membership.heard(slot, self._node.now_s)

    def settled(self, number: int, *, knows: bool, taken: int) -> None:
        """Tells the others that all is done here which followed from the view `number`, and whether all who are linked know of shares.

        `taken`: up to which view everything is here that has come to this broker.
        """
        self._settled = max(self._settled, number)
        if self._say(replace(self._said, number=number, knows=knows, taken=taken)):
            self.tick()

    def _say(self, said: Settled) -> bool:
        """Tells the others how it is here, if that is news. Returns whether it was."""
        said = replace(said, anew=self.membership.anew)
        if said == self._said:
            return False
        self._said = said
        self.membership.told(self._me, said.number, knows=said.knows, unheard=said.unheard, anew=said.anew)
        for link in self.client.links.values():
            if link.knows(Settled):
                link.send(said)
        return True

    def era(self) -> int | None:
        """Returns the number of the view that holds; None while former owners may serve something that has moved under it."""
        return self.view.number if self._settled == self.view.number else None

    def is_suspected(self, slot: str) -> bool:
        """Tells whether the broker `slot` may be dead, or does not reach us: nothing that it says would come."""
        links = self._node.links
        reaches = any(each.dialled is None and each.peer.node == slot and each.peer.site == self.site for each in links)
        return not reaches or self.membership.is_suspected(slot, self._node.now_s)

    def have_taken(self, slots: Collection[str]) -> bool:
        """Returns whether those of `slots` that are in the view have all that has come to them, as far as they say such things."""
        say = {slot for slot in self.view.slots if (link := self.client.links.get(slot)) is not None and link.knows(KeptEvents)}
        return all(self._taken.get(slot) == self.view.number for slot in say.intersection(slots))

    def told(self, slot: str, said: Settled) -> None:
        """Notes what the broker `slot` has said of itself."""
        self._taken[slot] = said.taken
        self.membership.told(slot, said.number, knows=said.knows, unheard=said.unheard, anew=said.anew)
        self.tick()

    def issuer(self) -> str | None:
        """Returns the slot of the broker that issues the views of this site; None where nobody does."""
        issuer = self.membership.issuer(self._node.now_s)
        return None if issuer == self._me and self._may_be_put_out() else issuer

    def can_step(self) -> bool:
        """Tells whether every broker that is alive has said that all who are linked to it know of shares."""
        return self.membership.can_step(self._node.now_s)

    def aim(self, goal: Mapping[str, int]) -> None:
        """Has the ring of this site go, in steps, where slots have the shares of `goal`."""
        self.membership.aim(goal)
        self._follow()
        self.tick()

    def offer(self, view: View) -> None:
        """Takes over `view`, which somebody takes for the view of this site, if it is newer than ours and can be one."""
        if self.membership.offer(view):
            self._follow()
        self.tick()

    @property
    def is_let_in(self) -> bool:
        """Whether this process may have served something under the view, and not only an earlier one that is there under its name.

        Whoever has met that one puts the slot out of the view, before long.
        """
        return self._is_let_in or self._node.now_s > self._puts_out_s

    def _follow(self) -> None:
        self._processes.follow(self.view, lambda slot: self.membership.is_suspected(slot, self._node.now_s))
        self._changed()
        # Behind that: what a view means for us depends on whether we were in the one before.
        self._is_let_in = self._is_let_in or self._comes(is_new=self._was_out)
        self._was_out = self._was_out or self._me not in self.view.slots

    def _comes(self, *, is_new: bool) -> bool:
        """Tells whether this slot comes into the view as this process: it has nothing yet, or `is_new`, and all who are there have met it.

        Who has not met it may mean its former process, also where that was not in the view when this one began.
        """
        others = {*self.view.slots} - {self._me}
        is_there = self._me in self.view.slots and (is_new or begins(self._me, self.view))
        return is_there and bool(others) and self._processes.have_met(others)

    def tick(self) -> None:
        """Issues a view if that is on us. Says first whether it begins, and, where heirs are waited for, who is not heard."""
        unheard = self.membership.unheard(self._node.now_s) if self._has_copies else None
        self._say(replace(self._said, unheard=unheard))
        for slot in self.membership.forget_replaced(self._node.now_s):
            self._replaced_in.pop(slot, None)  # what it says of a split is news from now on
        before = self.view.slots
        if self.membership.tick(self._node.now_s, waits=self._may_be_put_out()):
            self._is_let_in = self._is_let_in or (self._me in self.view.slots and self._me not in before)
            self._follow()
        self._is_let_in = self._is_let_in or self._comes(is_new=False)
        slots = self.view.slots
        is_linked = self._me in slots and {*slots} <= {self._me, *self.client.links}
        self._is_met = self._is_met or is_linked

    def _may_be_put_out(self) -> bool:
        """Tells whether others may know that the view means an earlier process of this slot, and put it out, as they do with copies."""
        return self._has_copies and self._me in self.view.slots and not self.is_let_in

    def may_mean_another(self) -> bool:
        """Tells whether the view may mean an earlier process of this slot, and somebody in it is not heard, or nobody else is in it.

        Then others may be taking its place, without our hearing of that. Nobody would ever hear of what we accept meanwhile. So we accept
        nothing, at most for as long as we wait before a first view.
        """
        if self.is_let_in or self._me not in self.view.slots:
            return False
        others = [slot for slot in self.view.slots if slot != self._me]
        return not others or any(self.membership.is_suspected(slot, self._node.now_s) for slot in others)

    def leave(self) -> None:
        """Takes leave of the others, for good."""
        self.draining = True
        self.membership.leave(self._me, self._node.now_s)
        for link in self.client.links.values():
            link.send(Leaving())

    def has_successor(self) -> bool:
        """Tells whether another one is alive, which takes over."""
        return bool(self.membership.alive(self._node.now_s))

    def ready(self) -> str | None:
        """Returns why this broker cannot own topics yet; None when it can.

        It can from the first time that all brokers of the view are linked. One that is lost later is waited out by the others. Everybody
        else's events are not refused meanwhile, unless the view may mean an earlier process.
        """
        if self.draining:
            return "draining"
        if self._me not in self.view.slots:
            return "not in the site's view yet"
        if not self._is_met:
            return "not linked yet to every broker of the site's view"
        return "the site's view may mean an earlier process" if self.may_mean_another() else None


class SiblingLink:
    """The handler of a link between two brokers of one site.

    - `rest`: the handler of what is forwarded: to us where the other has called, from us where we have.
    - `goes_by(view)`: takes the view that the other says.
    - `left(slot)`: is called when the other says that it leaves.
    - `settled()`: is called when the other says how far it is.
    - `moved(slot, frame)`: takes what the other says of topics that move.
    - `apart(frame)`: takes under which view the other was apart.
    - `strayed(bodies)`: takes events of other sites that have come to it.
    """

    __slots__ = ("_apart", "_goes_by", "_left", "_link", "_mesh", "_moved", "_rest", "_settled", "_slot", "_strayed")

    def __init__(
        self,
        mesh: Mesh,
        link: Link,
        rest: LinkHandler,
        goes_by: Callable[[View], None],
        left: Callable[[str], None],
        settled: Callable[[], None],
        moved: Callable[[str, Moved | KeptEvents | Past | Sealed], None],
        apart: Callable[[Apart], None],
        strayed: Callable[[Sequence[bytes]], None],
    ) -> None:
        self._mesh, self._link, self._slot, self._rest = mesh, link, link.peer.node, rest
        self._goes_by, self._left, self._settled, self._moved, self._apart, self._strayed = goes_by, left, settled, moved, apart, strayed

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes signs of life, views, and what is forwarded, in order: events count under the view that came before them."""
        self._mesh.heard(self._slot)
        for frame in frames:
            match frame:
                case Heartbeat(view):
                    self._goes_by(view)
                case Leaving():
                    if not self._mesh.is_over(self._link):
                        self._left(self._slot)
                case Settled():
                    self._mesh.told(self._slot, frame)
                    self._settled()
                case Moved() | KeptEvents() | Past() | Sealed():
                    self._moved(self._slot, frame)
                case Apart(view):
                    if not self._mesh.was_replaced(self._slot, view):
                        self._apart(frame)
                case Strayed(bodies):
                    self._strayed(bodies)
                case _:
                    self._rest.frames([frame])

    def down(self, reason: str) -> None:
        """Suspects the other broker."""
        self._rest.down(reason)
        self._mesh.lost(self._slot)

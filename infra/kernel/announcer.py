"""Announcer: tells the nodes of one site which topics this node wants, and knows what they have installed.

It is used three times. An access point announces to its aggregator, an aggregator to the brokers of its site, and a broker to the
brokers of each other site. The ring over the site's view says which node is told of a topic. A change of the view moves topics.
A link that comes back gets everything anew: subscriptions are soft state, and nobody stores them.

Make before break. A former owner of a topic goes on serving it until the new owner has it, and all sites behind the new owner. Then the
former owner is asked for a last answer, which comes behind all that those sites had still sent to it: another link may be faster. Only
then, and when it has said that it goes by the new view, is it told that the topic is not wanted there any more. So a move costs no event.

Marks. A *mark* is a moment. It is reached at a site while everything is installed there that was wanted at that moment and still is.
Something may have to be announced anew: a link was lost or came back, topics moved to other nodes, or a node says that it lost
something behind it. Then the mark is no longer reached.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from .announced_node import AnnouncedNode
from .frames import Frame, Subscribe, Unsubscribe, View
from .moving_topics import MovingTopics, PartingTopics, Told, WantedByCell, WantedInAll
from .outlet import Outlet
from .ring import Ring, hashes64
from .topics import Topic

# Topics in one frame: so many of the longest are still far below `codec.MAX_FRAME_BYTES`.
BULK: Final = 8192
MAX_MARKS: Final = 1024
# A site that is lost while topics move must not keep their former owners for ever.
PARTING_BEATS: Final = 10
MAX_PARTINGS: Final = 4

Wanted = Callable[[], Iterable[tuple[int, Topic]]]
GainsOf = Callable[[Sequence[int]], bytes]
GoesBy = Callable[[str, View], bool]


class _Mark(NamedTuple):
    number: int
    told: Told


def at_once(work: Iterator[float]) -> None:
    """Does all of some work now."""
    for _ in work:
        pass


class Announcer:
    """The announcing side towards `site`. `wanted` lists all (row, topic) that are wanted now; rows are the handles.

    - `by_cell`: keeps the cells of rows; without it, all that is wanted is looked at whenever the ring changes.
    - `gains_of(rows)`: returns about how many follow their topics (see `Subscribe`).
    - `goes_by(slot, view)`: tells whether a node has said that it goes by `view`, or a later one, and has nothing more to say of an earlier
      one. Before that it serves what has moved as if it were its own, whoever has it by then.
    - `spawn`: does what is left of a move, a step in each turn; without it all of it is done at once.
    - `reached`: for each site that was heard of, the newest mark that is reached there; 0 if none is.
    - `restored`: how often a site has reached again what was no longer reached there. What was published meanwhile may be lost.
    - `keeps_former`: while it is set, former owners go on serving, and what is on its way to them is delivered: nothing has to be restored.
    - `unserved`: topics that are wanted since `keeps_former` was set, so former owners know nothing of them.
    """

    def __init__(
        self,
        site: str,
        wanted: Wanted,
        by_cell: WantedByCell | None = None,
        gains_of: GainsOf = lambda rows: b"",
        spawn: Callable[[Iterator[float]], None] = at_once,
        goes_by: GoesBy = lambda slot, view: True,
    ) -> None:
        self.site = site
        self._gains_of, self._spawn, self._goes_by = gains_of, spawn, goes_by
        self.view = View(0, ())
        self.ring = Ring(())
        self.reached: dict[str, int] = {}
        self.restored = 0
        self._fell: dict[str, int] = {}
        self.keeps_former = False
        self.unserved: set[Topic] = set()
        self._rows: WantedByCell = by_cell or WantedInAll(wanted)
        self._nodes: dict[str, AnnouncedNode] = {}
        self._marks = deque([_Mark(1, {})])
        self._moving: MovingTopics | None = None
        self._moved: Callable[[], None] | None = None
        # The sites that had reached a mark before the move.
        self._had: list[str] = []
        self._partings: deque[PartingTopics] = deque()
        self._is_going_on = False
        self._pause_s = 0.0
        self._beat = 0

    def node_up(self, slot: str, outlet: Outlet, resume: Callable[[int], None] | None = None, *, is_other: bool = False) -> None:
        """Announces to `slot`, to which a link stands, everything that it owns. `is_other`: it is another process than at the last link.

        `resume(n)`: is given where the node goes on where its last link broke. It is called before anything is announced. Changes up to `n`
        will repeat what that link had installed, and later ones are new.
        """
        self._finish_move()
        node = self._node(slot)
        fresh = node.up(outlet, is_other=is_other)
        mine = self._owned_by(slot)
        again = [] if resume is None else [pair for pair in mine if pair[1] not in fresh]
        if resume is not None:
            resume(node.sent + -(-len(again) // BULK))
            self._tell(slot, again)
        if len(again) < len(mine):
            self._tell(slot, [pair for pair in mine if pair[1] in fresh] if again else mine, new=True)
        elif not mine:  # an empty change: its answer says which sites there are
            self._ask(slot)
        self._start_over()

    def take_begun(self, slot: str) -> set[Topic]:
        """Returns what was new to `slot` when its link began, unless that was returned before: it goes on with all others only."""
        node = self._node(slot)
        begun, node.begun = node.begun, set()
        return begun

    def node_down(self, slot: str) -> None:
        """Notes that the link to `slot` is lost."""
        node = self._node(slot)
        node.down()
        self._finish_move()
        for other in self._nodes.values():
            node.refresh([topic for _, topics in other.open for topic in topics])
        self._start_over()

    def set_view(self, view: View, moved: Callable[[], None] | None = None) -> bool:
        """Takes over a higher view and moves the topics whose owner changes. Returns False if `view` is not higher.

        `moved`: is called between what a former owner has delivered so far, and what it had not said to deliver: that is new to the next.
        With it, the new owners are told of everything at once.
        """
        if view.order <= self.view.order:
            return False
        self._finish_move()
        before, self.ring, self.view = self.ring, view.ring, view
        is_lost, shares = moved is not None, view.share_of
        unanswered = {slot: node.unanswered(is_lost=is_lost) for slot, node in self._nodes.items()}
        for slot, node in self._nodes.items():
            # What a former process of it had is others' now, or was before: then no heir has anything of that one, only of this one.
            if node.undelivered is not None and not (shares.get(slot) and before.heirs(slot)):
                node.undelivered = None
        self._moving = MovingTopics(before, self.ring, self._rows, unanswered, at_once=is_lost)
        self._moved, self._had = moved, [site for site, mark in self.reached.items() if mark]
        self._begin_work()
        if self._moving is not None:
            self._start_over()
        return True

    @property
    def is_announced(self) -> bool:
        """Whether the new owners have been told of everything that has moved."""
        return self._moving is None

    @property
    def is_parted(self) -> bool:
        """Whether no former owner serves anything any more that has moved."""
        return not self._partings and self._moving is None

    def has_parted(self, slot: str) -> bool:
        """Returns whether `slot` serves nothing any more that has moved to others; other former owners may."""
        is_former = self._moving is not None and slot in self._moving.former
        return not is_former and not any(slot in parting.topics for parting in self._partings)

    def want(self, news: Iterable[tuple[int, Topic]]) -> None:
        """Announces topics that are newly wanted, as (row, topic), to their owners."""
        for slot, mine in self._by_owner(news).items():
            self._tell(slot, mine, new=True)
            topics = [topic for _, topic in mine]
            if self.keeps_former:
                self.unserved.update(topics)
            for node in self._nodes.values():
                node.refresh(topics)

    def reweigh(self, pairs: Iterable[tuple[int, Topic]]) -> None:
        """Announces topics again, as (row, topic), that are wanted and of which another gain is to be told."""
        for slot, mine in self._by_owner(pairs).items():
            self._tell(slot, mine)

    def unwant(self, topics: Iterable[Topic]) -> None:
        """Withdraws topics from their owners, and from former owners that still serve them."""
        known = list(topics)
        self.unserved.difference_update(known)
        for node in self._nodes.values():
            node.close(known)
        if not self.is_parted:  # who may still serve a topic is not kept by topic, so all nodes are told
            for slot in self._nodes:
                self._untell(slot, known)
            return
        if len(self.ring.slots) == 1:
            self._untell(self.ring.slots[0], known)
            return
        mine: dict[str, list[Topic]] = {}
        for topic, owner in zip(known, self.ring.owners(known), strict=True):
            if owner is not None:
                mine.setdefault(owner, []).append(topic)
        for owner, its in mine.items():
            self._untell(owner, its)

    def mark(self) -> int:
        """Returns the mark of this moment (see `reached`)."""
        told = self._told_to_owners()
        if told != self._marks[-1].told:
            self._marks.append(_Mark(self._marks[-1].number + 1, told))
            if len(self._marks) > MAX_MARKS:  # an odd number: first and last stay; the others are reached a little later
                self._marks = deque(islice(self._marks, 0, None, 2))
            self._advance()
        return self._marks[-1].number

    def applied(self, slot: str, n: int, sites: Mapping[str, int]) -> None:
        """Notes the answer of `slot`: it has done changes up to `n`, and up to `sites[site]` they are installed at that site."""
        node = self._node(slot)
        if node.outlet is None:
            return
        # A number above what was sent is a defect of the peer. Believed, it would say "installed" of changes to come.
        node.done = min(n, node.sent)
        while node.open and node.open[0][0] <= node.done:
            node.open.popleft()
        node.applied = {site: min(number, node.sent) for site, number in sites.items()}
        for site in sites:
            self.reached.setdefault(site, 0)
        self._advance()

    def said_view(self) -> None:
        """Lets former owners go whose time has come, when one has said by which view it goes."""
        if self._partings:
            self._advance()

    def tick(self) -> None:
        """Counts a heartbeat interval: former owners are kept for no longer than `PARTING_BEATS` of them."""
        self._beat += 1
        if self._partings:
            self._advance()

    def ask_all(self) -> Told:
        """Sends an empty change to every node that is linked, and returns `told()`.

        Once `has_done` is true of the result, everything has come that the nodes had sent before they took that change in.
        """
        return {slot: self._ask(slot) for slot, node in self._nodes.items() if node.outlet is not None}

    def told(self) -> Told:
        """Returns, for each node that is linked, the number of the last change that it was sent (see `has_done`)."""
        return {slot: node.sent for slot, node in self._nodes.items() if node.outlet is not None}

    def has_done(self, told: Told) -> bool:
        """Returns whether every node has done what it was `told`, or is not linked. Then nothing comes that was sent before."""
        return all(self._nodes[slot].outlet is None or self._nodes[slot].done >= n for slot, n in told.items())

    @property
    def has_caught_up(self) -> bool:
        """Whether every node of the view is linked, and has answered on its link: nothing comes any more that an earlier link lacked."""
        return all(self._node(slot).done for slot in self.ring.slots)

    def has_answered(self, told: Told) -> bool:
        """Returns whether every node has done what it was `told`, and so have the sites behind it, or it is not linked.

        Then nothing comes that any of them had sent before, by whichever node it came.
        """
        nodes = ((self._nodes[slot], n) for slot, n in told.items())
        return all(node.outlet is None or (node.done >= n and min(node.applied.values(), default=n) >= n) for node, n in nodes)

    def _node(self, slot: str) -> AnnouncedNode:
        return self._nodes.setdefault(slot, AnnouncedNode())

    def _owned_by(self, slot: str) -> list[tuple[int, Topic]]:
        parts = self._rows.wanted_in(self.ring.cells_of(slot)) if slot in self.ring.slots else ()
        return [pair for part in parts for pair, owner in zip(part, self._owners(part), strict=True) if owner == slot]

    def _owners(self, pairs: Sequence[tuple[int, Topic]]) -> list[str | None]:
        hashes = hashes64([topic for _, topic in pairs])
        self._rows.note_cells(pairs, hashes)
        return self.ring.owners_at(hashes)

    def _by_owner(self, pairs: Iterable[tuple[int, Topic]]) -> dict[str, list[tuple[int, Topic]]]:
        groups: dict[str, list[tuple[int, Topic]]] = {}
        every = list(pairs)
        if len(self.ring.slots) == 1:  # an access point has one aggregator: nothing needs to be hashed
            return {self.ring.slots[0]: every} if every else groups
        for pair, slot in zip(every, self._owners(every), strict=True):
            if slot is not None:
                groups.setdefault(slot, []).append(pair)
        return groups

    def _tell(self, slot: str, pairs: Sequence[tuple[int, Topic]], *, new: bool = False) -> None:
        """Has `slot` deliver topics, which may be `new` to it. One that has moved is not: its former owner has delivered it so far."""
        for start in range(0, len(pairs), BULK):
            bulk = pairs[start : start + BULK]
            rows, topics = [row for row, _ in bulk], [topic for _, topic in bulk]
            self._send(slot, Subscribe, rows, topics, self._gains_of(rows))
            if new:
                self._nodes[slot].told(topics)

    def _untell(self, slot: str, topics: Sequence[Topic]) -> None:
        self._node(slot).close(topics)
        for start in range(0, len(topics), BULK):
            self._send(slot, Unsubscribe, topics[start : start + BULK])

    def _send(self, slot: str, change: Callable[..., Frame], *lists: Sequence[Any]) -> None:
        node = self._node(slot)
        node.sent += 1  # also without a link: the mark of now then waits for the link and for what it announces
        if node.outlet is not None:
            node.outlet.send(change(node.sent, *lists))

    def _told_to_owners(self) -> Told:
        """Returns what owners must have done for all to be installed that is wanted now; nothing while not all of that is sent."""
        return {} if self._moving is not None else {slot: self._node(slot).sent for slot in self.ring.slots}

    def _start_over(self) -> None:
        """Makes all marks wait for what is announced anew, also those that were reached. So one mark is enough for all."""
        self._marks = deque([_Mark(self._marks[-1].number, self._told_to_owners())])
        self._advance()

    def _advance(self) -> None:
        """Works out `reached`, counts sites that are restored, and lets former owners go whose time has come."""
        for site in self.reached:
            # Marks wait for more and more, so those that a site lacks are all behind those that it has: bisection finds the border.
            held = bisect_left(self._marks, True, key=partial(self._lacks, site))
            before, now = self.reached[site], self._marks[held - 1].number if held else 0
            self.reached[site] = now
            if now < before and not self.keeps_former:
                # The highest mark ever lost: a second fall, before the first is made good, must not lower it.
                self._fell[site] = max(before, self._fell.get(site, 0))
            elif site in self._fell and now >= self._fell[site]:
                del self._fell[site]
                self.restored += 1
        lowest = min(self.reached.values(), default=0)
        # The first mark stays: it says where a site stands that has reached no later one.
        while len(self._marks) > 1 and self._marks[1].number <= lowest:
            self._marks.popleft()
        if self._partings and not self._partings[0].is_over and self._may_part(self._partings[0]):
            self._partings[0].is_over = True
            self._begin_work()

    # What is done in parts.

    def _begin_work(self) -> None:
        """Does some of what is to do, and has the rest be done later."""
        # Twice: the second time often shows that nothing is left, so what is little is done at once.
        if self._go_on() and self._go_on() and not self._is_going_on:
            self._is_going_on = True
            self._spawn(self._work())

    def _work(self) -> Iterator[float]:
        try:
            while self._go_on():
                yield self._pause_s
        finally:
            self._is_going_on = False

    def _go_on(self) -> bool:
        """Does a part of what is to do. Returns whether anything is left."""
        self._pause_s = 0.0
        if (moving := self._moving) is not None:
            self._announce_part(moving)
            self._pause_s = moving.pause_s
        elif self._partings and (parting := self._partings[0]).is_over:
            self._withdraw_part(parting)
            self._pause_s = parting.pause_s
        return self._moving is not None or (bool(self._partings) and self._partings[0].is_over)

    def _announce_part(self, moving: MovingTopics) -> None:
        if (part := moving.next_part()) is None:
            self._announced_all(moving)
            return
        for slot, mine in part.goes.items():
            self._tell(slot, mine)
        if self._moved is not None:
            self._moved()
        for slot, mine in part.news.items():
            self._tell(slot, mine, new=True)

    def _announced_all(self, moving: MovingTopics) -> None:
        self._moving = self._moved = None
        if moving.gone:  # after the new owners were told: the marks below must wait for them
            parting = PartingTopics(self._marks[-1].number, self._had, self._beat, moving.gone, self.view, has_time=moving.has_time)
            self._partings.append(parting)
            if len(self._partings) > MAX_PARTINGS and not self.keeps_former:  # a site that stays away must not cost memory
                self._withdraw(self._partings.popleft())
        self._start_over()

    def _finish_move(self) -> None:
        """Tells the new owners of everything that is left: what comes next counts behind that."""
        while self._moving is not None:
            self._announce_part(self._moving)

    def _withdraw_part(self, parting: PartingTopics) -> None:
        self._untell(*parting.next_part(self.view, self.ring))
        if not parting.topics:
            self._partings.popleft()
            self._advance()

    def _withdraw(self, parting: PartingTopics) -> None:
        while parting.topics:
            self._untell(*parting.next_part(self.view, self.ring))

    def _may_part(self, parting: PartingTopics) -> bool:
        if self.keeps_former:
            return False
        if self._beat - parting.beat > PARTING_BEATS:
            return True
        if any(self.reached[site] < parting.mark for site in parting.sites):
            return False
        if parting.asked is None:
            parting.asked = {slot: self._ask(slot) for slot in parting.topics if self._nodes[slot].outlet is not None}
        return all(self._has_answered(slot, n, parting) for slot, n in parting.asked.items())

    def _ask(self, slot: str) -> int:
        """Sends `slot` an empty change, and returns its number."""
        self._send(slot, Subscribe, [], [])
        return self._nodes[slot].sent

    def _has_answered(self, slot: str, n: int, parting: PartingTopics) -> bool:
        node = self._nodes[slot]
        if node.outlet is None:
            return True
        return self._goes_by(slot, parting.view) and all(node.applied.get(site, 0) >= n for site in parting.sites)

    def _lacks(self, site: str, mark: _Mark) -> bool:
        return not mark.told or any(self._nodes[slot].applied.get(site, 0) < n for slot, n in mark.told.items())

"""Announcer: keeps the nodes of one site told of what this node wants, and knows what they have installed.

Used three times: an access point announces to its aggregator, an aggregator to the brokers of its site, a broker to
the brokers of each other site. Which node is told of a topic is the ring over the site's view; a change of the view
moves topics, the return of a link announces everything anew. Subscriptions are soft state: nothing else is needed.

Numbers. Changes sent to a node are numbered and never start again, not even on a new link; since a returning link
gets everything, "applied up to n" stays true across links. A *mark* is a moment: it is reached at a site when every
change sent before that moment is applied there.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from .frames import Frame, Subscribe, Unsubscribe, View
from .ring import Ring
from .topics import Topic

BULK: Final = 8192
MAX_MARKS: Final = 1024

Wanted = Callable[[], Iterable[tuple[int, Topic]]]


class Outlet(Protocol):
    """Where frames for one node go; they arrive in order or not at all."""

    def send(self, frame: Frame) -> None:
        """Queue `frame`; never blocks."""


class _Node:
    """One node of the announced site: how far it was told, how far each site behind it has applied that."""

    __slots__ = ("applied", "outlet", "sent")

    def __init__(self) -> None:
        self.sent = 0
        self.applied: dict[str, int] = {}
        self.outlet: Outlet | None = None


class Announcer:
    """The announcing side towards `site`. `wanted` lists all (row, topic) that are wanted now; rows are the handles."""

    def __init__(self, site: str, wanted: Wanted) -> None:
        self.site = site
        self.view = View(0, ())
        self.ring = Ring(())
        self.reached: dict[str, int] = {}
        self._wanted = wanted
        self._nodes: dict[str, _Node] = {}
        self._mark = 0
        self._marks: deque[tuple[int, dict[str, int]]] = deque()

    def node_up(self, slot: str, outlet: Outlet) -> None:
        """A link to `slot` stands: announce everything that it owns."""
        node = self._nodes.setdefault(slot, _Node())
        node.outlet = outlet
        mine = [(row, topic) for row, topic in self._wanted() if self.ring.owner(topic) == slot]
        if mine:
            self._tell(slot, mine)
        else:  # an empty change: its answer says how far we are, and which sites there are
            node.sent += 1
            outlet.send(Subscribe(node.sent, [], []))

    def node_down(self, slot: str) -> None:
        """The link to `slot` is lost. What it had applied no longer counts."""
        if node := self._nodes.get(slot):
            node.outlet = None
            node.applied = {}

    def set_view(self, view: View) -> bool:
        """Take over a higher view and move the topics whose owner changes. False if the view is not higher."""
        if (view.number, view.slots) <= (self.view.number, self.view.slots):
            return False
        before, self.ring, self.view = self.ring, Ring(view.slots), view
        news: dict[str, list[tuple[int, Topic]]] = {}
        gone: dict[str, list[Topic]] = {}
        for row, topic in self._wanted():
            old, new = before.owner(topic), self.ring.owner(topic)
            if old != new:
                if new is not None:
                    news.setdefault(new, []).append((row, topic))
                if old is not None:
                    gone.setdefault(old, []).append(topic)
        for slot, moved in news.items():
            self._tell(slot, moved)
        for slot, topics in gone.items():
            self._untell(slot, topics)
        self._raise_marks()
        return True

    def want(self, news: Iterable[tuple[int, Topic]]) -> None:
        """Announce new wishes to their owners."""
        for slot, mine in self._by_owner(news).items():
            self._tell(slot, mine)

    def unwant(self, topics: Iterable[Topic]) -> None:
        """Withdraw wishes from their owners."""
        for slot, mine in self._by_owner((0, topic) for topic in topics).items():
            self._untell(slot, [topic for _, topic in mine])

    def _by_owner(self, pairs: Iterable[tuple[int, Topic]]) -> dict[str, list[tuple[int, Topic]]]:
        groups: dict[str, list[tuple[int, Topic]]] = {}
        only = self.ring.slots[0] if len(self.ring.slots) == 1 else None
        for pair in pairs:
            slot = only or self.ring.owner(pair[1])
            if slot is not None:
                groups.setdefault(slot, []).append(pair)
        return groups

    def _tell(self, slot: str, pairs: Iterable[tuple[int, Topic]]) -> None:
        node = self._nodes.setdefault(slot, _Node())
        pairs = list(pairs)
        for start in range(0, len(pairs), BULK):
            bulk = pairs[start : start + BULK]
            node.sent += 1
            if node.outlet is not None:
                node.outlet.send(Subscribe(node.sent, [row for row, _ in bulk], [topic for _, topic in bulk]))

    def _untell(self, slot: str, topics: list[Topic]) -> None:
        node = self._nodes.setdefault(slot, _Node())
        node.sent += 1
        if node.outlet is not None:
            node.outlet.send(Unsubscribe(node.sent, list(topics)))

    def mark(self) -> int:
        """The moment now. Reached at a site when all that was sent before is applied there (see `reached`)."""
        sent = {slot: node.sent for slot, node in self._live()}
        if not self._marks or self._marks[-1][1] != sent:
            self._mark += 1
            self._marks.append((self._mark, sent))
            if len(self._marks) > MAX_MARKS:  # a site that stays away must not cost memory: coarser marks are safe
                self._marks = deque(list(self._marks)[1::2])
            self._advance(self.reached)
        return self._mark

    def applied(self, slot: str, sites: Mapping[str, int]) -> bool:
        """`slot` says how far each site has applied its changes. True if some mark was reached by that."""
        node = self._nodes.get(slot)
        if node is None or node.outlet is None:
            return False
        for site, number in sites.items():
            node.applied[site] = min(number, node.sent)
        return self._advance({*self.reached, *sites})

    def settled(self, mark: int) -> bool:
        """Whether no delivery under a handle that was withdrawn before `mark` can still arrive."""
        return self.reached.get(self.site, 0) >= mark or not any(node.outlet for node in self._nodes.values())

    def _live(self) -> Iterator[tuple[str, _Node]]:
        return ((slot, self._nodes.setdefault(slot, _Node())) for slot in self.view.slots)

    def _advance(self, sites: Iterable[str]) -> bool:
        live = dict(self._live())
        progress = False
        for site in list(sites):
            reached = self.reached.get(site, 0)
            for mark, sent in self._marks:
                if mark > reached and live and all(node.applied.get(site, 0) >= sent.get(slot, 0) for slot, node in live.items()):
                    reached, progress = mark, True
                elif mark > reached:
                    break
            self.reached[site] = reached
        self._forget_reached()
        return progress

    def _forget_reached(self) -> None:
        lowest = min(self.reached.values(), default=0)
        while len(self._marks) > 1 and self._marks[0][0] <= lowest:
            self._marks.popleft()

    def _raise_marks(self) -> None:
        """After topics moved, an unreached mark also waits for what was just sent about them."""
        sent = {slot: node.sent for slot, node in self._live()}
        lowest = min(self.reached.values(), default=0)
        self._marks = deque((mark, sent if mark > lowest else old) for mark, old in self._marks)

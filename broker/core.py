"""What a broker decides: who gets an event, under which number, and which interest other sites must hear of.

Rules. (1) An event of this site is numbered by the owner of its topic and goes to each interested link once: local
aggregators and the counterparts of other sites. (2) An event from another site goes to local aggregators only, so it
crosses one site link at most. (3) Other sites hear of a topic while a local aggregator wants it, and not because a
third site does. (4) An id that was seen lately on the same topic is not published again.

Numbers rise by one per topic. The count of a topic that nobody wants any more is kept for a while, and goes on with
each event, so that an interest that only flickered finds the true number of what it missed. When it is forgotten, a new
one starts above every number this process ever gave: within an epoch the numbers of a topic never repeat (SB-21).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from infra.kernel.events import Event, numbering
from infra.kernel.fanout import Fanout, Receiver
from infra.kernel.recent import RecentIds
from infra.kernel.topics import Topic

RETAINED_COUNTS: Final = 1 << 16

Rows = list[tuple[int, Topic]]


class BrokerCore:
    """The interest of one broker and what follows from it. `owner_at(site, topic)`: the slot that owns it there.

    `record`, if there is one, is told of every event that is published here, wanted or not. `passes`, if there is one, says
    of a wanted event's topic whether it is delivered; an event that is not has used its number up (SB-64).
    """

    def __init__(self, site: str, epoch: int, owner_at: Callable[[str, Topic], str | None] = lambda site, topic: None) -> None:
        self.fanout = Fanout()
        self.interest = self.fanout.interest
        self.record: Callable[[Event], None] | None = None
        self.passes: Callable[[Topic], bool] | None = None
        self.matched = self.unmatched = self.duplicates = self.offloaded = 0
        self.site_copies = self.site_events = self.stale = 0
        self._numbering = numbering(site, epoch)
        self._local = 0
        self._far = 0
        self._sites: dict[str, dict[str, int]] = {}
        self._owner_at = owner_at
        self._seqs: dict[int, int] = {}
        self._retained: dict[Topic, int] = {}
        self._stamped = 0
        self._recent = RecentIds()

    def open(self, receiver: Receiver, far: bool, peer: tuple[str, str] = ("", "")) -> int:
        """A subscribing link: an aggregator of this site, or (`far`) a broker of another one. Its number.

        `peer`: the site and the name of the node at the other end.
        """
        bit = self.fanout.open(receiver)
        if far:
            self._far |= 1 << bit
            self._sites.setdefault(peer[0], {})[peer[1]] = 1 << bit
        else:
            self._local |= 1 << bit
        return bit

    def close(self, bit: int) -> tuple[Rows, Rows]:
        """The link is gone. Returns what `unsubscribe` of all its topics returns."""
        gone = self.interest.close(bit)
        local = bool(self._local & 1 << bit)
        self._local &= ~(1 << bit)
        self._far &= ~(1 << bit)
        for links in self._sites.values():
            for slot in [slot for slot, flag in links.items() if flag == 1 << bit]:
                del links[slot]
        self.fanout.forget(bit)
        return self._withdrawn(gone, local, self._local)

    def subscribe(self, bit: int, topics: Sequence[Topic], handles: Sequence[int]) -> Rows:
        """Interest of link `bit`. Returns the (row, topic) that this site did not want before: other sites must hear."""
        news = self.interest.subscribe(bit, topics, handles)
        if not self._local & 1 << bit:
            return []
        return [(row, topic) for row, topic, before in news if not before & self._local]

    def unsubscribe(self, bit: int, topics: Iterable[Topic]) -> tuple[Rows, Rows]:
        """Link `bit` loses interest. Returns (rows this site no longer wants, rows that nobody wants)."""
        return self._withdrawn(self.interest.unsubscribe(bit, topics), bool(self._local & 1 << bit), self._local)

    @staticmethod
    def _withdrawn(gone: list[tuple[int, Topic, int]], was_local: bool, local: int) -> tuple[Rows, Rows]:
        silent = [(row, topic) for row, topic, after in gone if was_local and not after & local]
        dead = [(row, topic) for row, topic, after in gone if not after]
        return silent, dead

    def release(self, row: int, topic: Topic) -> None:
        """The number of a dead row may be used again."""
        if self.interest.release(row, topic) and (seq := self._seqs.pop(row, None)) is not None:
            self._retained[topic] = seq
            if len(self._retained) > RETAINED_COUNTS:
                del self._retained[next(iter(self._retained))]

    def wanted_here(self) -> Iterable[tuple[int, Topic]]:
        """All (row, topic) that local aggregators want: what every other site must know."""
        return self.interest.wanted(self._local)

    def publish(self, event: Event) -> None:
        """Number and deliver an event whose topic this broker owns (SB-18, SB-24)."""
        if event.id and self._recent.seen(b"%b %b" % (event.topic, event.id)):
            self.duplicates += 1
            return
        if self.record is not None:
            self.record(event)
        row = self.interest.rows.get(event.topic)
        mask = self.interest.masks[row] if row is not None else 0
        if row is None or not mask:
            self._miss(row, event.topic)
            return
        seq = self._next(row, event.topic)
        self.matched += 1
        if self.passes is not None and not self.passes(event.topic):
            self.offloaded += 1
            return
        body = b"%b%d,%b" % (self._numbering, seq, event.tail)
        if far := mask & self._far:
            once = self._once_per_site(far, event.topic) if far & far - 1 else far
            mask ^= far ^ once
            self.site_copies += once.bit_count()
        self.fanout.send(row, mask, body)

    def _once_per_site(self, far: int, topic: Topic) -> int:
        """While a topic moves at another site, two of its brokers want it: one copy goes there, to the owner if it can."""
        for site, links in self._sites.items():
            found = far & sum(links.values())
            if found & found - 1:
                to_owner = found & links.get(self._owner_at(site, topic) or "", 0)
                far ^= found ^ (to_owner or found & -found)
        return far

    def _next(self, row: int, topic: Topic) -> int:
        self._stamped += 1
        seq = self._seqs.get(row)
        if seq is None:
            seq = self._retained.pop(topic, self._stamped - 1)
        self._seqs[row] = seq = seq + 1
        return seq

    def _miss(self, row: int | None, topic: Topic) -> None:
        """Nobody wants this event; if somebody did a moment ago, its number is used up all the same."""
        self.unmatched += 1
        if row is not None and row in self._seqs:
            self._next(row, topic)
        elif topic in self._retained:
            self._stamped += 1
            self._retained[topic] += 1

    def relay(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Events from another site, under the handles (rows) announced to it: local aggregators only (SB-25)."""
        masks, local = self.interest.masks, self._local
        rows = len(masks)
        self.site_events += len(handles)
        for row, body in zip(handles, bodies, strict=True):
            mask = masks[row] & local if row < rows else 0
            if mask:
                self.fanout.send(row, mask, body)
            else:
                self.stale += 1

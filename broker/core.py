"""What a broker decides: who gets an event, under which number, and which interest other sites must hear of.

Rules. (1) An event of this site is numbered by the owner of its topic and goes to each interested link once: local
aggregators and the counterparts of other sites. (2) An event from another site goes to local aggregators only, so it
crosses one site link at most. (3) Other sites hear of a topic while a local aggregator wants it, and not because a
third site does. (4) An id that was seen lately on the same topic is not published again.

`topic_numbers` gives the numbers, `recorded_rows` knows what is recorded for those who come back, and `link_masks` which links are whose.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from infra.kernel.assignment import Assigned, Switch
from infra.kernel.events import OPENING, Event, opening_of, origin
from infra.kernel.fanout import Fanout, Receiver
from infra.kernel.frames import Assignment
from infra.kernel.interest import LINKS
from infra.kernel.recent import RecentIds
from infra.kernel.summed_gains import SummedGains
from infra.kernel.topics import Topic

from .gate import Gate
from .laggards import Laggards
from .link_masks import LinkMasks, OwnerAt
from .recorded_rows import HERE, RECORDED, Keeps, RecordedRows, Rows
from .topic_counts import TopicCounts
from .topic_numbers import Last, TopicNumbers
from .unheard import UnheardTopics
from .window import EventWindow

Marks = Callable[[int | None], dict[int, int]]
Record = Callable[[Event], None]


class NumberedEvent(NamedTuple):
    """An event that has its number, and that nobody has got yet.

    - `body`: empty where nobody wants it. `is_out`: it will not be delivered, because its topic is out of real time.
    - `last`, `before`: the last number of its topic with it, and without it; None where none is known.
    """

    event: Event
    body: bytes
    is_out: bool
    last: Last | None
    before: Last | None

    @property
    def kept(self) -> bytes:
        """What is kept of it: where it will not be delivered, only its place."""
        return origin(self.body) if self.is_out else self.body


class BrokerCore:
    """The interest of one broker, the numbers of its topics, and what of them is out.

    - `site`, `epoch`: stand in front of every number that is given here.
    - `owner_at(site, topic)`: returns the slot that owns `topic` at another site; None while nobody knows.
    - `record`: is told of every event that is published here, wanted or not.
    - `window`: records events; None where no kind of topics is recorded.
    - `owns(topic)`: tells whether a topic is this broker's.
    - `keeps(topics)`: tells of each whether it is recorded for a while when nobody follows it; None while topics go to other brokers.
    - `awaits(topic)`: tells whether somebody may come back for one that nobody follows, of whom only a former owner knew.
    - `came_at()`: returns the stamp at which topics had come here from other brokers for the last time; None while some are coming.
    - `astray(body)`: takes events of other sites which nobody wants here any more. The owner of their topic by now may want them.

    A subscribing link is a number, the *bit*: bit `b` of a row's mask says that link `b` wants the row's topic.
    """

    def __init__(
        self,
        site: str,
        epoch: int,
        owner_at: OwnerAt = lambda site, topic: None,
        record: Record | None = None,
        window: EventWindow | None = None,
        owns: Callable[[Topic], bool] = lambda topic: True,
        keeps: Keeps = lambda topics: [True] * len(topics),
        awaits: Callable[[Topic], bool] = lambda topic: False,
        astray: Callable[[bytes], None] = lambda body: None,
        came_at: Callable[[], int | None] = lambda: 0,
    ) -> None:
        self.fanout = Fanout()
        self.interest = self.fanout.interest
        self.assigned = Assigned()
        self.gate = Gate(self.assigned.out)
        self.counts = TopicCounts()
        self.matched = self.unmatched = self.duplicates = self.offloaded = 0
        self.site_copies = self.site_events = self.stale = 0
        self._site, self._opening = site.encode(), opening_of(site)
        self.numbers = TopicNumbers(site, epoch, self.interest.rows)
        self._links = LinkMasks(owner_at)
        self.gains = SummedGains(self.interest, lambda: self._links.local)
        # None, both, while nobody wants to know and nothing is out: then `publish` pays one check for each, and no call.
        self._recorded = self._record = record
        self._passes: Callable[[Topic], bool] | None = None
        self._recent = RecentIds()
        self.window = window
        self.laggards = Laggards(self.fanout, window) if window is not None else None
        self.unheard = UnheardTopics(window) if window is not None else None
        self.recorded = RecordedRows(self.interest, self._links, window, keeps, awaits, came_at)
        self.owns, self._astray = owns, astray
        # Returns how far copies have gone that links have got up to a stamp (None: up to now); None where there are no copies.
        self.marks: Marks | None = None

    def open(self, receiver: Receiver, far: bool, peer: tuple[str, str] = ("", "")) -> int:
        """Returns the number of a new subscribing link.

        - `receiver`: what takes the events for it.
        - `far`: whether it is that of a broker of another site, and not of an aggregator of this one.
        - `peer`: the site and the name of the node at the other end.
        """
        bit = self.fanout.open(receiver)
        self._links.open(bit, far, peer)
        return bit

    def close(self, bit: int) -> tuple[Rows, Rows]:
        """Forgets a link that is gone. Returns what `unsubscribe` of all its topics returns."""
        gone = self.interest.close(bit)
        self.gains.left(topic for _, topic, _ in gone)
        self.gains.forget(bit)
        was_local = bool(self._links.local & 1 << bit)
        self._links.close(bit)
        self.fanout.forget(bit)
        if self.laggards is not None:
            self.laggards.end(bit)
        return self._withdrawn(gone, was_local)

    def subscribe(self, bit: int, topics: Sequence[Topic], handles: Sequence[int]) -> Rows:
        """Adds interest of link `bit` in `topics`; it gets their events under `handles`.

        Returns the (row, topic) that this site did not want before: other sites must hear of them.
        """
        news = self.interest.subscribe(bit, topics, handles)
        is_local = bool(self._links.local & 1 << bit)
        self.recorded.begin(news, is_local)
        if self.laggards:
            self.laggards.wanted(bit, (row for row, _, _ in news))
        if not is_local:
            return []  # rule 3: what another site wants is not told to a third one
        return [(row, topic) for row, topic, before in news if not before & (self._links.local | HERE)]

    def unsubscribe(self, bit: int, topics: Iterable[Topic]) -> tuple[Rows, Rows]:
        """Takes interest of link `bit` away. Returns (rows this site no longer wants, rows that nobody wants)."""
        return self._withdrawn(self.interest.unsubscribe(bit, topics), bool(self._links.local & 1 << bit))

    def _withdrawn(self, gone: list[tuple[int, Topic, int]], was_local: bool) -> tuple[Rows, Rows]:
        # `after` is the mask of those that still want the row. A far link that leaves never silences this site.
        local = self._links.local
        silent = [(row, topic) for row, topic, after in gone if was_local and not after & (local | HERE)]
        dead = [(row, topic) for row, topic, after in gone if not after]
        self.recorded.leave(gone, local if was_local else LINKS, silent, dead)
        return silent, dead

    def opening(self, bit: int) -> bytes:
        """Returns how the bodies begin that link `bit` gets: another site gets events of this one, and no others (rule 2).

        Here everybody gets all events. The places of those that were not kept are none.
        """
        return self._opening if self._links.far & 1 << bit else OPENING

    def stamps(self, bit: int) -> dict[int, int]:
        """Returns up to where link `bit` has been given everything that is recorded and that it wants: epoch -> stamp."""
        assert self.window is not None
        assert self.laggards is not None
        stamp = self.laggards.stamp(bit)
        if self.marks is None:
            return {self.window.epoch: stamp}
        return {self.window.epoch: stamp} | self.marks(stamp if bit in self.laggards else None)

    def release(self, row: int, topic: Topic) -> None:
        """Lets the number of a dead row be used again, unless somebody wants it again."""
        if self.interest.release(row, topic):
            self.numbers.released(row, topic)

    def wanted_here(self) -> Iterable[tuple[int, Topic]]:
        """Returns all (row, topic) that local aggregators want, or wanted lately: what every other site must know."""
        return self.interest.wanted(self._links.local | HERE)

    def wanted_in(self, cells: bytes) -> Iterator[Rows]:
        """Yields, in parts, what `wanted_here` returns: no cells are kept here."""
        return self.interest.wanted_in(self._links.local | HERE, cells)

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        """Notes the cells of the ring that topics lie in, by their hashes, where cells are kept."""
        self.interest.note_cells(pairs, hashes)

    # Events.

    def publish(self, event: Event) -> None:
        """Numbers and delivers an event whose topic this broker owns (SB-18, SB-24)."""
        if event.id and self._recent.seen(b"%b %b" % (event.topic, event.id)):
            self.duplicates += 1
            return
        if self._record is not None:
            self._record(event)
        row = self.interest.rows.get(event.topic)
        mask = self.interest.masks[row] if row is not None else 0
        if row is None or not mask:
            if (awaited := self.recorded.adopt_awaited(event.topic)) is None:
                self.unmatched += 1
                self.numbers.miss(row, event.topic)
                return
            row, mask = awaited, self.interest.masks[awaited]
        # Before the gate: an event that is not delivered has used its number up, so a gap shows (SB-64).
        passes = self._passes is None or self._passes(event.topic)
        if body := self.numbers.body(row, event.topic, event.tail, passes=passes):
            self._give(row, mask, event.topic, body, passes=passes)
        else:
            self.offloaded += 1

    def _give(self, row: int, mask: int, topic: Topic, body: bytes, *, passes: bool) -> None:
        """Records an event, and gives it to all links that want it."""
        recorded = mask & RECORDED
        if recorded and self.window is not None:
            self.window.record(row, body, self._site, topic, out=not passes)
            mask &= LINKS
            if not mask:
                self.unmatched += 1
                return
        self.matched += 1
        if not passes:
            self.offloaded += 1
            return
        if far := mask & self._links.far:
            # `x & x - 1` clears the lowest bit: it is 0 when x has one bit, and then there is nothing to choose.
            once = self._links.once_per_site(far, topic) if far & far - 1 else far
            mask ^= far ^ once  # `once` is a part of `far`: this clears the bits that were left out
            self.site_copies += once.bit_count()
            if far ^ once and recorded and self.laggards is not None:
                self.laggards.passed(far ^ once)
        if recorded and self.laggards is not None:
            mask &= self.laggards.live
        self.fanout.send(row, mask, body)

    # In two steps, where somebody must have the event before others get it.

    def number(self, event: Event) -> NumberedEvent | None:
        """Returns an event with its number, for `let_out`; None if it came already."""
        if event.id and self._recent.seen(b"%b %b" % (event.topic, event.id)):
            self.duplicates += 1
            return None
        topic, before, body, passes = event.topic, self.numbers.last(event.topic), b"", True
        row = self.interest.rows.get(topic)
        wanted = row if row is not None and self.interest.masks[row] else self.recorded.adopt_awaited(topic)
        if wanted is None:
            self.numbers.miss(row, topic)
        else:
            passes = self._passes is None or self._passes(topic)
            body = self.numbers.body(wanted, topic, event.tail, passes=passes)
        return NumberedEvent(event, body, not passes, self.numbers.last(topic), before)

    def let_out(self, numbered: NumberedEvent) -> None:
        """Delivers an event that has its number."""
        event, body, is_out, _, _ = numbered
        if self._record is not None:
            self._record(event)
        row = self.interest.rows.get(event.topic)
        mask = self.interest.masks[row] if row is not None else 0
        if row is not None and mask and body:
            self._give(row, mask, event.topic, body, passes=not is_out)
        else:
            self.unmatched += not is_out
            self.offloaded += is_out

    def take_back(self, numbered: Iterable[NumberedEvent]) -> None:
        """Has events that have their numbers, and that nobody has got, be as if they had not come. They are the last of their topics."""
        lasts: dict[Topic, Last | None] = {}
        for event, _, _, _, before in numbered:
            lasts.setdefault(event.topic, before)
            if event.id:
                self._recent.forget(b"%b %b" % (event.topic, event.id))
        for topic, last in lasts.items():
            self.numbers.take_back(topic, last)

    # What goes with topics that move.

    def counted(self) -> list[Topic]:
        """Returns the topics that have a number; see `TopicNumbers.counted`."""
        return self.numbers.counted(self.window.names() if self.window is not None else {})

    def known_ids(self) -> Iterable[tuple[Topic, bytes]]:
        """Returns topic and id of the events that came lately."""
        return ((Topic(topic), event_id) for topic, _, event_id in (key.rpartition(b" ") for key in self._recent))

    def know(self, topic: Topic, event_id: bytes) -> None:
        """Takes an event of `topic` for one that came already (DPS-14)."""
        self._recent.seen(b"%b %b" % (topic, event_id))

    def relay(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Delivers events from another site, under the handles (rows) announced to it, to local aggregators only (SB-25)."""
        masks, local, window = self.interest.masks, self._links.local, self.window
        live = HERE | (self.laggards.live if self.laggards is not None else 0)
        rows = len(masks)
        self.site_events += len(handles)
        for row, body in zip(handles, bodies, strict=True):
            # A row is not given to another topic while a delivery may come under it (`Limbo`), so its mask is this topic's.
            mask = masks[row] if row < rows else 0
            if mask & HERE and window is not None:
                if not self.recorded.record_of_others(window, row, body):
                    self.stale += 1
                    continue
                mask &= live
            if mask & local:
                self.fanout.send(row, mask & local, body)
            elif not mask & HERE:
                self.stale += 1
                self._astray(body)

    # Offloading.

    def begin_counts(self) -> None:
        """Counts the events of topics from now on: a decision service is there."""
        self._record = self.counts.event if self._recorded is None else partial(_both, self._recorded, self.counts.event)

    def end_counts(self) -> None:
        """Counts no more, and forgets the counts and what was said of an assignment in part: the service is gone."""
        self._record = self._recorded
        self.counts.clear()
        self.assigned.cut()

    def assign(self, frame: Assignment) -> Switch | None:
        """Delivers by an assignment, when its last frame has come. Returns what it switches, None if it does not hold (yet).

        Raises `Refused` as `Assigned.offer` does.
        """
        switch = self.assigned.offer(frame)
        if switch is not None:
            self.gate.switch(switch)
            self._passes = self.gate.passes if self.assigned.out else None
        return switch


def _both(one: Record, other: Record, event: Event) -> None:
    one(event)
    other(event)

"""What a broker decides: who gets an event, under which number, and which interest other sites must hear of.

Rules. (1) An event of this site is numbered by the owner of its topic and goes to each interested link once: local
aggregators and the counterparts of other sites. (2) An event from another site goes to local aggregators only, so it
crosses one site link at most. (3) Other sites hear of a topic while a local aggregator wants it, and not because a
third site does. (4) An id that was seen lately on the same topic is not published again.

Topics of some kinds are recorded in a window (`window`). A topic is recorded while somebody follows it, and for some time after. For so
long its row is kept, and so is its interest at other sites, if it was followed here: whoever comes back misses nothing (DPS-4).

Numbers rise by one per topic. The count of a topic that nobody wants any more is kept for a while, and goes on with
each event, so that an interest that only flickered finds the true number of what it missed. When it is forgotten, a new
one starts above every number this process ever gave: within an epoch the numbers of a topic never repeat (SB-21).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from infra.kernel.assignment import Assigned, Switch
from infra.kernel.events import OPENING, Event, first_body, numbering, opening_of, origin, origin_if_sound, topic_in
from infra.kernel.fanout import Fanout, Receiver
from infra.kernel.frames import Assignment
from infra.kernel.interest import LINKS
from infra.kernel.recent import RecentIds
from infra.kernel.summed_gains import SummedGains
from infra.kernel.topics import Topic, kind_of

from .gate import Gate
from .laggards import Laggards
from .lingering import Lingering
from .topic_counts import TopicCounts
from .window import EventWindow

RETAINED_COUNTS: Final = 1 << 16
# The bits of a row's mask that are no links: it is recorded, and it is or was lately followed at this site. With the first set a row is
# not dead, with the second it is wanted here. A row of a kind that has no window has neither, so it pays one comparison an event.
RECORDED: Final = 1 << 63
HERE: Final = 1 << 62

# What is known of topics that have come, and had no event since, at most; the oldest is forgotten. Such an entry takes 250 bytes.
MAX_INHERITED: Final = 1 << 20

Rows = list[tuple[int, Topic]]
Marks = Callable[[int | None], dict[int, int]]
Last = tuple[int, int]
"""Epoch and number of the last event of a topic."""
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
    - `owns(topic)`: tells whether a topic is this broker's. One that has gone to another broker is recorded there.
    - `keeps(topic)`: tells whether one that nobody follows any more is recorded for a while, also one that is going to another broker.
    - `astray(body)`: takes events of other sites which nobody wants here any more. The owner of their topic by now may want them.

    A subscribing link is a number, the *bit*: bit `b` of a row's mask says that link `b` wants the row's topic.
    """

    def __init__(
        self,
        site: str,
        epoch: int,
        owner_at: Callable[[str, Topic], str | None] = lambda site, topic: None,
        record: Record | None = None,
        window: EventWindow | None = None,
        owns: Callable[[Topic], bool] = lambda topic: True,
        keeps: Callable[[Topic], bool] = lambda topic: True,
        astray: Callable[[bytes], None] = lambda body: None,
    ) -> None:
        self.fanout = Fanout()
        self.interest = self.fanout.interest
        self.assigned = Assigned()
        self.gate = Gate(self.assigned.out)
        self.counts = TopicCounts()
        self.matched = self.unmatched = self.duplicates = self.offloaded = 0
        self.site_copies = self.site_events = self.stale = 0
        self._site, self._opening = site.encode(), opening_of(site)
        self.epoch, self._numbering = epoch, numbering(site, epoch)
        # Masks of all aggregators of this site, and of all brokers of others.
        self._local = 0
        self._far = 0
        # site -> slot -> mask with the one bit of that broker's link.
        self._sites: dict[str, dict[str, int]] = {}
        self.gains = SummedGains(self.interest, lambda: self._local)
        self._owner_at = owner_at
        # None, both, while nobody wants to know and nothing is out: then `publish` pays one check for each, and no call.
        self._recorded = self._record = record
        self._passes: Callable[[Topic], bool] | None = None
        self._seqs: dict[int, int] = {}
        self._retained: dict[Topic, int] = {}
        # Topics that have come from another broker, and had no event here yet -> epoch and number of their last one.
        self._inherited: dict[Topic, Last] = {}
        self._stamped = 0
        self._recent = RecentIds()
        self.window = window
        self.laggards = Laggards(self.fanout, window) if window is not None else None
        self.owns = owns
        self._keeps, self._astray = keeps, astray
        self.lingering = Lingering()
        # Returns how far copies have gone that links have got up to a stamp (None: up to now); None where there are no copies.
        self.marks: Marks | None = None

    def open(self, receiver: Receiver, far: bool, peer: tuple[str, str] = ("", "")) -> int:
        """Returns the number of a new subscribing link.

        - `receiver`: what takes the events for it.
        - `far`: whether it is that of a broker of another site, and not of an aggregator of this one.
        - `peer`: the site and the name of the node at the other end.
        """
        bit = self.fanout.open(receiver)
        if far:
            self._far |= 1 << bit
            self._sites.setdefault(peer[0], {})[peer[1]] = 1 << bit
        else:
            self._local |= 1 << bit
        return bit

    def close(self, bit: int) -> tuple[Rows, Rows]:
        """Forgets a link that is gone. Returns what `unsubscribe` of all its topics returns."""
        self.gains.close(bit)
        gone = self.interest.close(bit)
        local = bool(self._local & 1 << bit)
        # The next link may get the same number: every mask that holds the bit must lose it now.
        self._local &= ~(1 << bit)
        self._far &= ~(1 << bit)
        for links in self._sites.values():
            # By value: a broker that came back has a newer link under its name, which stays.
            for slot in [slot for slot, flag in links.items() if flag == 1 << bit]:
                del links[slot]
        self.fanout.forget(bit)
        if self.laggards is not None:
            self.laggards.end(bit)
        return self._withdrawn(gone, local, self._local)

    def subscribe(self, bit: int, topics: Sequence[Topic], handles: Sequence[int]) -> Rows:
        """Adds interest of link `bit` in `topics`; it gets their events under `handles`.

        Returns the (row, topic) that this site did not want before: other sites must hear of them.
        """
        news = self.interest.subscribe(bit, topics, handles)
        is_local = bool(self._local & 1 << bit)
        if self.window is not None:
            masks, bounds, flags = self.interest.masks, self.window.bounds, RECORDED | HERE if is_local else RECORDED
            for row, topic, _ in news:
                if kind_of(topic) in bounds:
                    masks[row] |= flags
            if self.laggards:
                self.laggards.wanted(bit, (row for row, _, _ in news))
        if not is_local:
            return []  # rule 3: what another site wants is not told to a third one
        return [(row, topic) for row, topic, before in news if not before & (self._local | HERE)]

    def unsubscribe(self, bit: int, topics: Iterable[Topic]) -> tuple[Rows, Rows]:
        """Takes interest of link `bit` away. Returns (rows this site no longer wants, rows that nobody wants)."""
        return self._withdrawn(self.interest.unsubscribe(bit, topics), bool(self._local & 1 << bit), self._local)

    def _withdrawn(self, gone: list[tuple[int, Topic, int]], was_local: bool, local: int) -> tuple[Rows, Rows]:
        # `after` is the mask of those that still want the row. A far link that leaves never silences this site.
        silent = [(row, topic) for row, topic, after in gone if was_local and not after & (local | HERE)]
        dead = [(row, topic) for row, topic, after in gone if not after]
        if self.window is not None:
            left = [(row, topic) for row, topic, after in gone if after & RECORDED and not after & (local if was_local else LINKS)]
            kept = {row: self._keeps(topic) for row, topic in left}
            self.lingering.add((pair for pair in left if kept[pair[0]]), self.window.stamp)
            self._end_here((pair for pair in left if not kept[pair[0]]), silent, dead)
        return silent, dead

    def adopt(self, topics: Iterable[tuple[Topic, bool]]) -> Rows:
        """Goes on recording topics that another broker has recorded; for each, whether it was followed at this site.

        Returns what `subscribe` returns.
        """
        news: Rows = []
        if self.window is not None:
            masks = self.interest.masks
            for topic, followed in topics:
                row = self.interest.row_of(topic)
                before = masks[row]
                masks[row] = before | (RECORDED | HERE if followed else RECORDED)
                if followed and not before & (self._local | HERE):
                    news.append((row, topic))
                if not before & (self._local if followed else LINKS):
                    self.lingering.add([(row, topic)], self.window.stamp)
        return news

    def recorded(self) -> Sequence[tuple[int, Topic]]:
        """Returns the (row, topic) pairs of which there are events in the window, or that linger."""
        if (window := self.window) is None:
            return []
        there, masks = window.rows, self.interest.masks
        left = [pair for pair in self.lingering.pairs() if pair[0] not in there and not masks[pair[0]] & self._local]
        # Most topics have no events, so each of them is asked about once, and no more.
        return [(row, topic) for topic, row in self.interest.rows.items() if row in there] + left

    def is_followed(self, row: int) -> bool:
        """Returns whether the topic that has `row` is, or was lately, followed at this site. Only of what is recorded that is known."""
        return bool(self.interest.masks[row] & HERE)

    def opening(self, bit: int) -> bytes:
        """Returns how the bodies begin that link `bit` gets: another site gets events of this one, and no others (rule 2).

        Here everybody gets all events. The places of those that were not kept are none.
        """
        return self._opening if self._far & 1 << bit else OPENING

    def stamps(self, bit: int) -> dict[int, int]:
        """Returns up to where link `bit` has been given everything that is recorded and that it wants: epoch -> stamp."""
        assert self.window is not None
        assert self.laggards is not None
        stamp = self.laggards.stamp(bit)
        if self.marks is None:
            return {self.window.epoch: stamp}
        return {self.window.epoch: stamp} | self.marks(stamp if bit in self.laggards else None)

    def tick(self, now_s: float) -> tuple[Rows, Rows]:
        """Ends the recording of what nobody has followed for long at `now_s`. Returns what `unsubscribe` returns."""
        silent: Rows = []
        dead: Rows = []
        if self.window is not None:
            self.window.tick(now_s)
            self._end_here(self.lingering.due(self.window.too_old), silent, dead)
        return silent, dead

    def hand_over(self, left: Rows) -> tuple[Rows, Rows]:
        """Ends the recording of what was `left`, as far as another broker records it by now. Returns what `unsubscribe` returns."""
        silent: Rows = []
        dead: Rows = []
        self._end_here(self.lingering.take([pair for pair in left if not self.owns(pair[1])]), silent, dead)
        return silent, dead

    def _end_here(self, rows: Iterable[tuple[int, Topic]], silent: Rows, dead: Rows) -> None:
        """Ends the recording of `rows`, as far as nobody follows them again. Adds those that nobody wants now to `silent` and `dead`."""
        masks = self.interest.masks
        for row, topic in rows:
            mask = masks[row]
            if mask & HERE and not mask & self._local:
                mask ^= HERE
                silent.append((row, topic))
            if not mask & LINKS:
                mask = 0
                if self.window is not None:
                    self.window.forget(row)
                dead.append((row, topic))
            masks[row] = mask

    def release(self, row: int, topic: Topic) -> None:
        """Lets the number of a dead row be used again, unless somebody wants it again."""
        if self.interest.release(row, topic) and (seq := self._seqs.pop(row, None)) is not None:
            # The count moves from the row, which may soon be another topic's, to the topic.
            self._retained[topic] = seq
            if len(self._retained) > RETAINED_COUNTS:
                del self._retained[next(iter(self._retained))]  # the oldest: dicts keep the order of insertion

    def wanted_here(self) -> Iterable[tuple[int, Topic]]:
        """Returns all (row, topic) that local aggregators want, or wanted lately: what every other site must know."""
        return self.interest.wanted(self._local | HERE)

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
            self.unmatched += 1
            self._miss(row, event.topic)
            return
        # Before the gate: an event that is not delivered has used its number up, so a gap shows (SB-64).
        passes = self._passes is None or self._passes(event.topic)
        if body := self._body(row, event, passes=passes):
            self._give(row, mask, event.topic, body, passes=passes)
        else:
            self.offloaded += 1

    def _body(self, row: int, event: Event, *, passes: bool) -> bytes:
        """Returns what everybody gets of an event, with its number; nothing where it is only counted, since nobody gets it."""
        if self._inherited and (last := self._inherited.get(event.topic)) is not None:
            if not passes:
                self._pass_over(event.topic, last)
                return b""
            del self._inherited[event.topic]
            return first_body(self._numbering, self._next(row, event.topic), last, event.tail)
        return b"%b%d,%b" % (self._numbering, self._next(row, event.topic), event.tail)

    def _give(self, row: int, mask: int, topic: Topic, body: bytes, *, passes: bool) -> None:
        """Records an event, and gives it to all links that want it."""
        recorded = mask & RECORDED
        if recorded and self.window is not None:
            self.window.record(row, body, self._site, kind_of(topic), out=not passes)
            mask &= LINKS
            if not mask:
                self.unmatched += 1
                return
        self.matched += 1
        if not passes:
            self.offloaded += 1
            return
        if far := mask & self._far:
            # `x & x - 1` clears the lowest bit: it is 0 when x has one bit, and then there is nothing to choose.
            once = self._once_per_site(far, topic) if far & far - 1 else far
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
        topic, before, body, passes = event.topic, self.last(event.topic), b"", True
        row = self.interest.rows.get(topic)
        if row is None or not self.interest.masks[row]:
            self._miss(row, topic)
        else:
            passes = self._passes is None or self._passes(topic)
            body = self._body(row, event, passes=passes)
        return NumberedEvent(event, body, not passes, self.last(topic), before)

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
            self.give_up(topic)
            if last is not None:
                self.inherit(topic, last)

    def _once_per_site(self, far: int, topic: Topic) -> int:
        """Returns `far` with one bit for each site.

        While a topic moves at another site, two of its brokers want it. The copy goes to the owner if it is one of them.
        """
        for site, links in self._sites.items():
            found = far & sum(links.values())
            if found & found - 1:
                to_owner = found & links.get(self._owner_at(site, topic) or "", 0)
                far ^= found ^ (to_owner or found & -found)  # `x & -x` is the lowest bit of x: one of them, always the same
        return far

    def _next(self, row: int, topic: Topic) -> int:
        """Returns the next number of `topic`, which has `row`."""
        self._stamped += 1
        seq = self._seqs.get(row)
        if seq is None:
            # `_stamped` counts all numbers that were ever given here, so none is higher, nor was one of this topic.
            seq = self._retained.pop(topic, self._stamped - 1)
        self._seqs[row] = seq = seq + 1
        return seq

    def _miss(self, row: int | None, topic: Topic) -> None:
        """Uses up the number of an event that nobody wants, if somebody did a moment ago."""
        if (last := self._inherited.get(topic)) is not None:
            self._pass_over(topic, last)
        elif row is not None and row in self._seqs:
            self._next(row, topic)
        elif topic in self._retained:
            self._stamped += 1
            self._retained[topic] += 1

    def _pass_over(self, topic: Topic, last: Last) -> None:
        """Counts an event on under the former epoch, since nobody gets it: so the next one says that one is missing."""
        self._inherited[topic] = last[0], last[1] + 1

    # What goes with a topic that moves.

    def counted(self) -> Iterable[Topic]:
        """Returns the topics that have a number; those twice that have one for two reasons."""
        seqs = self._seqs  # most topics have no events while they are followed, and so no number
        return [*(topic for topic, row in self.interest.rows.items() if row in seqs), *self._retained, *self._inherited]

    def last(self, topic: Topic) -> Last | None:
        """Returns epoch and number of the last event of `topic`; None where none is known."""
        if (last := self._inherited.get(topic)) is not None:
            return last
        row = self.interest.rows.get(topic)
        seq = self._seqs.get(row) if row is not None else None
        if seq is None:
            seq = self._retained.get(topic)
        return None if seq is None else (self.epoch, seq)

    def give_up(self, topic: Topic) -> None:
        """Forgets the numbers of a topic that another broker counts from now on. If it comes back, others were given meanwhile."""
        self._inherited.pop(topic, None)
        self._retained.pop(topic, None)
        if (row := self.interest.rows.get(topic)) is not None:
            self._seqs.pop(row, None)

    def inherit(self, topic: Topic, last: Last) -> None:
        """Goes on with a topic that has come from the broker that gave its `last` number, or has heard of it."""
        self.give_up(topic)
        if last[0] == self.epoch:  # it was here before, and got no number elsewhere
            self._stamped = max(self._stamped, last[1])
            self._retained[topic] = last[1]
            return
        self._inherited[topic] = last
        if len(self._inherited) > MAX_INHERITED:
            del self._inherited[next(iter(self._inherited))]

    def begin_epoch(self, epoch: int, is_broken: Callable[[Topic], bool]) -> None:
        """Begins another, higher `epoch`.

        Topics that `is_broken` is true of go on from nothing, so nobody takes their numbers for whole. Others go on from their last one.
        """
        lasts = {topic: self.last(topic) for topic in self.counted() if not is_broken(topic)}
        self._seqs.clear()
        self._retained.clear()
        self._inherited.clear()
        self.epoch, self._numbering = epoch, numbering(self._site.decode(), epoch)
        for topic, last in lasts.items():
            if last is not None:
                self.inherit(topic, last)

    def known_ids(self) -> Iterable[tuple[Topic, bytes]]:
        """Returns topic and id of the events that came lately."""
        return ((Topic(topic), event_id) for topic, _, event_id in (key.rpartition(b" ") for key in self._recent))

    def know(self, topic: Topic, event_id: bytes) -> None:
        """Takes an event of `topic` for one that came already (DPS-14)."""
        self._recent.seen(b"%b %b" % (topic, event_id))

    def relay(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Delivers events from another site, under the handles (rows) announced to it, to local aggregators only (SB-25)."""
        masks, local, window = self.interest.masks, self._local, self.window
        live = HERE | (self.laggards.live if self.laggards is not None else 0)
        rows = len(masks)
        self.site_events += len(handles)
        for row, body in zip(handles, bodies, strict=True):
            # A row is not given to another topic while a delivery may come under it (`Limbo`), so its mask is this topic's.
            mask = masks[row] if row < rows else 0
            if mask & HERE and window is not None:
                if not self._record_of_others(window, row, body):
                    self.stale += 1
                    continue
                mask &= live
            if mask & local:
                self.fanout.send(row, mask & local, body)
            elif not mask & HERE:
                self.stale += 1
                self._astray(body)

    def _record_of_others(self, window: EventWindow, row: int, body: bytes) -> bool:
        """Records an event of another site. Returns False for a body that no broker has written: it would be read again, and is lost.

        Once a topic has events its kind is known. Before that the body tells it, which may lie: then the playlist of an honest
        publisher would be kept like presence.
        """
        site, kind = origin_if_sound(body), None
        if site is not None and row not in window:
            topic = topic_in(body)
            kind = kind_of(topic) if topic is not None and self.interest.rows.get(topic) == row else None
            site = site if kind is not None else None
        if site is not None:
            window.record(row, body, site, kind)
        return site is not None

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

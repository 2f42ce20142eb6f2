"""Window: the last events of one broker in one bounded sequence, so that who was cut off gets what followed. Pure.

The place of an event in the sequence is its *stamp*. Stamps rise by one within the epoch of the broker, over all topics, whichever site an
event is from. So one number says what somebody has got, however many topics they want.

The oldest goes first: by its age, and when all events together take more memory than they may. The stamp up to which anything may have
gone is the *horizon*. A topic has bounds of its own besides. What it lost to them is known for as long as it has events here (DPS-2).

A kind of topics keeps all events within its bounds, or only the latest of each topic and site where it was numbered. Then the newest event
says how many it replaced.

Time is the node's, in seconds. It comes with `tick`, so an event is kept for up to a tick longer than its kind says. A tick takes a stamp,
too: so a stamp tells when it was given, also while nothing is published.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from infra.kernel.events import OPENING, kind_in, origin, with_skipped
from infra.kernel.topics import Kind

from .window_bounds import WindowBounds

# What an event costs besides its body, and a topic that has events: entries of lists and maps, numbers, and the room that lists leave.
EVENT_BYTES: Final = 120
TOPIC_BYTES: Final = 300
# For fewer places of events that are gone it is not worth while to close up.
CLOSE_UP_FROM: Final = 1024


class Missed(NamedTuple):
    """The events of a topic after a stamp: their bodies in order, or the reason why they cannot be had (empty where they can)."""

    bodies: list[bytes]
    reason: str = ""


class EventWindow:
    """The last events of a broker that counts in `epoch`. Topics go by their rows.

    - `stamp`: the newest one that was given, to an event or to a tick.
    - `bounds`: those of each kind that is recorded.
    - `evicted`: up to which stamp events went for want of memory.
    - `used_bytes`: what it takes, about; at most `max_bytes`.
    """

    def __init__(self, epoch: int, bounds: Mapping[Kind, WindowBounds], max_bytes: int) -> None:
        self.epoch, self.max_bytes, self.bounds = epoch, max_bytes, dict(bounds)
        self.stamp = self.evicted = self.used_bytes = 0
        self._ages = {each.seconds: _Age(each.seconds) for each in bounds.values()}
        self._topics: dict[int, _RecordedTopic] = {}
        # Three lists in step, stamps rising. Where an event is gone the body is None, until the places are closed up.
        self._stamps = array("Q")
        self._rows = array("I")
        self._bodies: list[bytes | None] = []
        self._front = self._gone = 0

    def __len__(self) -> int:
        """Returns how many events there are."""
        return len(self._bodies) - self._gone

    @property
    def topics(self) -> int:
        """How many topics have events here."""
        return len(self._topics)

    def record(self, row: int, body: bytes, *, out: bool = False) -> None:
        """Adds the next event of the topic that has `row`. Its body is not copied.

        `out`: the event was not delivered. Then only its place is kept, and so it is for one that alone is over the bounds of its topic:
        nobody is told that nothing is missing. A body that names no topic of a kind with bounds comes from a peer that lies, and is
        passed over.
        """
        topic = self._topics.get(row)
        if topic is None:
            kind = kind_in(body)
            if kind is None or kind not in self.bounds:
                return
            topic = self._topics[row] = _RecordedTopic(self.bounds[kind])
            self.used_bytes += TOPIC_BYTES
        self.stamp = stamp = self.stamp + 1
        bounds = topic.bounds
        if bounds.keep == "latest" and topic.stamps:
            self._replace(topic, origin(body))
        if out or len(body) > bounds.bytes:  # its place is kept, so that the loss is known until it is too old to matter
            body, topic.lost = origin(body), stamp
        size = len(body)
        self._stamps.append(stamp)
        self._rows.append(row)
        self._bodies.append(body)
        topic.stamps.append(stamp)
        topic.bytes += size
        self.used_bytes += size + EVENT_BYTES
        while len(topic.stamps) > bounds.events or topic.bytes > bounds.bytes:
            topic.lost = max(topic.lost, topic.stamps[0])
            self._drop(bisect_left(self._stamps, topic.stamps[0], self._front))
        while self.used_bytes > self.max_bytes:
            self._evict()

    def tick(self, now_s: float) -> None:
        """Drops what is too old at `now_s`."""
        self.stamp += 1
        for age in self._ages.values():
            if (limit := age.limit(now_s, self.stamp)) > age.horizon:
                self._expire(age, limit)

    def forget(self, row: int) -> None:
        """Drops the events of the topic that has `row`: it is recorded no more, and the number may become another topic's."""
        topic = self._topics.get(row)
        for stamp in list(topic.stamps) if topic is not None else ():
            self._drop(bisect_left(self._stamps, stamp))

    # Reading.

    def too_old(self, kind: Kind) -> int:
        """Returns the stamp up to which events on topics of `kind`, which has bounds, have gone because they were too old."""
        return self._ages[self.bounds[kind].seconds].horizon

    @property
    def whole_from(self) -> int:
        """The horizon of all kinds that are recorded."""
        return max([self.evicted, *(age.horizon for age in self._ages.values())])

    def topic_after(self, row: int | None, kind: Kind, stamp: int) -> Missed:
        """Returns what came after `stamp` on a topic of `kind`, which has been recorded since then.

        `row`: the topic's, None where nobody has followed it lately.
        """
        bounds = self.bounds.get(kind)
        if bounds is None:
            return Missed([], "no-window")
        if stamp > self.stamp:  # nobody was given it in this epoch
            return Missed([], "owner-lost")
        if stamp < self.evicted:
            return Missed([], "evicted")
        if stamp < self.too_old(kind):
            return Missed([], "expired")
        topic = self._topics.get(row) if row is not None else None
        if topic is None:
            return Missed([])
        if topic.lost > stamp:
            return Missed([], "too-much")
        return Missed([topic.told(self._body(each), stamp) for each in topic.stamps if each > stamp])

    def after(self, stamp: int, opening: bytes = OPENING) -> Iterator[tuple[int, int, bytes]]:
        """Yields (stamp, row, body) of all events after `stamp` whose bodies begin with `opening`, in order.

        Nothing may be recorded meanwhile.
        """
        stamps, rows, bodies, topics = self._stamps, self._rows, self._bodies, self._topics
        for at in range(bisect_right(stamps, stamp), len(stamps)):
            body = bodies[at]
            if body is not None and body.startswith(opening):
                yield stamps[at], rows[at], topics[rows[at]].told(body, stamp)

    def _body(self, stamp: int) -> bytes:
        body = self._bodies[bisect_left(self._stamps, stamp)]
        assert body is not None
        return body

    # What goes.

    def _replace(self, topic: "_RecordedTopic", site: bytes) -> None:
        """Drops the event of `topic` that was numbered at `site`: a newer one is there."""
        for stamp in topic.stamps:
            at = bisect_left(self._stamps, stamp, self._front)
            body = self._bodies[at]
            assert body is not None
            if body == site or (body.startswith(OPENING) and origin(body) == site):
                topic.replaced, topic.replacements = stamp, topic.replacements + 1
                if topic.lost == stamp:
                    topic.lost = 0
                self._drop(at, stays=True)
                return

    def _evict(self) -> None:
        while self._bodies[self._front] is None:
            self._front += 1
        self.evicted = self._stamps[self._front]
        self._drop(self._front)

    def _expire(self, age: "_Age", limit: int) -> None:
        """Drops everything of this age up to the stamp `limit`."""
        stamps, bodies, topics = self._stamps, self._bodies, self._topics
        # From a list: to drop may close up the places.
        places = range(bisect_right(stamps, age.horizon), bisect_right(stamps, limit))
        old = [stamps[at] for at in places if bodies[at] is not None and topics[self._rows[at]].bounds.seconds == age.seconds]
        for stamp in old:
            self._drop(bisect_left(self._stamps, stamp))
        age.horizon = limit

    def _drop(self, at: int, *, stays: bool = False) -> None:
        """Takes the event at a place out. Its topic goes with its last event, unless it `stays` for another one."""
        row = self._rows[at]
        topic, body = self._topics[row], self._bodies[at]
        assert body is not None
        topic.stamps.remove(self._stamps[at])
        topic.bytes -= len(body)
        self.used_bytes -= len(body) + EVENT_BYTES
        if not topic.stamps and not stays:
            del self._topics[row]
            self.used_bytes -= TOPIC_BYTES
        self._bodies[at] = None
        self._gone += 1
        if self._gone > CLOSE_UP_FROM and 2 * self._gone > len(self._bodies):
            self._close_up()

    def _close_up(self) -> None:
        kept = [at for at, body in enumerate(self._bodies) if body is not None]
        self._stamps = array("Q", [self._stamps[at] for at in kept])
        self._rows = array("I", [self._rows[at] for at in kept])
        self._bodies = [self._bodies[at] for at in kept]
        self._front = self._gone = 0


class _RecordedTopic:
    """A topic that has events in the window.

    - `stamps`: theirs, rising. `bytes`: the length of their bodies.
    - `lost`: the stamp of the last event that is missing here, although it is not too old.
    - `replaced`, `replacements`: the stamp of the last event that a newer one replaced, and how many such there were.
    """

    __slots__ = ("bounds", "bytes", "lost", "replaced", "replacements", "stamps")

    def __init__(self, bounds: WindowBounds) -> None:
        self.bounds = bounds
        self.stamps: list[int] = []
        self.bytes = self.lost = self.replaced = self.replacements = 0

    def told(self, body: bytes, stamp: int) -> bytes:
        """Returns a body for somebody who has got everything up to `stamp`."""
        return with_skipped(body, self.replacements) if self.replaced > stamp else body


class _Age:
    """The events of the kinds that are kept for so many `seconds`. `horizon`: up to which stamp they were dropped as too old.

    An event has no time: what was there at a tick is as old as that tick, or older.
    """

    __slots__ = ("_ticks", "horizon", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.horizon = 0
        self._ticks: deque[tuple[float, int]] = deque()

    def limit(self, now_s: float, stamp: int) -> int:
        """Returns the stamp up to which events are too old at `now_s`; `stamp` is that of this tick."""
        self._ticks.append((now_s, stamp))
        limit = self.horizon
        while self._ticks and self._ticks[0][0] <= now_s - self.seconds:
            limit = self._ticks.popleft()[1]
        return limit

"""Window: the last events of one broker in one bounded sequence, so that who was cut off gets what followed. Pure.

The place of an event in the sequence is its *stamp*. Stamps rise by one within the epoch of the broker, over all topics, whichever site an
event is from. So one number says what somebody has got, however many topics they want.

The oldest goes first: by its age, and when all events together take more memory than they may. The stamp up to which anything may have
gone is the *horizon*. A topic has bounds of its own besides. What it lost to them is known for as long as it has events here (DPS-2).

A kind of topics keeps all events within its bounds, or only the latest of each topic and site where it was numbered. Then the newest event
says how many it replaced.

Topics that move to this broker bring along what the window of their former owner has of them. It stands before all that is recorded here on
these topics, under stamps of its own. It also keeps the place that it had there (`origins`): stamps of the former owner are understood by
that, and no link that is behind gets it a second time.

Time is the node's, in seconds. It comes with `tick`, so an event is kept for up to a tick longer than its kind says. A tick takes a stamp,
too, and so does a broker that has taken over topics: so a stamp tells when it was given, also while nothing is published.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from infra.kernel.events import OPENING, origin, topic_in, with_skipped
from infra.kernel.topics import Kind, Topic, kind_of

from .window_age import WindowAge
from .window_bounds import WindowBounds
from .window_origins import InheritedTopic, Origins, SeenStamps, WindowPlace
from .window_topic import WindowTopic

# What an event costs besides its body, a topic that has events, and the place of an event that is gone while older ones are there: entries
# of lists and maps, numbers, and the room that lists leave.
EVENT_BYTES: Final = 120
TOPIC_BYTES: Final = 300
PLACE_BYTES: Final = 12
# What it costs besides, to know where an event was recorded that came from another window.
ORIGIN_BYTES: Final = 250
# Fewer places in front of the oldest event are not worth while to cut off.
CUT_FROM: Final = 1024


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
    - `origins`: where the events were recorded that have come from other windows.
    """

    def __init__(self, epoch: int, bounds: Mapping[Kind, WindowBounds], max_bytes: int) -> None:
        self.epoch, self.max_bytes, self.bounds = epoch, max_bytes, dict(bounds)
        self.stamp = self.evicted = self.used_bytes = 0
        # Up to this stamp, something may be missing of what other sites have published on any topic.
        self._unheard = 0
        self.origins = Origins()
        self._moved = self.origins.places  # mostly empty: then nothing is looked up for each event
        self._ages = {each.seconds: WindowAge(each.seconds) for each in bounds.values()}
        self._topics: dict[int, WindowTopic] = {}
        # In step: the stamp of the first place is `_first`. Where an event is gone, or a tick has the stamp, the body is None. Places
        # before `_front` are to be cut off.
        self._rows = array("I")
        self._bodies: list[bytes | None] = []
        self._first, self._front, self._live = 1, 0, 0

    def __len__(self) -> int:
        """Returns how many events there are."""
        return self._live

    def __contains__(self, row: int) -> bool:
        """Returns whether the topic that has `row` has events here."""
        return row in self._topics

    @property
    def topics(self) -> int:
        """How many topics have events here."""
        return len(self._topics)

    def record(self, row: int, body: bytes, site: bytes, name: Topic | None = None, *, out: bool = False) -> None:
        """Adds the next event of the topic that has `row`. Its body is not copied.

        - `site`: where the event was numbered.
        - `name`: the topic, None where only the body tells it.
        - `out`: the event was not delivered. Then only its place is kept, and so it is for one that alone is over the bounds of its topic:
          nobody is told that nothing is missing.

        A body that names no topic of a kind with bounds comes from a peer that lies, and is passed over.
        """
        topic = self._topics.get(row) or self._begin(row, topic_in(body) if name is None else name)
        if topic is None:
            return
        if out or len(body) > topic.bounds.bytes:
            self._add_place(topic, row, site, out=out)
        elif topic.only and topic.site == site and not self._moved:
            self._renew(topic, row, body)
        else:
            self._add(topic, row, body, site)

    def _add_place(self, topic: WindowTopic, row: int, site: bytes, *, out: bool) -> None:
        """Adds the place of an event that is not kept, so that the loss is known until it is too old to matter."""
        self._add(topic, row, site, site)
        topic.lost, topic.lost_at = self.stamp, self.origins.get(self.stamp)
        if out:
            topic.out = self.stamp

    def _renew(self, topic: WindowTopic, row: int, body: bytes) -> None:
        """Does what `_add` does where the one event of `topic` is replaced. So it is with most events, and it takes few steps."""
        bodies, size, old = self._bodies, len(body), topic.only
        bodies[old - self._first] = None
        self._rows.append(row)
        bodies.append(body)
        self.stamp = topic.only = self.stamp + 1
        self.used_bytes += PLACE_BYTES + size - topic.bytes
        topic.replaced, topic.replaced_at, topic.bytes = old, None, size
        topic.replacements += 1
        if topic.lost == old:
            topic.lost, topic.lost_at = 0, None
        if self.used_bytes > self.max_bytes:
            self._evict()

    def _add(self, topic: WindowTopic, row: int, body: bytes, site: bytes) -> None:
        self.stamp = stamp = self.stamp + 1
        size = len(body)
        self._rows.append(row)
        self._bodies.append(body)
        if topic.is_latest:
            if topic.only or topic.several:
                self._replace(topic, site)
            topic.site = site
        topic.bytes += size
        self._live += 1
        self.used_bytes += size + EVENT_BYTES
        if topic.is_latest and not (topic.only or topic.several):
            topic.only = stamp
        else:
            stamps = topic.several or topic.stamps  # mostly there is a list already
            stamps.append(stamp)
            if topic.bytes > topic.bounds.bytes or len(stamps) > topic.bounds.events:
                self._trim(topic)
        if self.used_bytes > self.max_bytes:
            self._evict()

    def _begin(self, row: int, name: Topic | None) -> "WindowTopic | None":
        """Returns a new topic, for the first event of it that is here; None where its kind is not recorded."""
        bounds = self.bounds.get(kind_of(name)) if name is not None else None
        if name is None or bounds is None:
            return None
        topic = self._topics[row] = WindowTopic(name, bounds)
        self.used_bytes += TOPIC_BYTES
        return topic

    def inherit(self, row: int, name: Topic, past: InheritedTopic) -> None:
        """Adds what another window had of the topic `name`, which has `row`, behind what is here of it and not from there."""
        if kind_of(name) not in self.bounds:
            return
        begin, known = self.stamp, self._known_places(row, past.entries)
        unheard, before_lost, came = 0, past.before_lost, 0
        behind = max((at for at, (place, _) in enumerate(past.entries) if place in known), default=0) if known else 0
        for at, (place, body) in enumerate(past.entries):
            if place not in known:
                if at < behind and self._has_gone(place, kind_of(name)):
                    continue  # it would stand behind what came later
                is_event = body.startswith(OPENING)
                self.origins.add(self.stamp + 1, place)
                self.used_bytes += ORIGIN_BYTES
                if row not in self._topics:
                    self._begin(row, name)
                self.record(row, body, origin(body) if is_event else body, out=not is_event)
            stamp = known.get(place, self.stamp)
            if at < past.unheard:
                unheard = stamp
            if at >= before_lost:
                came = min(came or stamp, stamp)
        if (topic := self._topics.get(row)) is not None:
            # Both stood before what has come, and behind what was here. So they count, unless some of what has come went at once.
            # Not before what stood in front of it there, or is here and not from there: who has that may lack what was lost behind it.
            if past.lost is not None and topic.lost <= min(begin, lost := self._before(came or begin + 1, past.lost)):
                topic.lost, topic.lost_at = lost, past.lost
                topic.out = lost if past.is_out else 0
            if past.replaced is not None and topic.replaced <= begin:
                topic.replaced, topic.replaced_at = self._before(topic.stamps[0], past.replaced), past.replaced
            topic.replacements += past.replacements
            topic.unheard = max(topic.unheard, unheard)

    def _has_gone(self, place: WindowPlace, kind: Kind) -> bool:
        """Tells whether what was recorded at `place` has gone here: it was too old, or there was no room. Nobody is served who lacks it."""
        epoch, stamp = place
        if epoch == self.epoch:
            return stamp <= max(self.evicted, self.too_old(kind))
        return stamp <= max(self.origins.evicted(epoch), self.origins.too_old(epoch, self.bounds[kind].seconds))

    def _known_places(self, row: int, entries: Sequence[tuple[WindowPlace, bytes]]) -> dict[WindowPlace, int]:
        """Returns where the events were recorded that are here of the topic which has `row`, and their stamps here.

        Nothing needs to be returned where none of `entries` is here. A copy at an heir gets one event after the other. Those of one window
        come in order, so where this one stands behind the newest, it is not here.
        """
        topic = self._topics.get(row)
        stamps = topic.stamps if topic is not None else []
        if stamps and len(entries) == 1:
            (epoch, stamp), (its_epoch, its_stamp) = self._place(stamps[-1]), entries[0][0]
            if epoch == its_epoch and stamp < its_stamp:
                return {}
        return {self._place(stamp): stamp for stamp in stamps}

    def heard(self, row: int) -> None:
        """Notes that all that is published on the topic that has `row` comes from now on, at whichever site. So far it may not have."""
        if (topic := self._topics.get(row)) is not None:
            topic.unheard = self.stamp

    def heard_all(self) -> None:
        """Notes the same of all topics."""
        self._unheard = self.stamp

    def _before(self, stamp: int, place: WindowPlace) -> int:
        """Returns a stamp of this window for what stood at `place`, before what has `stamp` here."""
        return place[1] if place[0] == self.epoch else max(1, stamp - 1)

    def past(self, row: int) -> InheritedTopic | None:
        """Returns what is here of the topic that has `row`, for its next owner; None where nothing is."""
        topic = self._topics.get(row)
        if topic is None:
            return None
        return InheritedTopic(
            [(self._place(stamp), self._body(stamp)) for stamp in topic.stamps],
            self._at(topic.lost, topic.lost_at),
            bool(topic.lost) and topic.lost == topic.out,
            self._at(topic.replaced, topic.replaced_at),
            topic.replacements,
            sum(stamp <= max(topic.unheard, self._unheard) for stamp in topic.stamps),
        )

    def names(self) -> dict[int, Topic]:
        """Returns row -> topic of those that have events here."""
        return {row: topic.name for row, topic in self._topics.items()}

    @property
    def rows(self) -> Collection[int]:
        """The rows whose topics have events here."""
        return self._topics.keys()

    def _at(self, stamp: int, place: WindowPlace | None) -> WindowPlace | None:
        return place or ((self.epoch, stamp) if stamp else None)

    def _place(self, stamp: int) -> WindowPlace:
        return self.origins.get(stamp) or (self.epoch, stamp)

    def tick(self, now_s: float) -> None:
        """Drops what is too old at `now_s`."""
        self._pass_stamp()
        for age in self._ages.values():
            if (limit := age.limit(now_s, self.stamp)) > age.horizon:
                self._expire(age, limit)
        self._advance()
        if self.used_bytes > self.max_bytes:
            self._evict()

    def give_stamp(self) -> None:
        """Gives a stamp to no event: whoever has it was told so later than those who have the one before."""
        self._pass_stamp()
        if self.used_bytes > self.max_bytes:
            self._evict()

    def _pass_stamp(self) -> None:
        self.stamp += 1
        self._rows.append(0)
        self._bodies.append(None)
        self.used_bytes += PLACE_BYTES

    def forget(self, row: int) -> None:
        """Drops the events of the topic that has `row`: it is recorded no more, and the number may become another topic's."""
        topic = self._topics.get(row)
        for stamp in list(topic.stamps) if topic is not None else ():
            self._drop(stamp)
        self._advance()

    # Reading.

    def too_old(self, kind: Kind) -> int:
        """Returns the stamp up to which events on topics of `kind`, which has bounds, have gone because they were too old."""
        return self._ages[self.bounds[kind].seconds].horizon

    @property
    def oldest(self) -> int:
        """The stamp from which on there may still be events of some kind."""
        return max(self.evicted, min([age.horizon for age in self._ages.values()], default=0))

    @property
    def whole_from(self) -> int:
        """The horizon of all kinds that are recorded."""
        return max([self.evicted, *(age.horizon for age in self._ages.values())])

    def topic_after(self, row: int | None, kind: Kind, stamp: int, until: int | None = None) -> Missed:
        """Returns what came after `stamp` on a topic of `kind`, which has been recorded since then.

        - `row`: the topic's, None where nobody has followed it lately.
        - `until`: what came after it is left out; None: nothing is.
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
            return Missed([], "offloaded" if topic.lost == topic.out else "too-much")
        return Missed([topic.told(self._body(each), stamp) for each in topic.stamps if stamp < each <= (until or each)])

    def moved_after(self, row: int | None, seen: SeenStamps, until: int | None = None) -> Missed:
        """Returns what has come on a topic of which some events were recorded by former owners, and that somebody has not `seen`.

        - `row`, `until`: see `topic_after`. Former owners have given all that they had to whoever followed, so that is not concerned.

        Whether their windows reach back far enough is the caller's business.
        """
        topic = self._topics.get(row) if row is not None else None
        if topic is None:
            return Missed([])
        lost = self._at(topic.lost, topic.lost_at)
        if lost is not None and not seen.has(lost):
            return Missed([], "offloaded" if topic.lost == topic.out else "too-much")
        places = [(stamp, self._place(stamp)) for stamp in topic.stamps]
        if any(seen.lacks_older(place) for _, place in places):
            return Missed([], "owner-lost")
        replaced = self._at(topic.replaced, topic.replaced_at)
        skipped = topic.replacements if replaced is not None and not seen.has(replaced) else 0
        bodies = [self._body(stamp) for stamp, place in places if not seen.has(place) and self._is_before(stamp, until)]
        return Missed([with_skipped(body, skipped) if skipped else body for body in bodies])

    def has_inherited(self, row: int | None) -> bool:
        """Returns whether something of the topic that has `row` was recorded by former owners."""
        topic = self._topics.get(row) if row is not None and self.origins else None
        return topic is not None and any(stamp in self.origins for stamp in topic.stamps)

    def newest(self, row: int | None) -> int:
        """Returns the stamp of the last event here of the topic that has `row`; 0 where there is none."""
        topic = self._topics.get(row) if row is not None else None
        return topic.newest if topic is not None else 0

    def kept(self, row: int | None, until: int | None = None) -> list[bytes]:
        """Returns the events of the topic that has `row` which are here, in order.

        `until`: the stamp up to which, where one is given; see `moved_after`.
        """
        topic = self._topics.get(row) if row is not None else None
        if topic is None:
            return []
        return self._events(topic, until)

    def rest(self, row: int | None, has: Callable[[WindowPlace], bool], until: int | None = None) -> list[bytes]:
        """Returns what `kept` does, without what somebody `has`, by where it was recorded."""
        topic = self._topics.get(row) if row is not None else None
        if topic is None:
            return []
        return self._events(topic, until, {stamp for stamp in topic.stamps if not has(self._place(stamp))})

    def _events(self, topic: WindowTopic, until: int | None, wanted: Collection[int] | None = None) -> list[bytes]:
        stamps = [stamp for stamp in topic.stamps if self._is_before(stamp, until) and (wanted is None or stamp in wanted)]
        return [body for body in map(self._body, stamps) if body.startswith(OPENING)]

    def _is_before(self, stamp: int, until: int | None) -> bool:
        return until is None or stamp <= until or stamp in self.origins

    def is_whole_behind(self, row: int, has: Callable[[bytes], bool]) -> bool:
        """Returns whether nothing of any site is missing of the topic that has `row`, behind the last event here that somebody `has`.

        Where they have none of those that are here, nothing is known.
        """
        topic = self._topics.get(row)
        stamps = topic.stamps if topic is not None else []
        had = next((stamp for stamp in reversed(stamps) if (body := self._body(stamp)).startswith(OPENING) and has(body)), None)
        return topic is not None and had is not None and max(topic.lost, topic.unheard, self._unheard) < had

    def after(self, stamp: int, opening: bytes = OPENING, begun: int | None = None) -> Iterator[tuple[int, int, bytes]]:
        """Yields (stamp, row, body) of all events after `stamp` whose bodies begin with `opening`, in order.

        `begun`: the stamp after which the reader began, where it is at `stamp` only by now: what was replaced in between it has not got.
        What was recorded by a former owner is left out: that one has given it to all its links. Nothing may be recorded meanwhile.
        """
        first, bodies, moved, begun = self._first, self._bodies, self.origins, stamp if begun is None else begun
        for at in range(max(stamp + 1 - first, self._front), len(bodies)):
            body = bodies[at]
            if body is not None and body.startswith(opening) and first + at not in moved:
                row = self._rows[at]
                yield first + at, row, self._topics[row].told(body, begun)

    def broken_off(self, row: int, site: bytes) -> Iterator[bytes]:
        """Yields the events of the topic that has `row` behind which one is missing of where they were numbered, though not too old.

        Those of other sites than `site` are from before they sent everything here. Or one that followed is not kept.
        """
        topic = self._topics.get(row)
        if topic is None or max(topic.lost, topic.unheard, self._unheard) == 0:
            return
        unheard, broken = max(topic.unheard, self._unheard), set[bytes]()
        for stamp in reversed(topic.stamps):
            body = self._body(stamp)
            if not body.startswith(OPENING):
                broken.add(body)
            elif (its := origin(body)) in broken or (stamp <= unheard and its != site):
                yield body

    def _body(self, stamp: int) -> bytes:
        body = self._bodies[stamp - self._first]
        assert body is not None
        return body

    # What goes.

    def _replace(self, topic: WindowTopic, site: bytes) -> None:
        """Drops the event of `topic` that was numbered at `site`: a newer one is there."""
        stamps = topic.stamps
        if len(stamps) == 1:
            old = stamps[0] if topic.site == site else None
        else:
            old = next((stamp for stamp in stamps if _site_of(self._body(stamp)) == site), None)
        if old is not None:
            topic.replacements += 1
            if old > topic.replaced:  # of another site, something newer may have been replaced before
                topic.replaced, topic.replaced_at = old, self._moved.get(old)
            if topic.lost == old:
                topic.lost, topic.lost_at = 0, None
            self._take(topic, old)

    def _trim(self, topic: WindowTopic) -> None:
        """Drops the oldest events of `topic`, until it is within its bounds."""
        while len(topic.stamps) > topic.bounds.events or topic.bytes > topic.bounds.bytes:
            stamp = topic.stamps[0]
            if stamp >= topic.lost:
                topic.lost, topic.lost_at = stamp, self._moved.get(stamp)
            self._take(topic, stamp)  # one is left: the newest is within the bounds
        self._advance()

    def _evict(self) -> None:
        """Drops the oldest events of all, until there is room."""
        while self.used_bytes > self.max_bytes and self._live:
            self._advance()
            self.evicted = self._first + self._front
            self.origins.evict(self.evicted)
            self._drop(self.evicted)
        self._advance()

    def _expire(self, age: WindowAge, limit: int) -> None:
        """Drops everything of this age up to the stamp `limit`."""
        first, bodies, rows, topics = self._first, self._bodies, self._rows, self._topics
        for at in range(max(age.horizon + 1 - first, self._front), limit + 1 - first):
            if bodies[at] is not None and topics[rows[at]].bounds.seconds == age.seconds:
                self.origins.expire(first + at, age.seconds)
                self._drop(first + at)
        age.horizon = limit

    def _drop(self, stamp: int) -> None:
        """Takes an event out, and its topic with the last one."""
        row = self._rows[stamp - self._first]
        topic = self._topics[row]
        self._take(topic, stamp)
        if not (topic.only or topic.several):
            del self._topics[row]
            self.used_bytes -= TOPIC_BYTES

    def _take(self, topic: WindowTopic, stamp: int) -> None:
        at, bodies = stamp - self._first, self._bodies
        body = bodies[at]
        assert body is not None
        size = len(body)
        if topic.only:
            topic.only = 0
        else:
            topic.stamps.remove(stamp)
        topic.bytes -= size
        self.used_bytes += PLACE_BYTES - EVENT_BYTES - size
        bodies[at] = None
        self._live -= 1
        if self._moved and self.origins.forget(stamp):
            self.used_bytes -= ORIGIN_BYTES

    def _advance(self) -> None:
        """Gives up the places before the oldest event."""
        bodies, front = self._bodies, self._front
        while front < len(bodies) and bodies[front] is None:
            front += 1
        self.used_bytes -= PLACE_BYTES * (front - self._front)
        self._front = front
        if front > CUT_FROM and 4 * front > len(bodies):
            del bodies[:front], self._rows[:front]
            self._first += front
            self._front = 0


def _site_of(body: bytes) -> bytes:
    """Returns the site of an event, or of the place of one that is not kept."""
    return origin(body) if body.startswith(OPENING) else body

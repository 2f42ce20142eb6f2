"""A life of what a broker decides: numbers, who gets what, the window, links that are behind, and answers about the past."""

import random
from typing import Any, ClassVar, Final

from broker.core import BrokerCore
from broker.recaller import Recaller, RecallingLink
from broker.recorded_rows import Rows
from broker.tenure import Tenure
from broker.window import EVENT_BYTES, TOPIC_BYTES, EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import OPENING, Event, after_in, numbering, origin_epoch_seq
from infra.kernel.frames import Deliver, Recall, Recalled
from infra.kernel.topics import Kind, Topic, format_topic, kind_of, parse_topic

from ..oracle import Violated
from .core_life import ODD_NUMBERS, CoreLife, read

PLAYLISTS: Final = tuple(parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(3))
USERS: Final = tuple(parse_topic(f"hm://presence/user/u{n}/") for n in range(2))
UNKEPT: Final = (parse_topic("hm://notifications/feed/ann%new-album/"),)
TOPICS: Final = (*PLAYLISTS, *USERS, *UNKEPT)
BOUNDS: Final = {
    Kind.PLAYLIST: WindowBounds(events=12, bytes=2500, seconds=4.0),
    Kind.USER: WindowBounds(keep="latest", bytes=2500, seconds=6.0),
}
WINDOW_BYTES: Final = 9000
EPOCH: Final = 7
TICK_S: Final = 0.25
# What no broker writes, and a hostile one may: there is no number in it, or nothing at all.
GARBAGE: Final = (
    b"",
    b"{}",
    OPENING,
    OPENING + b'"topic":"hm://presence/user/u0/"}',
    b'{"op":"event","site":"lon","epoch":x,"seq":y,}',
    b"\xff",
)


class PublishedEvent:
    """An event that was published: which it is, where, in which order it came, and how long its text is about."""

    __slots__ = ("is_recorded", "number", "site", "size_bytes", "topic")

    def __init__(self, number: int, topic: Topic, site: str, size_bytes: int, *, is_recorded: bool) -> None:
        self.number, self.topic, self.site, self.size_bytes, self.is_recorded = number, topic, site, size_bytes, is_recorded


class FollowingLink:
    """A link that subscribes. It looks at each event that it is given.

    - `wants`: topic -> the handle that it has named last. `kept_since`: topic -> the number of the first event that must come, if nothing
      was too old.
    - `got`: the numbers of the events that have come. `lasts`: (topic, site) -> epoch and number of the last one.
    - `stamp`: up to where it has got everything, where it broke.
    """

    def __init__(self, life: "BrokerLife", site: str, node: str) -> None:
        self.life, self.site, self.node = life, site, node
        self.is_far = site != "sto"
        self.wants: dict[Topic, int] = {}
        self.again: list[Topic] = []
        self.kept_since: dict[Topic, int] = {}
        self.got: set[int] = set()
        self.lasts: dict[tuple[Topic, str], tuple[int, int]] = {}
        self.bit: int | None = None
        self.stamp = self.room = 0
        self.is_behind = False

    def deliver(self, handle: int, body: bytes) -> None:
        """Looks at an event. Raises Violated where it should not have come."""
        self.room -= 1
        start = body.rfind(b'"n":') + 4
        if start < 4 and self.life.has_liars:  # what somebody has made up
            return
        event = self.life.published[int(body[start:-1])]
        topic = event.topic
        if self.wants.get(topic) != handle:
            raise Violated(f"{self.node} gets event {event.number} of {format_topic(topic)} under {handle}, and wants {self.wants}")
        if event.number in self.got:
            raise Violated(f"{self.node} gets event {event.number} twice")
        if self.is_far and event.site != "sto":
            raise Violated(f"{self.node} gets an event of a third site")
        self.got.add(event.number)
        self._check_number(event, body)

    def _check_number(self, event: PublishedEvent, body: bytes) -> None:
        site, epoch, seq = origin_epoch_seq(body)
        life, key = self.life, (event.topic, site)
        if life.numbers.setdefault((*key, epoch, seq), event.number) != event.number:
            raise Violated(f"number {seq} of {format_topic(event.topic)} under {epoch} is that of two events")
        life.highest[(*key, epoch)] = max(seq, life.highest.get((*key, epoch), 0))
        if (after := after_in(body)) is not None and after[1] < life.highest.get((*key, after[0]), 0):
            raise Violated(f"an epoch goes on from {after}, and higher numbers were given")
        last = self.lasts.get(key)
        self.lasts[key] = epoch, seq
        if last is not None and (epoch, seq) <= last:
            raise Violated(f"{self.node} gets number {seq} under {epoch} after {last}")
        life.looked_at["events"] += 1


class Cursor:
    """Somebody who has got everything of a topic up to a stamp, at a time; or who knows it by numbers."""

    def __init__(self, topic: Topic, stamp: int, now_s: float, first: int, known: list[tuple[str, int, int]]) -> None:
        self.topic, self.stamp, self.now_s, self.first, self.known = topic, stamp, now_s, first, known


class BrokerLife(CoreLife):
    """One broker, which aggregators and brokers of other sites follow.

    - `published`: all events, in order. `numbers`: (topic, site, epoch, number) -> which event has it.
    - `highest`: (topic, site, epoch) -> the highest number that was given.
    """

    KINDS: ClassVar[dict[str, int]] = {
        "subscribe": 10,
        "unsubscribe": 4,
        "publish": 24,
        "publish_again": 2,
        "relay": 8,
        "fill": 3,
        "serve": 10,
        "break_link": 4,
        "come_back": 8,
        "tick": 10,
        "release": 3,
        "note": 5,
        "recall": 8,
        "begin_epoch": 1,
        "lie": 6,
    }

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.window = EventWindow(EPOCH, BOUNDS, WINDOW_BYTES)
        self.core = BrokerCore("sto", EPOCH, window=self.window)
        self.recaller = Recaller("sto", self.core, Tenure("b1", EPOCH), is_alone=False)
        self.published: list[PublishedEvent] = []
        self.numbers: dict[tuple[Topic, str, int, int], int] = {}
        self.highest: dict[tuple[Topic, str, int], int] = {}
        self.links = [FollowingLink(self, site, node) for site, node in (("sto", "a1"), ("sto", "a2"), ("lon", "b1"), ("lon", "b2"))]
        for link in self.links:
            self._open(link)
        self._told: set[Topic] = set()
        self._dead: Rows = []
        self._handle = self._other_seq = self._recorded_bytes = 0
        self._cursors: list[Cursor] = []
        # Topic -> the number of the first event from which on it is recorded without a break.
        self._whole_since: dict[Topic, int] = {}

    def _open(self, link: FollowingLink) -> None:
        link.bit = self.core.open(link, link.is_far, (link.site, link.node))
        link.room = 1 << 30

    def _link(self, pick: int) -> FollowingLink:
        return self.links[pick % len(self.links)]

    # Interest.

    def _subscribe(self, which: int, first: int, count: int, _: int) -> None:
        link = self._link(which)
        if link.bit is not None and not link.again:
            self._want(link, [TOPICS[(first + n) % len(TOPICS)] for n in range(1 + count % 3)])

    def _want(self, link: FollowingLink, topics: list[Topic]) -> None:
        assert link.bit is not None
        handles = list(range(self._handle + 1, self._handle + 1 + len(topics)))
        self._handle += len(topics)
        for topic in topics:
            link.kept_since.setdefault(topic, len(self.published))
            if kind_of(topic) in BOUNDS:
                self._whole_since.setdefault(topic, len(self.published))
        link.wants.update(zip(topics, handles, strict=True))
        self._told.update(topic for _, topic in self.core.subscribe(link.bit, topics, handles))

    def _unsubscribe(self, which: int, first: int, *_: int) -> None:
        link = self._link(which)
        if link.bit is not None and not link.again:
            topic = TOPICS[first % len(TOPICS)]
            link.wants.pop(topic, None)
            link.kept_since.pop(topic, None)
            self._withdrawn(*self.core.unsubscribe(link.bit, [topic]))

    def _withdrawn(self, silent: Rows, dead: Rows) -> None:
        for _, topic in silent:
            if topic not in self._told:
                raise Violated(f"other sites are told twice that nobody wants {format_topic(topic)}")
            self._told.remove(topic)
        for _, topic in dead:
            self._whole_since.pop(topic, None)
        self._dead += dead

    def _release(self, *_: int) -> None:
        for row, topic in self._dead:
            self.core.release(row, topic)
        self._dead.clear()

    # Events.

    def _publish(self, which: int, size: int, count: int, _: int) -> None:
        topic = TOPICS[which % len(TOPICS)]
        for _ in range(1 + count % 2):
            self._publish_one(topic, b"x" * (size % 400 if size % 16 else 2600))

    def _publish_one(self, topic: Topic, text: bytes) -> None:
        event = self._new(topic, "sto", text)
        before = {link: len(link.got) for link in self.links}
        live = {link for link in self.links if link.bit is not None and (not event.is_recorded or self._is_live(link))}
        self.core.publish(Event(topic, b"n%d" % event.number, self._tail(event, text)))
        expected = {link for link in self.links if topic in link.wants and link in live}
        for link in expected:
            if not link.is_far and len(link.got) != before[link] + 1:
                raise Violated(f"{link.node} is live, and did not get event {event.number}")
        far = [link for link in self.links if link.is_far and link.bit is not None and topic in link.wants]
        if far and all(link in live for link in far) and sum(len(link.got) - before[link] for link in far) != 1:
            raise Violated(f"a site gets {sum(len(link.got) - before[link] for link in far)} copies of event {event.number}")

    def _new(self, topic: Topic, site: str, text: bytes) -> PublishedEvent:
        is_recorded = topic in self._whole_since
        event = PublishedEvent(len(self.published), topic, site, len(text) + 200, is_recorded=is_recorded)
        self.published.append(event)
        self._recorded_bytes += (event.size_bytes + EVENT_BYTES + TOPIC_BYTES) * is_recorded
        return event

    def _tail(self, event: PublishedEvent, text: bytes) -> bytes:
        return b'"topic":"%b","id":"%b","n":%d}' % (format_topic(event.topic).encode(), text, event.number)

    def _is_live(self, link: FollowingLink) -> bool:
        assert self.core.laggards is not None
        return link.bit is not None and link.bit not in self.core.laggards

    def _publish_again(self, which: int, *_: int) -> None:
        """Publishes an event again under its id: nobody may get it."""
        mine = [event for event in self.published[-8:] if event.site == "sto"]
        if mine:
            event = mine[which % len(mine)]
            duplicates = self.core.duplicates
            self.core.publish(Event(event.topic, b"n%d" % event.number, self._tail(event, b"again")))
            if self.core.duplicates != duplicates + 1:
                raise Violated(f"event {event.number} was published again under its id, and taken")

    def _relay(self, which: int, size: int, *_: int) -> None:
        """Has an event come from another site, as far as that site knows that the topic is wanted here."""
        topic = TOPICS[which % len(TOPICS)]
        row = self.core.interest.rows.get(topic)
        if row is None or topic not in self._told:
            return
        text = b"y" * (size % 300)
        event = self._new(topic, "lon", text)
        self._other_seq += 1
        self.core.relay([row], [b"%b%d,%b" % (numbering("lon", 3), self._other_seq, self._tail(event, text))])
        for link in self.links:
            if not link.is_far and topic in link.wants and (not event.is_recorded or self._is_live(link)) and event.number not in link.got:
                raise Violated(f"{link.node} is live, and did not get event {event.number} of another site")

    # Links that are behind.

    def _fill(self, which: int, *_: int) -> None:
        link = self._link(which)
        if link.bit is not None and self._is_live(link) and self.core.laggards is not None:
            self.core.laggards.fill(link.bit, self.core.opening(link.bit))
            link.is_behind = True

    def _break_link(self, which: int, *_: int) -> None:
        link = self._link(which)
        if link.bit is None or link.again:
            return
        link.stamp = self.core.stamps(link.bit)[EPOCH]
        self._withdrawn(*self.core.close(link.bit))
        link.bit, link.again, link.is_behind = None, list(link.wants), False
        link.wants = {}

    def _come_back(self, which: int, count: int, *_: int) -> None:
        """Has a link come back, or go on announcing what it wanted; at last it says that it has announced everything."""
        laggards = self.core.laggards
        assert laggards is not None
        if (link := self._link(which)).bit is None:
            self._open(link)
            assert link.bit is not None
            laggards.resume(link.bit, link.stamp, self.core.opening(link.bit))
            link.is_behind = True
            if not link.again:
                laggards.announced(link.bit)
        elif link.again:
            self._want(link, [link.again.pop() for _ in range(min(len(link.again), 1 + count % 3))])
            if not link.again:
                laggards.announced(link.bit)

    def _serve(self, which: int, room: int, *_: int) -> None:
        link, laggards = self._link(which), self.core.laggards
        if laggards is None or link.bit is None or link.again or link.bit not in laggards:
            return
        link.room = 1 + room % 8
        lost = laggards.lost
        is_live = laggards.serve(link.bit, lambda: link.room <= 0)
        if laggards.lost > lost:  # something was too old: what must be there begins now
            link.kept_since = dict.fromkeys(link.wants, len(self.published))
        if is_live:
            link.is_behind = False
            self._check_whole(link)

    def _check_whole(self, link: FollowingLink) -> None:
        """Looks whether a link that is live again has got all that it wanted and that is kept."""
        for topic in [] if link.is_far else [topic for topic in link.wants if kind_of(topic) in BOUNDS]:
            for event in self._kept(topic, max(link.kept_since[topic], self._whole_since.get(topic, 1 << 60))):
                if event.number not in link.got:
                    raise Violated(f"{link.node} is live again, and never got event {event.number} of {format_topic(topic)}")
                self.looked_at["resumed"] += 1

    def _kept(self, topic: Topic, first: int) -> list[PublishedEvent]:
        """Returns the events of a topic from number `first` on that its bounds must keep."""
        bounds = BOUNDS[kind_of(topic)]
        events = [event for event in self.published[first:] if event.topic == topic]
        if bounds.keep == "latest":
            return [] if not events or events[-1].size_bytes > bounds.bytes - 200 else events[-1:]
        kept: list[PublishedEvent] = []
        left_bytes = bounds.bytes
        for event in reversed(events):
            left_bytes -= event.size_bytes + 200
            if left_bytes < 0 or len(kept) == bounds.events:
                break
            kept.append(event)
        return kept

    # Time, and the past.

    def _tick(self, count: int, *_: int) -> None:
        for _n in range(1 + count % 4):
            self.now_s += TICK_S
            self._withdrawn(*self.core.recorded.tick(self.now_s))

    def _begin_epoch(self, which: int, *_: int) -> None:
        broken = TOPICS[which % len(TOPICS)]
        self.core.numbers.begin_epoch(self.core.numbers.epoch + 1, lambda topic: topic == broken)

    def _note(self, which: int, *_: int) -> None:
        """Has somebody who follows a topic on a live link remember where they are."""
        link = self._link(which)
        if link.is_far or not self._is_live(link) or link.again:
            return
        for topic in link.wants:
            known = [(site, *last) for (its, site), last in link.lasts.items() if its == topic]
            self._cursors.append(Cursor(topic, self.window.stamp, self.now_s, len(self.published), known))
        del self._cursors[:-12]

    def _recall(self, which: int, how: int, where: int, _: int) -> None:
        link = self._link(where)
        if not self._cursors or not self._is_live(link):
            return
        cursor = self._cursors[which % len(self._cursors)]
        assert link.bit is not None
        with_stamp = how % 3 != 0
        recall = Recall(1, [cursor.topic], {EPOCH: cursor.stamp} if with_stamp else {}, [cursor.known] if how % 2 else [])
        (answer,) = self.recaller.answers(RecallingLink(link.bit, is_announced=True), recall)
        self._check_answer(cursor, answer, with_stamp=with_stamp)

    def _check_answer(self, cursor: Cursor, answer: Recalled, *, with_stamp: bool) -> None:
        (reason,), topic = answer.reasons, cursor.topic
        missed = [event for event in self.published[cursor.first :] if event.topic == topic]
        self.looked_at[reason or "whole"] += 1
        if not reason:
            if self._whole_since.get(topic, 1 << 60) > cursor.first:
                return  # nobody has followed it for a while: then nobody asks
            wanted = missed if BOUNDS[kind_of(topic)].keep == "all" else missed[-1:]
            came = {int(body[body.rindex(b'"n":') + 4 : -1]) for body in answer.bodies}
            if lacks := [event.number for event in wanted if event.number not in came]:
                raise Violated(f"nothing of {format_topic(topic)} is said to be missing, and {lacks} are")
            return
        if with_stamp:
            self._check_reason(cursor, reason, missed)

    def _check_reason(self, cursor: Cursor, reason: str, missed: list[PublishedEvent]) -> None:
        """Raises Violated where it is said without a cause that something is missing."""
        bounds = BOUNDS.get(kind_of(cursor.topic))
        if bounds is None:
            is_so = reason == "no-window"
        elif reason == "expired":
            is_so = self.now_s - cursor.now_s >= bounds.seconds - TICK_S
        elif reason == "evicted":
            is_so = self._recorded_bytes > WINDOW_BYTES
        elif reason == "too-much":
            is_so = len(missed) > bounds.events or sum(event.size_bytes + 200 for event in missed) > bounds.bytes
        else:
            is_so = False
        if not is_so:
            raise Violated(f"something of {format_topic(cursor.topic)} is said to be missing, {reason}, for no cause")

    # What others say that is not so.

    def _lie(self, what: int, which: int, how: int, far: int) -> None:
        """Has a peer say what no honest one does: it may get anything for that, and nothing here breaks."""
        if not self.has_liars:
            return
        link, odd = self._link(which), ODD_NUMBERS[how % len(ODD_NUMBERS)]
        rows = len(self.core.interest.masks)
        match what % 4:
            case 0 if (frame := read(Deliver([min(odd, (1 << 32) - 1), rows + far % 3], [GARBAGE[far % len(GARBAGE)]] * 2))) is not None:
                assert isinstance(frame, Deliver)
                self.core.relay([max(handle, rows) for handle in frame.handles], frame.bodies)
            case 1 if link.bit is not None:
                self._ask_oddly(link.bit, odd, far)
            case 2 if link.bit is not None and not link.again:
                self._withdrawn(*self.core.unsubscribe(link.bit, [PLAYLISTS[0], PLAYLISTS[0]]))
                link.wants.pop(PLAYLISTS[0], None)
                link.kept_since.pop(PLAYLISTS[0], None)
            case 3 if self._told:
                self.core.relay([self.core.interest.rows[sorted(self._told)[far % len(self._told)]]], [GARBAGE[how % len(GARBAGE)]])
            case _:
                pass

    def _ask_oddly(self, bit: int, odd: int, far: int) -> None:
        known = [("lon", odd, odd), ("sto", odd, 0), ("", 0, odd)]
        recall: Any = read(Recall(1, list(TOPICS), {EPOCH: odd, odd: far}, [known] * len(TOPICS), rest=bool(far % 2)))
        for answer in self.recaller.answers(RecallingLink(bit, is_announced=True), recall) if recall is not None else ():
            if odd > self.window.stamp and not answer.stamps and not all(answer.reasons):
                raise Violated(f"the stamp {odd} was never given, and nothing is said to be missing: {answer.reasons}")
            self.looked_at["lies"] += 1

    # What must hold.

    def check(self) -> None:
        """Looks at bounds, and at who is told that topics are wanted."""
        if self.window.used_bytes > WINDOW_BYTES and len(self.window):
            raise Violated(f"the window takes {self.window.used_bytes} bytes, {WINDOW_BYTES} are allowed")
        if len(self.window) > sum(event.is_recorded for event in self.published) + self.looked_at["lies"] + len(GARBAGE) * 99:
            raise Violated("the window has more events than were recorded")
        wanted = {topic for _, topic in self.core.wanted_here()}
        if wanted != self._told:
            raise Violated(f"other sites are told that {self._told} is wanted, and {wanted} is")

    def settle(self) -> None:
        """Has all links come back and be served, and everybody leave; then nothing is left."""
        for link in range(len(self.links)):
            for _ in range(len(TOPICS) + 2):
                self._come_back(link, 2)
            for _ in range(40):
                self._serve(link, 7)
        for link_ in self.links:
            if not self._is_live(link_):
                raise Violated(f"{link_.node} never is live again")
        self._check_used()
        for at in range(len(self.links)):
            for topic in range(len(TOPICS)):
                self._unsubscribe(at, topic)
        for _ in range(int(8.0 / TICK_S)):
            self._tick(0)
        self._release()
        if self.core.interest.rows or len(self.window) or self.window.topics:
            raise Violated(f"nobody follows anything, and {len(self.core.interest.rows)} rows, {len(self.window)} events are left")

    def _check_used(self) -> None:
        """Looks whether the window takes as much as its events."""
        texts = sum(len(body) for row in self.core.interest.rows.values() for body in self.window.kept(row))
        least = texts + EVENT_BYTES * len(self.window) + TOPIC_BYTES * self.window.topics
        if self.window.used_bytes < least:
            raise Violated(f"the window says that it takes {self.window.used_bytes} bytes, and its events alone take {least}")

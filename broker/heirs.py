"""Heirs: who has an event before anybody gets it, where a kind of topics has `copies = 1` (DPS-18). Pure.

The *heir* of a topic is the broker that would own it if its owner were not there. Like the owner it follows from the view alone: it is the
next one on the ring. An event is numbered here, and goes to the heir. When the heir says that it has it, it is let out: to the window, to
all links, and to the publisher as accepted. So what anybody has got the heir has. When this broker dies the heir is the owner under the
next view, gives followers what they have not got yet, and goes on with `after` (`copies`).

To each heir goes a *stream*. In it events have numbers, and the heir says up to which number it has everything. So answers are as few as
batches. Links hear with their stamps up to which number of each stream they have got everything, and say that to the heir when this
broker is gone. A stream lives as long as the link. Topics go into it as they do when they move: first what is there of them, then what is
new.

A stream is in one of these states:

==========  ======================================  =================================================
state       events of its topics                    the copy
==========  ======================================  =================================================
AWAY        wait: the heir cannot be reached        nobody knows what the heir has
TELLING     are let out when the heir has them      the heir has a part, and claims nothing if we die
WHOLE       are let out when the heir has them      the heir has everything, and was told so
UNABLE      are let out at once                     there is none: the heir is of an older version
==========  ======================================  =================================================

An heir that does not answer stops these topics until the view changes, which it does when the heir is silent for too long. What waits
then goes to the new heir. A topic that others own under the new view takes along what it has let out; what waits goes to its new owner as
if it had just come. Where a view leaves this broker out, nobody knows what has become of what waits, so its publisher must repeat it: the
heir may have it, and knows its id. Where there is no other broker there is no heir, and events are let out at once.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import Final

from infra.kernel.events import Event, waiting_bytes
from infra.kernel.frames import Copies, CopiesHeld, KeptEvents, Moved, Past, View
from infra.kernel.ring import Ring, hash64
from infra.kernel.topics import Kind, Topic, kind_of

from .core import BrokerCore, NumberedEvent
from .inheritance import AT_ONCE, FRAME_BYTES, Inheritance, KeptPart
from .said_link import SaidLink
from .topic_numbers import Last
from .window_origins import InheritedTopic

# How long to wait for one that reads more slowly than its link may queue, or until nothing moves any more.
PAUSE_S: Final = 0.05
NO_LAST: Final = (0, 0)
# Streams have numbers beside epochs, in the bits above them.
STREAM_BITS: Final = 50
MOST_STREAMS: Final = 1 << 11


class Fate(Enum):
    """The end of waiting for an heir."""

    LET_OUT = "everybody who wants the event gets it"
    MOVED = "its topic is another broker's now, and it is as if it had not come"
    UNKNOWN = "nobody here knows whether it is let out"


class StreamState(Enum):
    """The state of a stream; see above."""

    AWAY = "away"
    TELLING = "telling"
    WHOLE = "whole"
    UNABLE = "unable"


class StreamStep(Enum):
    """The things that happen to a stream."""

    UP = "there is a link to the heir"
    UP_BEFORE = "there is a link to an heir of an older version"
    DOWN = "the link is lost"
    CHANGED = "the view has changed"
    TOLD = "the heir was told that it has everything"


_S, _H = StreamState, StreamStep
STEPS: Final[dict[tuple[StreamState, StreamStep], StreamState]] = {
    **{(state, _H.UP): _S.TELLING for state in _S},
    **{(state, _H.UP_BEFORE): _S.UNABLE for state in _S},
    **{(state, _H.DOWN): _S.AWAY for state in _S},
    (_S.AWAY, _H.CHANGED): _S.AWAY,
    (_S.TELLING, _H.CHANGED): _S.TELLING,
    (_S.WHOLE, _H.CHANGED): _S.TELLING,
    (_S.UNABLE, _H.CHANGED): _S.UNABLE,
    (_S.TELLING, _H.TOLD): _S.WHOLE,
}

Settled = Callable[[Fate], None]


class _Waiting:
    """An event that waits for its heir under the number `n` of its stream; `numbered` is None for one that came before."""

    __slots__ = ("event", "n", "numbered", "settled")

    def __init__(self, event: Event, numbered: NumberedEvent | None, settled: Settled) -> None:
        self.event, self.numbered, self.settled, self.n = event, numbered, settled, 0

    @property
    def bytes(self) -> int:
        return waiting_bytes([self.event.tail])


class HeirStream:
    """The stream to one heir.

    - `number`: its own; `sent`, `held`: up to which event it was sent, and is held by the heir; `out`: up to which they are let out.
    - `waiting`: what is not let out, in order.
    - `told`: topics that went into it since it began, or since it was `WHOLE` for the last time. `rings`: those since then.
    - `round`: rises when the heir must be told everything anew, or what is new.
    """

    def __init__(self) -> None:
        self.state = StreamState.AWAY
        self.number = self.sent = self.held = self.out = self.round = 0
        self.waiting: deque[_Waiting] = deque()
        self.told: set[Topic] = set()
        self.rings: list[Ring] | None = None
        self._frame = _CopiedPart()
        self._outs: deque[tuple[int, int]] = deque()

    def step(self, step: StreamStep) -> None:
        """Goes on to the state that follows when `step` has happened."""
        self.state = STEPS[self.state, step]

    def begin(self, number: int) -> None:
        """Begins under another `number`."""
        self.number, self.sent, self.held, self.out = number, 0, 0, 0
        self.told, self.rings = set(), None
        self._frame = _CopiedPart()
        self._outs.clear()

    def add(self, waiting: _Waiting, *, followed: bool) -> None:
        """Adds an event to what is sent next."""
        numbered = waiting.numbered
        if numbered is not None:
            self.sent += 1
            self._frame.add(numbered, (self.number, self.sent), followed=followed)
        waiting.n = self.sent

    @property
    def is_large(self) -> bool:
        """Whether so much is to be sent that it must not become more."""
        return self._frame.bytes > FRAME_BYTES

    def flushed(self) -> Copies | None:
        """Returns what is sent next; None where nothing is."""
        frame, self._frame = self._frame, _CopiedPart()
        return Copies(self.number, self.sent, frame.parts()) if frame.events else None

    def goes_out(self, n: int, stamp: int) -> None:
        """Notes that the event `n` is let out, under the `stamp` that the window gives next."""
        self.out = n
        self._outs.append((stamp, n))

    def out_at(self, stamp: int) -> int:
        """Returns up to which event those were let out that stand in the window up to `stamp`."""
        at = bisect_right(self._outs, stamp, key=lambda each: each[0])
        return self._outs[at - 1][1] if at else max(0, self._outs[0][1] - 1 if self._outs else self.out)

    def forget(self, oldest: int) -> None:
        """Forgets under which stamps events were let out that nobody asks for any more."""
        while self._outs and self._outs[0][0] < oldest:
            self._outs.popleft()


class _CopiedPart:
    """Events that go to an heir in one frame."""

    def __init__(self) -> None:
        self.events = 0
        self._moved = Moved([], [], [])
        self._kept = KeptPart()

    def add(self, numbered: NumberedEvent, place: tuple[int, int], *, followed: bool) -> None:
        self.events += 1
        event, topic = numbered.event, numbered.event.topic
        self._moved.topics.append(topic)
        self._moved.lasts.append(numbered.last or NO_LAST)
        self._moved.ids.append([event.id] if event.id else [])
        if numbered.body:
            self._kept.add(topic, followed, InheritedTopic([(place, numbered.kept)]))

    @property
    def bytes(self) -> int:
        return self._kept.bytes

    def parts(self) -> list[Moved | KeptEvents | Past]:
        return [self._moved, self._kept.frame()]


class Heirs:
    """The heirs of the topics of the broker `me`, of these `kinds`.

    - `core`: numbers events and lets them out. `inheritance`: says what there is of topics.
    - `links`: slot -> link, to brokers of this site.
    - `is_settled()`: tells whether no topic is on its way to this broker any more: before, it does not know their past.
    - `spawn`: does work in turns.
    - `max_waiting_bytes`: so much waits at most; what comes then is `refused`.
    """

    def __init__(
        self,
        me: str,
        core: BrokerCore,
        kinds: frozenset[Kind],
        links: Mapping[str, SaidLink],
        inheritance: Inheritance,
        is_settled: Callable[[], bool],
        spawn: Callable[[Iterator[float]], None],
        max_waiting_bytes: int,
    ) -> None:
        self.kinds = kinds
        self.waiting_bytes = self.refused = 0
        self._me, self._core, self._links, self._inheritance = me, core, links, inheritance
        self._is_settled, self._spawn, self._max_waiting_bytes = is_settled, spawn, max_waiting_bytes
        self._view, self._ring = View(0, ()), Ring(())
        self._streams: dict[str, HeirStream] = {}
        self._begun = 0

    @property
    def uncopied(self) -> int:
        """How many heirs there are that do not have everything; one, where there is no other broker."""
        if not self._streams:
            return int(self._me in self._ring.slots)
        return sum(stream.state is not StreamState.WHOLE for stream in self._streams.values())

    def marks(self, stamp: int | None) -> dict[int, int]:
        """Returns up to which event of each stream a link has got everything that has got what stands up to `stamp`, or up to now."""
        return {stream.number: stream.out if stamp is None else stream.out_at(stamp) for stream in self._streams.values() if stream.number}

    def publish(self, event: Event, settled: Settled) -> None:
        """Has an event go to its heir; `settled(fate)` is called when it is known what becomes of it, perhaps before this returns.

        What several such calls bring is sent with `flush`.
        """
        heir = self._ring.heir(event.topic)
        stream = self._streams.get(heir or "")
        size = waiting_bytes([event.tail])
        if stream is not None and self.waiting_bytes + size > self._max_waiting_bytes:
            self.refused += 1
            settled(Fate.UNKNOWN)
            return
        self.waiting_bytes += size
        self._go(heir, stream, _Waiting(event, self._core.number(event), settled))

    def _go(self, heir: str | None, stream: HeirStream | None, waiting: _Waiting) -> None:
        if heir is None or stream is None or stream.state is StreamState.UNABLE or (waiting.numbered is None and not stream.waiting):
            self._let_out(waiting)
            return
        stream.waiting.append(waiting)
        if stream.state is not StreamState.AWAY:
            self._send(heir, stream, waiting)

    def _send(self, slot: str, stream: HeirStream, waiting: _Waiting) -> None:
        topic = waiting.event.topic
        if stream.state is StreamState.TELLING and not self._is_told(stream, topic):
            self.flush()
            self._tell(slot, stream, [topic])
        row = self._core.interest.rows.get(topic)
        stream.add(waiting, followed=row is not None and self._core.recorded.is_followed(row))
        if stream.is_large:
            self.flush()

    def flush(self) -> None:
        """Sends what has been published."""
        for slot, stream in self._streams.items():
            if (frame := stream.flushed()) is not None and (link := self._links.get(slot)) is not None:
                link.send(frame)

    def _let_out(self, waiting: _Waiting) -> None:
        self.waiting_bytes -= waiting.bytes
        if waiting.numbered is not None:
            self._core.let_out(waiting.numbered)
        waiting.settled(Fate.LET_OUT)

    # What happens.

    def take(self, slot: str, said: CopiesHeld) -> None:
        """Takes the word of an heir, and lets out what it has."""
        stream, window = self._streams.get(slot), self._core.window
        if stream is None or window is None or said.stream != stream.number:
            return
        stream.held = max(stream.held, min(said.n, stream.sent))
        while stream.waiting and stream.waiting[0].n <= stream.held:
            waiting = stream.waiting.popleft()
            if waiting.numbered is not None:  # first: a link may say how far it is in the middle of that
                stream.goes_out(waiting.n, window.stamp + 1)
            self._let_out(waiting)

    def link_up(self, slot: str) -> None:
        """Begins a stream to an heir to which there is a new link, with all that waits."""
        stream, link = self._streams.get(slot), self._links.get(slot)
        if stream is None or link is None:
            return
        if not link.knows(Copies):
            stream.step(StreamStep.UP_BEFORE)
            while stream.waiting:
                self._let_out(stream.waiting.popleft())
            return
        self._begun = self._begun % (MOST_STREAMS - 1) + 1
        stream.begin(self._begun << STREAM_BITS | (window.epoch if (window := self._core.window) is not None else 0))
        stream.step(StreamStep.UP)
        for waiting in stream.waiting:
            self._send(slot, stream, waiting)
        self.flush()
        self._tell_all(slot, stream)

    def link_down(self, slot: str) -> None:
        """Has topics wait whose heir cannot be reached any more."""
        if (stream := self._streams.get(slot)) is not None:
            stream.round += 1
            stream.step(StreamStep.DOWN)

    def split(self) -> None:
        """Begins all streams anew: topics that were served twice go on from nothing, and no heir may claim what it had of them (DPS-19)."""
        for slot in self._streams:
            self.link_up(slot)

    def follow(self, view: View, ring: Ring, *, is_out: bool) -> None:
        """Goes by `view`, whose ring is `ring`. `is_out`: others have left this broker out, and it may be taken for dead."""
        before, self._view, self._ring = self._ring, view, ring
        moved = [waiting for slot, stream in self._streams.items() for waiting in self._leaving(slot, stream)]
        heirs = ring.heirs(self._me)
        self._streams = {slot: self._streams.get(slot) or HeirStream() for slot in sorted(heirs)}
        others = {waiting for waiting in moved if ring.owner(waiting.event.topic) != self._me}
        if not is_out:
            self._core.take_back(waiting.numbered for waiting in moved if waiting in others and waiting.numbered is not None)
        for slot, stream in self._streams.items():
            if stream.rings is not None:
                stream.rings.append(before)
            stream.told = {topic for topic in stream.told if self._is_pair(ring, topic, slot)}
            if stream.state is StreamState.AWAY and slot in self._links:
                self.link_up(slot)
            else:
                self._again(slot, stream)
        for waiting in moved:
            if waiting not in others:
                heir = ring.heir(waiting.event.topic)
                self._go(heir, self._streams.get(heir or ""), waiting)
        self.flush()
        for waiting in moved:
            if waiting in others:
                self.waiting_bytes -= waiting.bytes
                waiting.settled(Fate.UNKNOWN if is_out else Fate.MOVED)

    def _leaving(self, slot: str, stream: HeirStream) -> list[_Waiting]:
        """Returns what waits in a stream and does not stay in it, and takes it out."""
        stays: deque[_Waiting] = deque()
        goes: list[_Waiting] = []
        for waiting in stream.waiting:
            (stays if self._is_pair(self._ring, waiting.event.topic, slot) else goes).append(waiting)
        stream.waiting = stays
        return goes

    def tick(self) -> None:
        """Forgets what nobody asks for any more."""
        if (window := self._core.window) is not None:
            for stream in self._streams.values():
                stream.forget(window.oldest)

    # What heirs are told of the past.

    def _again(self, slot: str, stream: HeirStream) -> None:
        stream.step(StreamStep.CHANGED)
        if stream.state is StreamState.TELLING:
            self._tell_all(slot, stream)

    def _is_pair(self, ring: Ring, topic: Topic, slot: str) -> bool:
        hashed = hash64(topic)
        return ring.owner_at(hashed) == self._me and ring.heir_at(hashed) == slot

    def _is_told(self, stream: HeirStream, topic: Topic) -> bool:
        return topic in stream.told or self._was_told(stream, topic)

    def _was_told(self, stream: HeirStream, topic: Topic) -> bool:
        """Tells whether the heir had a topic when it had everything, and has been its heir since then."""
        hashed = hash64(topic)
        pairs = {(ring.owner_at(hashed), ring.heir_at(hashed)) for ring in [*(stream.rings or ()), self._ring]}
        return stream.rings is not None and len(pairs) == 1

    def _tell(self, slot: str, stream: HeirStream, topics: Sequence[Topic]) -> None:
        """Tells the heir what there is of `topics`, and that what came of them before counts no more."""
        stream.told.update(topics)
        lasts: list[Last] = [self._core.numbers.last(topic) or NO_LAST for topic in topics]
        self._say(slot, stream, Moved(list(topics), lasts, [[] for _ in topics]), anew=True)
        for part in self._inheritance.parts(topics):
            self._say(slot, stream, part, anew=True)

    def _say(self, slot: str, stream: HeirStream, part: Moved | KeptEvents | Past, *, anew: bool = False) -> None:
        if (link := self._links.get(slot)) is not None:
            link.send(Copies(stream.number, stream.sent, [part], anew))

    def _tell_all(self, slot: str, stream: HeirStream) -> None:
        stream.round += 1
        self._spawn(self._telling(slot, stream, stream.round))

    def _telling(self, slot: str, stream: HeirStream, this: int) -> Iterator[float]:
        """Tells an heir everything that it does not know, a part in each turn, and at last that it has all of it."""
        while stream.round == this and not self._is_settled():
            yield PAUSE_S
        parts = self._parts(slot, stream)
        while stream.round == this and (wait_s := next(parts, None)) is not None:
            yield wait_s
        if stream.round != this:
            return
        self.flush()
        self._say(slot, stream, self._inheritance.ending(self._view.number, 0))
        stream.told, stream.rings = set(), []
        stream.step(StreamStep.TOLD)

    def _parts(self, slot: str, stream: HeirStream) -> Iterator[float]:
        topics = iter(dict.fromkeys([*self._core.numbers.counted(), *(topic for _, topic in self._core.recorded.pairs())]))
        while some := list(islice(topics, AT_ONCE)):
            news = [topic for topic in some if self._concerns(topic, slot) and not self._is_told(stream, topic)]
            if news:
                self.flush()  # what was published of others goes first, as it was numbered
                self._tell(slot, stream, news)
            yield from self._pauses(slot)
        known = iter(list(self._core.known_ids()))
        while pairs := list(islice(known, AT_ONCE)):
            mine = [pair for pair in pairs if self._concerns(pair[0], slot) and not self._was_told(stream, pair[0])]
            if mine:
                self._say(slot, stream, Moved([topic for topic, _ in mine], [NO_LAST for _ in mine], [[known_id] for _, known_id in mine]))
            yield from self._pauses(slot)

    def _concerns(self, topic: Topic, slot: str) -> bool:
        return kind_of(topic) in self.kinds and self._is_pair(self._ring, topic, slot)

    def _pauses(self, slot: str) -> Iterator[float]:
        yield 0.0
        while (link := self._links.get(slot)) is not None and link.full:
            yield PAUSE_S

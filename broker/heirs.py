"""Heirs: who has an event before anybody gets it, where a kind of topics has `copies = 1` (DPS-18). Pure.

The *heir* of a topic is the broker that would own it if its owner were not there. Like the owner it follows from the view alone: it is the
next one on the ring. An event is numbered here, and goes to the heir. When the heir says that it has it, it is let out: to the window, to
all links, and to the publisher as accepted. So what anybody has got the heir has. When this broker dies the heir is the owner under the
next view, gives followers what they have not got yet, and goes on with `after` (`copies`).

To each heir goes a *stream* (`heir_stream`), in which events have numbers. Links hear with their stamps up to which number of each stream
they have got everything, and say that to the heir when this broker is gone. What came before the stream began the heir is told, too
(`heir_briefing`).

An heir that does not answer stops these topics until the view changes, which it does when the heir is silent for too long. What waits
then goes to the new heir. A topic that others own under the new view takes along what it has let out; what waits goes to its new owner as
if it had just come. Where a view leaves this broker out, nobody knows what has become of what waits, so its publisher must repeat it: the
heir may have it, and knows its id. Where there is no other broker there is no heir, and events are let out at once.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

from infra.kernel.events import Event, waiting_bytes
from infra.kernel.frames import Copies, CopiesHeld, View
from infra.kernel.ring import Ring
from infra.kernel.topics import Kind

from .core import BrokerCore
from .heir_briefing import HeirBriefing
from .heir_stream import Fate, HeirStream, Settled, StreamState, StreamStep, WaitingEvent
from .said_link import SaidLink

# Streams have numbers beside epochs, in the bits above them.
STREAM_BITS: Final = 50
MOST_STREAMS: Final = 1 << 11


class Heirs:
    """The heirs of the topics of the broker `me`, of these `kinds`.

    - `core`: numbers events and lets them out. `briefing`: tells heirs what there is of topics.
    - `links`: slot -> link, to brokers of this site.
    - `max_waiting_bytes`: so much waits at most; what comes then is `refused`.
    """

    def __init__(
        self,
        me: str,
        core: BrokerCore,
        kinds: frozenset[Kind],
        links: Mapping[str, SaidLink],
        briefing: HeirBriefing,
        max_waiting_bytes: int,
    ) -> None:
        self.kinds = kinds
        self.waiting_bytes = self.refused = 0
        self._me, self._core, self._links, self._briefing, self._max_waiting_bytes = me, core, links, briefing, max_waiting_bytes
        self._ring = Ring(())
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
        self._go(heir, stream, WaitingEvent(event, self._core.number(event), settled, size))

    def _go(self, heir: str | None, stream: HeirStream | None, waiting: WaitingEvent) -> None:
        if heir is None or stream is None or stream.state is StreamState.UNABLE or (waiting.numbered is None and not stream.waiting):
            self._let_out(waiting)
            return
        stream.waiting.append(waiting)
        if stream.state is not StreamState.AWAY:
            self._send(heir, stream, waiting)

    def _send(self, slot: str, stream: HeirStream, waiting: WaitingEvent) -> None:
        topic = waiting.event.topic
        if stream.state is StreamState.TELLING and not self._briefing.is_told(stream, topic):
            self._briefing.tell(slot, stream, [topic])
        row = self._core.interest.rows.get(topic)
        stream.add(waiting, followed=row is not None and self._core.recorded.is_followed(row))
        if stream.is_large:
            stream.flush(self._links.get(slot))

    def flush(self) -> None:
        """Sends what has been published."""
        for slot, stream in self._streams.items():
            stream.flush(self._links.get(slot))

    def _let_out(self, waiting: WaitingEvent) -> None:
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
        self._briefing.tell_all(slot, stream)

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
        before, self._ring = self._ring, ring
        self._briefing.follow(view, ring)
        moved = [waiting for slot, stream in self._streams.items() for waiting in self._leaving(slot, stream)]
        heirs = ring.heirs(self._me)
        for slot in self._streams.keys() - heirs:
            self._streams[slot].round += 1
        self._streams = {slot: self._streams.get(slot) or HeirStream() for slot in sorted(heirs)}
        others = {waiting for waiting in moved if ring.owner(waiting.event.topic) != self._me}
        if not is_out:
            self._core.take_back(waiting.numbered for waiting in moved if waiting in others and waiting.numbered is not None)
        for slot, stream in self._streams.items():
            if stream.state is StreamState.AWAY and slot in self._links:
                self.link_up(slot)
            else:
                self._briefing.again(slot, stream, before)
        for waiting in moved:
            if waiting not in others:
                heir = ring.heir(waiting.event.topic)
                self._go(heir, self._streams.get(heir or ""), waiting)
        self.flush()
        for waiting in moved:
            if waiting in others:
                self.waiting_bytes -= waiting.bytes
                waiting.settled(Fate.UNKNOWN if is_out else Fate.MOVED)

    def _leaving(self, slot: str, stream: HeirStream) -> list[WaitingEvent]:
        """Returns what waits in a stream and does not stay in it, and takes it out."""
        stays: deque[WaitingEvent] = deque()
        goes: list[WaitingEvent] = []
        for waiting in stream.waiting:
            (stays if self._briefing.is_pair(waiting.event.topic, slot) else goes).append(waiting)
        stream.waiting = stays
        return goes

    def tick(self) -> None:
        """Forgets what nobody asks for any more."""
        if (window := self._core.window) is not None:
            for stream in self._streams.values():
                stream.forget(window.oldest)

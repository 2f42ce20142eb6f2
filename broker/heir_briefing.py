"""The briefing of heirs: what they are told of topics before they can have everything of them (`heirs`). Pure.

Topics go into a stream as they do when they move: first what is there of them, then what is new. An heir is told everything that it does
not know, a part in each turn, and at last that it has all of it. Then its copy counts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from infra.kernel.frames import Copies, KeptEvents, Moved, Past, View
from infra.kernel.ring import Ring, hash64
from infra.kernel.topics import Kind, Topic, kind_of

from .core import BrokerCore
from .heir_stream import NO_LAST, HeirStream, StreamState, StreamStep
from .inheritance import AT_ONCE, Inheritance
from .said_link import SaidLink
from .topic_numbers import Last

# How long to wait for one that reads more slowly than its link may queue, or until nothing moves any more.
PAUSE_S: Final = 0.05


class HeirBriefing:
    """The telling of heirs by the broker `me`, of its topics of these `kinds`.

    - `core`: has numbers, ids and rows. `inheritance`: says what there is of topics.
    - `links`: slot -> link, to brokers of this site.
    - `is_settled()`: tells whether no topic is on its way to this broker any more: before, it does not know their past.
    - `spawn`: does work in turns.
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
    ) -> None:
        self._me, self._core, self._kinds, self._links, self._inheritance = me, core, kinds, links, inheritance
        self._is_settled, self._spawn = is_settled, spawn
        self._view, self._ring = View(0, ()), Ring(())

    def follow(self, view: View, ring: Ring) -> None:
        """Goes by `view`, whose ring is `ring`."""
        self._view, self._ring = view, ring

    def is_pair(self, topic: Topic, slot: str) -> bool:
        """Tells whether `topic` is this broker's, and `slot` its heir."""
        hashed = hash64(topic)
        return self._ring.owner_at(hashed) == self._me and self._ring.heir_at(hashed) == slot

    def again(self, slot: str, stream: HeirStream, before: Ring) -> None:
        """Tells an heir what it does not know, since the view has changed; `before` was the ring."""
        if stream.rings is not None:
            stream.rings.append(before)
        stream.told = {topic for topic in stream.told if self.is_pair(topic, slot)}
        stream.step(StreamStep.CHANGED)
        if stream.state is StreamState.TELLING:
            self.tell_all(slot, stream)

    def is_told(self, stream: HeirStream, topic: Topic) -> bool:
        """Tells whether the heir has what there was of `topic`."""
        return topic in stream.told or self._was_told(stream, topic)

    def _was_told(self, stream: HeirStream, topic: Topic) -> bool:
        """Tells whether the heir had a topic when it had everything, and has been its heir since then."""
        hashed = hash64(topic)
        pairs = {(ring.owner_at(hashed), ring.heir_at(hashed)) for ring in [*(stream.rings or ()), self._ring]}
        return stream.rings is not None and len(pairs) == 1

    def tell(self, slot: str, stream: HeirStream, topics: Sequence[Topic]) -> None:
        """Tells the heir what there is of `topics`, and that what came of them before counts no more."""
        stream.flush(self._links.get(slot))  # what was published before goes before it
        stream.told.update(topics)
        lasts: list[Last] = [self._core.numbers.last(topic) or NO_LAST for topic in topics]
        self._say(slot, stream, Moved(list(topics), lasts, [[] for _ in topics]), anew=True)
        for part in self._inheritance.parts(topics):
            self._say(slot, stream, part, anew=True)

    def _say(self, slot: str, stream: HeirStream, part: Moved | KeptEvents | Past, *, anew: bool = False) -> None:
        if (link := self._links.get(slot)) is not None:
            link.send(Copies(stream.number, stream.sent, [part], anew))

    def tell_all(self, slot: str, stream: HeirStream) -> None:
        """Begins to tell an heir everything that it does not know."""
        stream.round += 1
        self._spawn(self._telling(slot, stream, stream.round))

    def _telling(self, slot: str, stream: HeirStream, this: int) -> Iterator[float]:
        while stream.round == this and not self._is_settled():
            yield PAUSE_S
        parts = self._parts(slot, stream)
        while stream.round == this and (wait_s := next(parts, None)) is not None:
            yield wait_s
        if stream.round != this:
            return
        stream.flush(self._links.get(slot))
        self._say(slot, stream, self._inheritance.ending(self._view.number, 0))
        stream.told, stream.rings = set(), []
        stream.step(StreamStep.TOLD)

    def _parts(self, slot: str, stream: HeirStream) -> Iterator[float]:
        recorded = self._core.recorded
        topics = iter(dict.fromkeys([*self._core.counted(), *(topic for _, topic in recorded.pairs(recorded.left()))]))
        while some := list(islice(topics, AT_ONCE)):
            news = [topic for topic in some if self._concerns(topic, slot) and not self.is_told(stream, topic)]
            if news:
                self.tell(slot, stream, news)
            yield from self._pauses(slot)
        known = iter(list(self._core.known_ids()))
        while pairs := list(islice(known, AT_ONCE)):
            mine = [pair for pair in pairs if self._concerns(pair[0], slot) and not self._was_told(stream, pair[0])]
            if mine:
                self._say(slot, stream, Moved([topic for topic, _ in mine], [NO_LAST for _ in mine], [[known_id] for _, known_id in mine]))
            yield from self._pauses(slot)

    def _concerns(self, topic: Topic, slot: str) -> bool:
        return kind_of(topic) in self._kinds and self.is_pair(topic, slot)

    def _pauses(self, slot: str) -> Iterator[float]:
        yield 0.0
        while (link := self._links.get(slot)) is not None and link.full:
            yield PAUSE_S

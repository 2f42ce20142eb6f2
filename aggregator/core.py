"""What an aggregator decides: only the first subscriber of a topic is announced, only the last one's leaving withdraws
it (SB-14, SB-15); an event goes to each access point that wants it, once (SB-16)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from infra.kernel.fanout import Fanout, Receiver
from infra.kernel.interest import EVERY_CELL, MAX_LINKS
from infra.kernel.summed_gains import SummedGains
from infra.kernel.topics import Topic

Rows = list[tuple[int, Topic]]
# The mask of all links that there can be.
ALL: Final = (1 << MAX_LINKS) - 1
# So many topics of one that is gone are taken away for one part.
LEFT_AT_ONCE: Final = 512


class AggregatorCore:
    """The interest of all access points of one aggregator.

    An access point is a number, the *bit*: bit `b` of a row's mask says that access point `b` wants the row's topic.
    """

    def __init__(self) -> None:
        # A change of the ring is one for all topics of the site, and it must not take as long as hashing them.
        self.fanout = Fanout(by_cell=True)
        self.interest = self.fanout.interest
        self.gains = SummedGains(self.interest, lambda: ALL)
        self.received = self.stale = self.subscribes = self.unsubscribes = 0

    def open(self, receiver: Receiver) -> int:
        """Returns the number of a new access point; `receiver` takes the events for it."""
        return self.fanout.open(receiver)

    def close(self, bit: int) -> Iterator[Rows]:
        """Gives nothing more to the access point `bit`, which is gone, and yields in parts the (row, topic) that nobody wants any more.

        A part is taken away when it is asked for. Behind the last one its number may be another one's.
        """
        self.fanout.forget(bit)
        return self._leave(bit)

    def _leave(self, bit: int) -> Iterator[Rows]:
        for part in self.interest.wanted_in(1 << bit, EVERY_CELL):
            for start in range(0, max(1, len(part)), LEFT_AT_ONCE):  # to look through rows in vain is a part as well
                yield self.unsubscribe(bit, [topic for _, topic in part[start : start + LEFT_AT_ONCE]])
        self.interest.forget(bit)
        self.gains.forget(bit)

    def subscribe(self, bit: int, topics: Sequence[Topic], handles: Sequence[int], gains: bytes = b"") -> Rows:
        """Adds interest of the access point `bit` in `topics`; it gets their events under `handles`. `gains`: see `Subscribe`.

        Returns the (row, topic) that nobody wanted before: announce them.
        """
        first = [(row, topic) for row, topic, before in self.interest.subscribe(bit, topics, handles) if not before]
        self.subscribes += len(first)
        self.gains.subscribed(bit, topics, gains, first)
        return first

    def unsubscribe(self, bit: int, topics: Sequence[Topic]) -> Rows:
        """Takes interest of the access point `bit` away. Returns the (row, topic) that nobody wants any more: withdraw them."""
        self.gains.left(topics)
        return self._last(self.interest.unsubscribe(bit, topics))

    def _last(self, gone: list[tuple[int, Topic, int]]) -> Rows:
        last = [(row, topic) for row, topic, after in gone if not after]
        self.unsubscribes += len(last)
        return last

    def wanted(self) -> Iterable[tuple[int, Topic]]:
        """Returns all (row, topic) that any access point wants."""
        return self.interest.wanted(ALL)

    def wanted_in(self, cells: bytes) -> Iterator[Rows]:
        """Yields, in parts, what `wanted` returns, but for what is known to lie in other cells of the ring (see `Interest.wanted_in`)."""
        return self.interest.wanted_in(ALL, cells)

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        """Notes the cells of the ring that topics lie in, by their hashes."""
        self.interest.note_cells(pairs, hashes)

    def fan_out(self, rows: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Gives events from brokers, under the `rows` announced to them, to each access point that wants them."""
        masks, known, send = self.interest.masks, len(self.interest.masks), self.fanout.send
        self.received += len(rows)
        for row, body in zip(rows, bodies, strict=True):
            # A row that nobody wants any more waits in limbo until no event can come under it; then it is another topic's.
            mask = masks[row] if row < known else 0
            if mask:
                send(row, mask, body)
            else:
                self.stale += 1

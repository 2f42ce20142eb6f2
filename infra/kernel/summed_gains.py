"""Summed gains: about how many clients follow each topic behind all links of a node that tell it, told on when it changes. Pure."""

from collections.abc import Callable, Iterable, Sequence

from .gains import Gains, followers_of, settled
from .interest import Interest
from .topics import Topic


class SummedGains:
    """The sums over the links of `interest` that `counted()` has a bit of. Nothing is kept while no link has told a gain.

    A link that wants a topic and tells no gain has one follower.
    """

    def __init__(self, interest: Interest, counted: Callable[[], int]) -> None:
        self._interest, self._counted = interest, counted
        self._of_link: dict[int, Gains] = {}
        self._sums = Gains()
        self._touched: set[Topic] = set()

    def subscribed(self, bit: int, topics: Sequence[Topic], gains: bytes, first: Iterable[tuple[int, Topic]]) -> None:
        """Notes that link `bit` wants `topics`, and the gains that it tells of them, if it does.

        The sums of those that are `first`, which no link wanted before, are worked out at once: they are about to be told on.
        """
        if not gains and not self._of_link:
            return
        rows, mine = self._interest.rows, self._of_link.setdefault(bit, Gains())
        for topic, gain in zip(topics, gains or bytes(len(topics)), strict=True):
            mine[rows[topic]] = gain
        self._touched.update(topics)
        for _, topic in first:
            self._touched.discard(topic)
            self._work_out(topic)

    def left(self, topics: Iterable[Topic]) -> None:
        """Notes that a link no longer wants `topics`. Of one that tells no gain each has one follower less, too."""
        if self._of_link:
            self._touched.update(topics)

    def forget(self, bit: int) -> None:
        """Forgets link `bit`, which is gone, and has left everything."""
        self._of_link.pop(bit, None)

    def of(self, rows: Sequence[int]) -> bytes:
        """Returns the gains of `rows` as they are told on; empty while nobody has told any."""
        return self._sums.told(rows) if self._of_link else b""

    def changed(self) -> list[tuple[int, Topic]]:
        """Returns the (row, topic) of which another gain has to be told than before, and notes that it is."""
        touched, self._touched = self._touched, set()
        return [(row, topic) for topic in touched if (row := self._work_out(topic)) is not None]

    def _work_out(self, topic: Topic) -> int | None:
        """Works out the sum of `topic`; returns its row if that has changed, and somebody still wants it."""
        row = self._interest.rows.get(topic)
        if row is None:
            return None
        mask = wanted = self._interest.masks[row] & self._counted()
        followers, before = 0.0, self._sums[row]
        while mask:
            lowest = mask & -mask
            mine = self._of_link.get(lowest.bit_length() - 1)
            followers += followers_of((mine[row] if mine is not None else 0) or 1)
            mask ^= lowest
        self._sums[row] = gain = settled(before, followers)
        return row if wanted and gain != before else None

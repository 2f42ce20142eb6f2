"""The numbers of topics: which one an event gets, and what of that goes with a topic that moves. Pure.

Numbers rise by one per topic. The count of a topic that nobody wants any more is kept for a while, and goes on with
each event, so that an interest that only flickered finds the true number of what it missed. When it is forgotten, a new
one starts above every number this process ever gave: within an epoch the numbers of a topic never repeat (SB-21).

A topic that moves is counted on from its last number, also under the epoch of its new owner. So when it comes back, and its
former epoch goes on, the numbers of that epoch have a jump of as many events as other brokers had meanwhile: whoever got none of
these neither takes the next event for the next one, nor hears of losses that never were.
"""

from collections.abc import Callable, Mapping
from typing import Final

from infra.kernel.events import first_body, numbering
from infra.kernel.topics import Topic

# As many counts are kept of topics that nobody wants any more, and of those that were given away. Such an entry takes 250 bytes.
RETAINED_COUNTS: Final = 1 << 16
# What is known of topics that have come, and had no event since, at most; the oldest is forgotten. Such an entry takes 250 bytes.
MAX_INHERITED: Final = 1 << 20

Last = tuple[int, int]
"""Epoch and number of the last event of a topic."""


class TopicNumbers:
    """The numbers that a broker of `site` gives in its `epoch`.

    `rows`: topic -> row. A topic that is wanted is counted by its row, which costs less than its name.
    """

    def __init__(self, site: str, epoch: int, rows: Mapping[Topic, int]) -> None:
        self.epoch = epoch
        self._site, self._rows, self._numbering = site, rows, numbering(site, epoch)
        self._seqs: dict[int, int] = {}
        self._retained: dict[Topic, int] = {}
        # Topics that have come from another broker, and had no event here yet -> epoch and number of their last one.
        self._inherited: dict[Topic, Last] = {}
        # Topics that were given up -> the last number that they got here. The highest number of all topics that were forgotten.
        self._given_up: dict[Topic, int] = {}
        self._forgotten = 0
        self._stamped = 0

    def body(self, row: int, topic: Topic, tail: bytes, *, passes: bool) -> bytes:
        """Returns what everybody gets of the next event of `topic`, which has `row` and is wanted.

        - `tail`: all of the event behind its number.
        - `passes`: whether anybody gets it. If not, nothing may be returned: then it was only counted.
        """
        if self._inherited and (last := self._inherited.get(topic)) is not None:
            if not passes:
                self._pass_over(topic, last)
                return b""
            del self._inherited[topic]
            return first_body(self._numbering, self._first(row, topic, last), last, tail)
        seqs = self._seqs  # as `_next`, without a call: most events come here
        seqs[row] = seq = (seqs[row] if row in seqs else self._former(topic)) + 1
        self._stamped += 1
        return b"%b%d,%b" % (self._numbering, seq, tail)

    def _next(self, row: int, topic: Topic) -> int:
        seqs = self._seqs
        seqs[row] = seq = (seqs[row] if row in seqs else self._former(topic)) + 1
        self._stamped += 1
        return seq

    def _first(self, row: int, topic: Topic, last: Last) -> int:
        """Returns the number of the first event here of a topic that has come: above its `last` one, and all that it got here before.

        These are lower, unless somebody took this broker for dead, and has not heard of all of them.
        """
        self._seqs[row] = seq = max(last[1], self._given_up.get(topic, self._forgotten)) + 1
        self._stamped = max(self._stamped + 1, seq)
        return seq

    def _former(self, topic: Topic) -> int:
        """Returns the last number of a topic that has had none since it has had its row."""
        # `_stamped` is at least the count of all numbers that were ever given here, so none is higher, nor was one of this topic.
        return self._retained.pop(topic, self._stamped)

    def miss(self, row: int | None, topic: Topic) -> None:
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

    def released(self, row: int, topic: Topic) -> None:
        """Notes that `topic` has no row any more: its count moves from the row, which may soon be another topic's, to the topic."""
        if (seq := self._seqs.pop(row, None)) is not None:
            self._retain(topic, seq, RETAINED_COUNTS)

    def _retain(self, topic: Topic, seq: int, most: int) -> None:
        """Keeps the count of a topic that has no row, and no more than so many of those."""
        self._retained[topic] = seq
        if len(self._retained) > most:
            oldest = next(iter(self._retained))  # dicts keep the order of insertion
            self._forgotten = max(self._forgotten, self._retained.pop(oldest))
            self._given_up.pop(oldest, None)  # it got higher numbers since

    # What goes with a topic that moves.

    def counted(self, names: Mapping[int, Topic]) -> list[Topic]:
        """Returns the topics that have a number; those twice that have one for two reasons.

        `names`: row -> topic, as far as that is known: to find the others, all rows have to be looked at.
        """
        rows = self._seqs.keys()  # most topics have no events while they are followed, and so no number
        named, others = [names[row] for row in rows & names.keys()], rows - names.keys()
        found = [topic for topic, row in self._rows.items() if row in others] if others else []
        return [*named, *found, *self._retained, *self._inherited]

    def last(self, topic: Topic) -> Last | None:
        """Returns epoch and number of the last event of `topic`; None where none is known."""
        if (last := self._inherited.get(topic)) is not None:
            return last
        row = self._rows.get(topic)
        seq = self._seqs.get(row) if row is not None else None
        if seq is None:
            seq = self._retained.get(topic)
        return None if seq is None else (self.epoch, seq)

    def give_up(self, topic: Topic) -> None:
        """Counts a topic no more, since another broker does from now on. Its numbers here must not be given again if it comes back."""
        last = self.last(topic)
        self._forget(topic)
        if last is not None and last[0] == self.epoch:
            self._given_up.pop(topic, None)
            self._given_up[topic] = last[1]
            if len(self._given_up) > RETAINED_COUNTS:
                self._forgotten = max(self._forgotten, self._given_up.pop(next(iter(self._given_up))))

    def take_back(self, topic: Topic, last: Last | None) -> None:
        """Takes back the numbers of a topic behind its `last` one, None where it had none. Nobody has got them, so they are free again."""
        self._forget(topic)
        if last is not None:
            self._go_on_from(topic, last)

    def _forget(self, topic: Topic) -> None:
        self._inherited.pop(topic, None)
        self._retained.pop(topic, None)
        if (row := self._rows.get(topic)) is not None:
            self._seqs.pop(row, None)

    def inherit(self, topic: Topic, last: Last) -> None:
        """Goes on with a topic that has come from the broker that gave its `last` number, or has heard of it.

        Numbers that were given here meanwhile count, too: whoever had taken this broker for dead has not heard of them.
        """
        self.give_up(topic)
        if last[0] == self.epoch:  # it was here before, and got no number elsewhere
            last = self.epoch, max(last[1], self._given_up.get(topic, 0))
        self._go_on_from(topic, last)

    def _go_on_from(self, topic: Topic, last: Last) -> None:
        if last[0] != self.epoch:
            self._inherited[topic] = last
            if len(self._inherited) > MAX_INHERITED:
                del self._inherited[next(iter(self._inherited))]
            return
        self._stamped = max(self._stamped, last[1])
        if (row := self._rows.get(topic)) is not None:
            self._seqs[row] = last[1]
        else:
            self._retain(topic, last[1], MAX_INHERITED)

    def begin_epoch(self, epoch: int, is_broken: Callable[[Topic], bool]) -> None:
        """Begins another, higher `epoch`.

        Topics that `is_broken` is true of go on from nothing, so nobody takes their numbers for whole. Others go on from their last one.
        """
        lasts = {topic: self.last(topic) for topic in self.counted({}) if not is_broken(topic)}
        self._seqs.clear()
        self._retained.clear()
        self._inherited.clear()
        self._given_up.clear()
        self._forgotten = 0
        self.epoch, self._numbering = epoch, numbering(self._site, epoch)
        for topic, last in lasts.items():
            if last is not None:
                self.inherit(topic, last)

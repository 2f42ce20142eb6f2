"""The positions of a client in its topics, which tell what it has missed. Pure.

Rule 1: numbers rise by one per (topic, origin site) within an epoch. The first number seen of a topic, site and epoch
fixes the position; what was before it is unknown and not counted.
Rule 2: positions end with the connection. While nobody is interested in a topic its broker keeps no count of it, so a
jump over a time of absence says nothing.
Rule 3: a skip is never taken for a loss (design 6). `skipped` counts events of the same topic and origin site that this
event has replaced, so it covers missing numbers right before this event and no others.
Rule 4: another epoch goes on from the one before it where `after` names the last number of that one (DPS-1). Where it does not, what
is missing cannot be counted.
"""

from typing import NamedTuple

from segue.sdk.messages import Event


class Number(NamedTuple):
    """A place in the events of a topic and origin site. Epoch and number are one value and replaced together."""

    epoch: int
    seq: int


class Cursors:
    """The positions of one connection: one number per (topic, origin site)."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, Number]] = {}

    def advance(self, event: Event) -> int | None:
        """Moves past `event` and returns the number of events lost before it. A repeated or late event loses nothing.

        Returns None where something may be lost, and nobody can count it.
        """
        sites = self._topics.setdefault(event.topic, {})
        number, last = Number(event.epoch, event.seq), sites.get(event.site)
        if last is None or last.epoch != number.epoch or last.seq < number.seq:
            sites[event.site] = number
        missing = 0 if last is None else missing_between(last, number, event.after)
        return None if missing is None else max(0, missing - event.skipped)

    def forget(self, topic: str) -> None:
        """Forgets `topic`, which is not followed any more. Following it again begins anew."""
        self._topics.pop(topic, None)

    def __len__(self) -> int:
        return len(self._topics)


def missing_between(last: Number, number: Number, after: tuple[int, int] | None) -> int | None:
    """Returns how many events are missing between `last` and `number`; None where nobody can count them.

    `after` is the last number of the epoch before that of `number`, where that one goes on without loss.
    """
    if number.epoch == last.epoch:
        return max(0, number.seq - last.seq - 1)
    if after is not None and after[0] == last.epoch:
        return max(0, after[1] - last.seq)
    return None

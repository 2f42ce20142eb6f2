"""The positions of a connection in its topics, which tell what it has missed. Pure.

Rule 1: numbers rise by one per (topic, origin site) within an epoch. The first number seen of a topic, site and epoch
fixes the position; what was before it is unknown and not counted.
Rule 2: positions end with the connection. While nobody is interested in a topic its broker keeps no count of it, so a
jump over a time of absence says nothing.
Rule 3: a skip is never taken for a loss (design 6). `skipped` counts events of the topic, whatever their site. So it is
kept as credit of the topic, until missing numbers of any of its sites use it up. A count of losses may be too low for that reason.
"""

from segue.sdk.messages import Event


class _Position:
    __slots__ = ("credit", "sites")

    def __init__(self) -> None:
        self.sites: dict[str, tuple[int, int]] = {}
        self.credit = 0


class Cursors:
    """The positions of one connection: one small entry per (topic, origin site)."""

    def __init__(self) -> None:
        self._topics: dict[str, _Position] = {}

    def advance(self, event: Event) -> int:
        """Moves past `event` and returns the number of events lost before it. A repeated or late event loses nothing."""
        position = self._topics.get(event.topic)
        if position is None:
            position = self._topics[event.topic] = _Position()
        position.credit += event.skipped
        epoch, last = position.sites.get(event.site, (event.epoch, event.seq - 1))
        if epoch != event.epoch:
            last = event.seq - 1
        position.sites[event.site] = (event.epoch, max(last, event.seq))
        missing = max(0, event.seq - last - 1)
        covered = min(missing, position.credit)
        position.credit -= covered
        return missing - covered

    def forget(self, topic: str) -> None:
        """Forgets `topic`, which is not followed any more. Following it again begins anew."""
        self._topics.pop(topic, None)

    def __len__(self) -> int:
        return len(self._topics)

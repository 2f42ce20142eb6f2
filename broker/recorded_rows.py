"""The rows that are recorded in a window, for as long as somebody follows their topics, and for some time after (DPS-4). Pure.

For so long a row is kept, and so is its interest at other sites, if its topic was followed here: whoever comes back misses nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress
from operator import not_
from typing import Final

from infra.kernel.events import origin_if_sound, topic_in
from infra.kernel.interest import LINKS, Interest
from infra.kernel.topics import Kind, Topic, kind_of, tag_of

from .lingering import Lingering
from .link_masks import LinkMasks
from .window import EventWindow

# The bits of a row's mask that are no links: it is recorded, and it is or was lately followed at this site. With the first set a row is
# not dead, with the second it is wanted here. A row of a kind that has no window has neither, so it pays one comparison an event.
RECORDED: Final = 1 << 63
HERE: Final = 1 << 62

Rows = list[tuple[int, Topic]]
Mine = Callable[[Sequence[Topic]], Sequence[bool]]
Keeps = Callable[[Sequence[Topic]], Sequence[bool] | None]
# So many topics are ended in one turn.
AT_ONCE: Final = 1024


class RecordedRows:
    """The rows of `interest` that are recorded in `window`; none where there is no window.

    - `keeps(topics)`: tells of each whether it is recorded for a while when nobody follows it; None while topics go to other brokers.
    - `awaits(topic)`: tells whether somebody may come back for one that nobody follows, of whom only a former owner knew.
    - `came_at()`: returns the stamp at which topics had come here from other brokers for the last time; None while some are coming.
    """

    def __init__(
        self,
        interest: Interest,
        links: LinkMasks,
        window: EventWindow | None,
        keeps: Keeps,
        awaits: Callable[[Topic], bool],
        came_at: Callable[[], int | None],
    ) -> None:
        self.lingering = Lingering()
        self._interest, self._links, self._window = interest, links, window
        self._keeps, self._awaits, self._came_at = keeps, awaits, came_at
        # What was left while topics go to other brokers: mostly it is what goes, and of that no time has to be kept. What was left again
        # and again meanwhile may stand here several times.
        self._going: Rows = []

    def begin(self, news: Iterable[tuple[int, Topic, int]], is_local: bool) -> None:
        """Records what a link of this site, or of another, has begun to want, as far as its kind is recorded."""
        if self._window is not None:
            masks, tags, flags = self._interest.masks, {*map(tag_of, self._window.bounds)}, RECORDED | HERE if is_local else RECORDED
            for row, topic, _ in news:
                if topic[0] in tags:
                    masks[row] |= flags

    def leave(self, gone: Iterable[tuple[int, Topic, int]], followers: int, silent: Rows, dead: Rows) -> None:
        """Has rows linger that none of `followers` (a mask) wants any more. Adds to the others as `_end` does."""
        if self._window is not None:
            left = [(row, topic) for row, topic, after in gone if after & RECORDED and not after & followers]
            kept = self._keeps([topic for _, topic in left])
            if kept is None:
                self._go(left)
                return
            self.lingering.add(compress(left, kept), self._window.stamp)
            if not all(kept):
                self._end(compress(left, map(not_, kept)), silent, dead)

    def _go(self, left: Rows) -> None:
        self._going += left
        if len(self._going) > 2 * len(self._interest) + AT_ONCE:
            self._going = [*dict.fromkeys(self._going)]

    def adopt(self, topics: Iterable[tuple[Topic, bool]]) -> Rows:
        """Goes on recording topics that another broker has recorded; for each, whether it was followed at this site.

        Returns the (row, topic) that this site did not want before.
        """
        news: Rows = []
        if self._window is not None:
            masks, local = self._interest.masks, self._links.local
            for topic, followed in topics:
                row = self._interest.row_of(topic)
                before = masks[row]
                masks[row] = before | (RECORDED | HERE if followed else RECORDED)
                if followed and not before & (local | HERE):
                    news.append((row, topic))
                if not before & (local if followed else LINKS):
                    self.lingering.add([(row, topic)], self._window.stamp)
        return news

    def adopt_awaited(self, topic: Topic) -> int | None:
        """Begins to record a topic that nobody follows, and that somebody may come back for. Returns its row; None where it is no such."""
        # In this order: mostly nobody is awaited, and all that nobody follows is asked about.
        if not self._awaits(topic) or self._window is None or kind_of(topic) not in self._window.bounds:
            return None
        self.adopt([(topic, False)])
        return self._interest.rows[topic]

    def left(self) -> Rows:
        """Returns the (row, topic) pairs that nobody follows at this site any more, and that linger."""
        masks, local = self._interest.masks, self._links.local
        return [pair for pair in chain(self.lingering.pairs(), self._going) if not masks[pair[0]] & local]

    def pairs(self, left: Rows) -> Rows:
        """Returns the (row, topic) pairs of which there are events in the window, and those of what was `left` that have none."""
        if self._window is None:
            return []
        names = self._window.names()
        return [*names.items(), *(pair for pair in left if pair[0] not in names)]

    def is_followed(self, row: int) -> bool:
        """Returns whether the topic that has `row` is, or was lately, followed at this site. Only of what is recorded that is known."""
        return bool(self._interest.masks[row] & HERE)

    def tick(self, now_s: float) -> tuple[Rows, Rows]:
        """Ends the recording of what nobody has followed for long at `now_s`.

        Returns (rows this site no longer wants, rows that nobody wants).
        """
        if self._window is None:
            return [], []
        self._window.tick(now_s)
        due = [*self.lingering.due(self._may_end(self._window))]
        if due and self._going:  # what was left anew since then waits until it is known whether it goes
            going = {*self._going}
            due = [pair for pair in due if pair not in going]
        return self._ended(due)

    def _may_end(self, window: EventWindow) -> Callable[[Kind], int]:
        """Returns the stamp, of a kind of topics, before which something must have been left to end now.

        What was left while it came here is asked for from the moment on in which it had come, by those who were with its former owner. So
        nothing ends before that moment is too old, too: it would look as if nothing had been published since.
        """
        came_at = self._came_at()
        return lambda kind: limit if came_at is not None and (limit := window.too_old(kind)) > came_at else 0

    def hand_over(self, mine: Mine) -> Iterator[tuple[Rows, Rows]]:
        """Ends, in parts, the recording of what was left and another broker records by now. Yields what `tick` returns.

        `mine(topics)`: tells of each whether it is still this broker's.
        """
        lingering = self.lingering.pairs()
        for start in range(0, len(lingering), AT_ONCE):
            _, gone = _divided(lingering[start : start + AT_ONCE], mine)
            yield self._ended(self.lingering.take(gone))
        while some := self._going[-AT_ONCE:]:
            del self._going[-len(some) :]
            rows, masks = self._interest.rows, self._interest.masks
            # It may have ended as one that had been left before, too, and the number may be another topic's by now.
            there = [(row, topic) for row, topic in some if masks[row] & RECORDED and rows.get(topic) == row]
            stays, gone = _divided(there, mine)
            if self._window is not None:
                self.lingering.add(stays, self._window.stamp)
            yield self._ended(gone)

    @property
    def left_behind(self) -> int:
        """How many topics nobody follows any more and are recorded for a while."""
        return len(self.lingering) + len(self._going)

    def _ended(self, rows: Iterable[tuple[int, Topic]]) -> tuple[Rows, Rows]:
        silent: Rows = []
        dead: Rows = []
        self._end(rows, silent, dead)
        return silent, dead

    def _end(self, rows: Iterable[tuple[int, Topic]], silent: Rows, dead: Rows) -> None:
        """Ends the recording of `rows`, as far as nobody follows them again. Adds those that nobody wants now to `silent` and `dead`."""
        masks, local = self._interest.masks, self._links.local
        there = self._window.rows if self._window is not None else ()
        for pair in rows:
            row = pair[0]
            mask = masks[row]
            if mask & HERE and not mask & local:
                mask ^= HERE
                silent.append(pair)
            if not mask & LINKS:
                mask = 0
                if row in there and self._window is not None:
                    self._window.forget(row)
                dead.append(pair)
            masks[row] = mask

    def record_of_others(self, window: EventWindow, row: int, body: bytes) -> bool:
        """Records an event of another site in `window`. Returns False for a body that no broker has written, which is passed over.

        It would be read again. Once a topic has events its kind is known. Before that the body tells it, which may lie: then the playlist
        of an honest publisher would be kept like presence.
        """
        site, topic = origin_if_sound(body), None
        if site is not None and row not in window:
            topic = topic_in(body)
            site = site if topic is not None and self._interest.rows.get(topic) == row else None
        if site is not None:
            window.record(row, body, site, topic)
        return site is not None


def _divided(rows: Rows, mine: Mine) -> tuple[Rows, Rows]:
    """Returns those of `rows` whose topics are still this broker's, and the others."""
    are_mine = mine([topic for _, topic in rows])
    return [*compress(rows, are_mine)], [*compress(rows, map(not_, are_mine))]

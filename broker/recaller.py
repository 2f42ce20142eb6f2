"""Recaller: what has come on a topic since somebody was cut off, out of the window, or why that cannot be said. Pure.

A stamp of this broker says what the asker has got of all topics. Where there is none, as at another site, numbers do if the window shows
that none is missing behind them. Then it must also have an event that the asker has: nobody knows else how long they were away, and what
other sites have published meanwhile.

What former owners have recorded is here, too, where they have handed it over, and stamps of theirs are understood (`tenure`).

All or nothing: of a topic of which something is missing nothing is given, unless the asker wants the rest.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from infra.kernel.events import after_in, origin_epoch_seq, skipped_in, with_skipped
from infra.kernel.frames import Recall, Recalled
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Kind, Topic, kind_of

from .core import BrokerCore
from .tenure import MOVED, Descent, Tenure
from .window import EventWindow, Missed
from .window_origins import SeenStamps

# So much is given for one question, and in one frame.
MOST_BYTES: Final = 4 << 20
FRAME_BYTES: Final = 1 << 20
EventNumber = tuple[str, int, int]
"""Site, epoch and number of an event."""
Known = Sequence[EventNumber]
"""The last event of each site that an asker has."""


class RecallingLink(NamedTuple):
    """The link on which a question came.

    - `bit`: its number.
    - `is_announced`: whether the asker is done with the view that holds: before, they may be given what former owners still have for them.
    """

    bit: int
    is_announced: bool


class Recaller:
    """The answers of one broker, which owns topics since its `tenure` began. `is_alone`: there are no other sites."""

    def __init__(self, site: str, core: BrokerCore, tenure: Tenure, *, is_alone: bool) -> None:
        self._site, self._core, self._tenure, self._is_alone = site, core, tenure, is_alone

    def owns_now(self) -> None:
        """Notes that no handover is going on: former owners have nothing on its way any more."""
        if (window := self._core.window) is not None:
            if self._tenure.is_taking_over:
                # The last stamp may be one of before. Whoever has it may lack what a former owner had last, and did not hand over.
                window.give_stamp()
            self._tenure.end(window.stamp, window.oldest)

    def answers(self, asker: RecallingLink, recall: Recall) -> Iterator[Recalled]:
        """Yields the answer to `recall`, which `asker` has asked, in frames that are not too large."""
        stamps = self._reached(asker.bit)
        epoch = self._core.window.epoch if self._core.window is not None else 0
        part = Recalled(recall.n, [], [], [], [], stamps, epoch)
        size_bytes = part_bytes = 0
        for at, topic in enumerate(recall.topics):
            missed, quiet = self._missed(asker, Topic(topic), recall, recall.since[at] if recall.since else ())
            size = sum(map(len, missed.bodies))
            if size_bytes + size > MOST_BYTES:
                missed, size, quiet = Missed([], LossReason.TOO_MUCH), 0, 0
            if part_bytes + size > FRAME_BYTES and part.topics:
                yield part
                part, part_bytes = Recalled(recall.n, [], [], [], [], stamps, epoch), 0
            part.topics.append(topic)
            part.reasons.append(missed.reason)
            part.counts.append(len(missed.bodies))
            part.bodies.extend(missed.bodies)
            part.quiet.append(quiet if stamps else 0)
            size_bytes, part_bytes = size_bytes + size, part_bytes + size
        yield part

    def _reached(self, bit: int) -> dict[int, int]:
        """Returns up to where an answer on link `bit` has everything; nothing while the link is behind, for there topics differ."""
        window, laggards = self._core.window, self._core.laggards
        if window is None or laggards is None or bit in laggards:
            return {}
        # Of what former owners have recorded, all is here.
        return {past.epoch: past.end for past in self._tenure.pasts} | {window.epoch: window.stamp}

    def _missed(self, asker: RecallingLink, topic: Topic, recall: Recall, known: Known) -> tuple[Missed, int]:
        """Returns what the asker has missed of `topic`, and behind which stamp nothing has come (see `Recalled`)."""
        core, window, bit = self._core, self._core.window, asker.bit
        kind, row = kind_of(topic), core.interest.rows.get(topic)
        if window is None or core.laggards is None or kind not in window.bounds:
            return Missed([], LossReason.NO_WINDOW), 0
        if not core.owns(topic) or (not asker.is_announced and self._tenure.has_moved(topic)):
            return Missed([], MOVED), 0
        until = core.laggards.until(bit, row) if row is not None else None
        if until is not None and until < recall.stamps.get(window.epoch, 0):
            # What the asker has by another way is still to come on this link. It would come again behind the answer.
            return Missed([], MOVED), 0
        descent = self._tenure.descend(topic, recall.stamps)
        found = self._found(window, row, kind, recall.stamps, descent, until)
        if found.reason == MOVED:
            return found, 0
        kept = window.kept(row, until) if known else []
        had = _had(known, kept)
        if not found.reason:
            # Behind the stamp of the asker the window is whole. Further back, or in those of former owners, nothing was looked at.
            quiet = max(recall.stamps[window.epoch], window.newest(row)) if descent.begins.keys() == {window.epoch} else 0
            return Missed([body for body in found.bodies if origin_epoch_seq(body) not in had]) if had else found, quiet
        if known and row is not None and found.reason != LossReason.SPLIT and self._is_anchored(window, row, had):
            # What was there when these came never came itself. So they show nothing, and numbers would jump behind them.
            broken = {*map(origin_epoch_seq, window.broken_off(row, self._site.encode()))}
            shown = [body for body in kept if origin_epoch_seq(body) not in broken]
            if self._shows_all(topic, shown, known, had, is_latest=window.bounds[kind].keep == "latest"):
                lacked = self._lacked(window, row, recall.stamps, descent, until)
                return Missed([_told(known, body) for body in lacked if origin_epoch_seq(body) not in had | broken]), 0
        behind = SeenStamps(recall.stamps, frozenset())
        return Missed(window.rest(row, behind.has, until) if recall.rest else [], found.reason), 0

    def _found(
        self, window: EventWindow, row: int | None, kind: Kind, stamps: dict[int, int], descent: Descent, until: int | None
    ) -> Missed:
        """Returns what has come behind `stamps` from the owners of a topic since then, by its `descent`."""
        if descent.reason:
            # Who says nothing of any broker was not here before.
            is_unknown = descent.reason == LossReason.OWNER_LOST and not stamps
            return Missed([], LossReason.EXPIRED if is_unknown else descent.reason)
        if descent.begins.keys() == {window.epoch} and not window.has_inherited(row):
            return window.topic_after(row, kind, stamps[window.epoch], until)
        for epoch, begin in descent.begins.items():
            if epoch == window.epoch:
                evicted, too_old, newest = window.evicted, window.too_old(kind), window.stamp
            else:
                evicted, too_old = self._horizon(window, epoch, kind)
                newest = begin
            if begin > newest:  # nobody was given it
                return Missed([], LossReason.OWNER_LOST)
            if begin < evicted:
                return Missed([], LossReason.EVICTED)
            if begin < too_old:
                return Missed([], LossReason.EXPIRED)
        return window.moved_after(row, descent.seen(stamps), until)

    def _lacked(self, window: EventWindow, row: int, stamps: dict[int, int], descent: Descent, until: int | None) -> list[bytes]:
        """Returns the events of a topic that are here, without those that had come before somebody was given `stamps`.

        These may be too old to show that nothing is missing, and what they say has come must not come again all the same.
        """
        if stamps.get(window.epoch, 0) > window.stamp:  # nobody was given them
            return window.kept(row, until)
        return window.rest(row, descent.surely_seen(stamps), until)

    def _horizon(self, window: EventWindow, epoch: int, kind: Kind) -> tuple[int, int]:
        evicted, too_old = self._tenure.horizon(epoch, kind)
        return max(evicted, window.origins.evicted(epoch)), max(too_old, window.origins.too_old(epoch, window.bounds[kind].seconds))

    def _shows_all(self, topic: Topic, kept: list[bytes], known: Known, had: set[EventNumber], *, is_latest: bool) -> bool:
        """Tells whether the numbers show that nothing is missing in `kept` which comes after what is `known`."""
        return all(self._goes_on(topic, kept, mine, had, is_latest=is_latest) for mine in known)

    def _is_anchored(self, window: EventWindow, row: int, had: set[EventNumber]) -> bool:
        """Tells whether everything is there behind an event that an asker `had`: of other sites, and of those of which they had none.

        Where there are no other sites, the numbers alone show that.
        """
        if self._is_alone:
            return True
        is_unheard = self._core.unheard is not None and row in self._core.unheard
        return not is_unheard and window.is_whole_behind(row, lambda body: origin_epoch_seq(body) in had)

    def _goes_on(self, topic: Topic, kept: list[bytes], mine: EventNumber, had: set[EventNumber], *, is_latest: bool) -> bool:
        """Tells whether the events of one site are all there behind the one that is `mine`, also from one epoch to the next (DPS-1)."""
        site, *last = mine
        place, found = (last[0], last[1]), False
        for body in kept:
            origin, epoch, seq = origin_epoch_seq(body)
            if origin != site:
                continue
            found = True
            if (origin, epoch, seq) in had:
                continue
            if epoch == place[0]:
                if seq > place[1] + 1 and not is_latest:
                    return False
                place = max(place, (epoch, seq))
            elif after_in(body) == place:
                place = epoch, seq
            else:
                return False
        return self._core.numbers.last(topic) == place if site == self._site else found


def _had(known: Known, kept: list[bytes]) -> set[EventNumber]:
    """Returns those of `kept` that somebody has, by the numbers that are `known`.

    They name one epoch of a site. What stands before their last event there is of that epoch, or of a former one. So they have it, too.
    """
    had = set[EventNumber]()
    places = [origin_epoch_seq(body) for body in kept]
    for site, epoch, last in known:
        of_site = [place for place in places if place[0] == site]
        behind = next((at + 1 for at in reversed(range(len(of_site))) if of_site[at][1] == epoch and of_site[at][2] <= last), 0)
        had.update(of_site[:behind])
    return had


def _told(known: Known, body: bytes) -> bytes:
    """Returns the body of a latest event, saying what it has replaced behind the number that is `known`."""
    site, epoch, seq = origin_epoch_seq(body)
    for mine in known:
        if (site, epoch) == (mine[0], mine[1]) and (more := seq - mine[2] - 1 - skipped_in(body)) > 0:
            return with_skipped(body, more)
    return body

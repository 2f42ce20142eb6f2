"""Inheritance: the window of a topic goes with it, from its former owner to the new one (DPS-13).

The former owner sends what it has recorded of what moves, and names topics that nobody follows any more, so that the new owner goes on
recording them. It sends a part in each turn (`KeptEvents`). At the end it says how many there were, and since when it has owned what
(`Past`). The seal stands behind that (`moving`). A new owner that does not have all of it claims nothing of these topics.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from infra.kernel.frames import KeptEvents, Past, PastTenure, View
from infra.kernel.topics import Topic, kind_of

from .core import BrokerCore
from .recorded_rows import Rows
from .tenure import Tenure
from .window import EventWindow
from .window_origins import InheritedTopic, WindowPlace

# So many topics are looked at in one turn, and about so much is said in one frame.
AT_ONCE: Final = 512
FRAME_BYTES: Final = 1 << 18
NOWHERE: Final = (0, 0)

GoesTo = Callable[[Sequence[Topic]], Sequence[str | None]]
"""Returns the slots that topics go to; None for one that stays."""


class Inheritance:
    """The way of what is recorded of topics that move: from the window of one broker to others, and from theirs into it.

    - `slot`: that of the broker. `core`: has its topics and its window.
    - `tenure`: knows since when topics are its own.
    - `adopt(topics)`: goes on recording topics that may have no followers; for each, whether it was followed at this site.
    """

    def __init__(self, slot: str, core: BrokerCore, tenure: Tenure, adopt: Callable[[Sequence[tuple[Topic, bool]]], None]) -> None:
        self._slot, self._core, self._tenure, self._adopt = slot, core, tenure, adopt
        # Slot -> how many parts have come over its link, and what it has said at the end of them.
        self._came: dict[str, int] = {}
        self._ended: dict[str, Past] = {}

    def left(self) -> Rows:
        """Returns what nobody follows any more at this site, and is recorded: of that, nobody else has heard."""
        return self._core.recorded.left()

    def leaving(self, goes_to: GoesTo, left: Rows) -> Iterator[tuple[str, KeptEvents] | None]:
        """Yields the parts of what goes to others, each with the slot that it goes to; None after each turn's work.

        `left`: what `left` has returned when that was known.
        """
        window = self._core.window
        if window is None:
            return
        recorded = self._core.recorded.pairs(left)
        for start in range(0, len(recorded), AT_ONCE):
            parts: dict[str, KeptPart] = {}
            some = recorded[start : start + AT_ONCE]
            for (row, topic), slot in zip(some, goes_to([topic for _, topic in some]), strict=True):
                if slot is not None and self._core.interest.rows.get(topic) == row:
                    part = parts.setdefault(slot, KeptPart())
                    part.add(topic, self._core.recorded.is_followed(row), self._past(window, row))
                    if part.bytes > FRAME_BYTES:
                        yield slot, part.frame()
                        del parts[slot]
            for slot, part in parts.items():
                yield slot, part.frame()
            yield None

    def _past(self, window: EventWindow, row: int) -> InheritedTopic | None:
        """Returns what is here of the topic that has `row`, and whether other sites send everything here that they publish on it."""
        past, unheard = window.past(row), self._core.unheard
        is_heard = self._core.recorded.is_followed(row) and (unheard is None or row not in unheard)
        return past if is_heard else (past or InheritedTopic([])).as_unheard()

    def parts(self, topics: Iterable[Topic]) -> Iterator[KeptEvents]:
        """Yields what is recorded of `topics`, in parts that are not too large."""
        part, rows, window = KeptPart(), self._core.interest.rows, self._core.window
        for topic in topics:
            row = rows.get(topic)
            if window is not None and row is not None and (past := window.past(row)) is not None:
                part.add(topic, self._core.recorded.is_followed(row), past)
                if part.bytes > FRAME_BYTES:
                    yield part.frame()
                    part = KeptPart()
        yield part.frame()

    def ending(self, number: int, frames: int) -> Past:
        """Returns what is said behind `frames` parts that have gone to one broker in the step to the view `number`."""
        window = self._core.window
        assert window is not None
        horizons = {past.epoch: horizons_at(window, past) for past in self._tenure.pasts}
        too_old = {str(kind): window.too_old(kind) for kind in window.bounds}
        mine = PastTenure(window.epoch, self._slot, window.stamp, window.evicted, too_old, [])
        return Past(number, frames, [replace(horizons.get(each.epoch, each), stream=each.stream) for each in self._tenure.told(mine)])

    # What comes.

    def link_up(self, slot: str) -> None:
        """Notes that a broker comes over another link: what is missing of what it said before will not come."""
        self._came.pop(slot, None)
        self._ended.pop(slot, None)

    def take(self, slot: str, kept: KeptEvents) -> None:
        """Takes a part over that the broker `slot` hands over."""
        self._came[slot] = self._came.get(slot, 0) + 1
        window, rows = self._core.window, self._core.interest.rows
        if window is None:
            return
        mine = [(Topic(topic), followed) for topic, followed in zip(kept.topics, kept.followed, strict=True)]
        self._adopt([(topic, followed) for topic, followed in mine if kind_of(topic) in window.bounds])
        for topic, past in zip((topic for topic, _ in mine), topics_of(kept), strict=True):
            if (row := rows.get(topic)) is not None:
                window.inherit(row, topic, past)
                if self._core.unheard is not None and past.unheard <= len(past.entries):
                    self._core.unheard.discard(row)

    def end(self, slot: str, past: Past) -> None:
        """Notes that the broker `slot` has said everything that it has to say in a step."""
        if self._came.pop(slot, 0) == past.frames:
            self._ended[slot] = past
        else:
            self._ended.pop(slot, None)

    def sealed(self, slot: str, view: View) -> None:
        """Notes that nothing more comes from `slot` of what is others' under `view`: if all of it is there, that is known from now on."""
        window, past = self._core.window, self._ended.get(slot)
        if window is not None and past is not None and past.number >= view.number:
            self._tenure.handed(slot, view, past.tenures, window.stamp)
            window.origins.keep(each.epoch for each in self._tenure.pasts)


def horizons_at(window: EventWindow, past: PastTenure) -> PastTenure:
    """Returns the tenure of another broker, with how far its events have gone from `window`."""
    origins = window.origins
    too_old = {
        str(kind): max(past.too_old.get(kind, 0), origins.too_old(past.epoch, bounds.seconds)) for kind, bounds in window.bounds.items()
    }
    return replace(past, evicted=max(past.evicted, origins.evicted(past.epoch)), too_old=too_old)


class KeptPart:
    """A part of what goes to one broker; `bytes`: the length of its events."""

    def __init__(self) -> None:
        self._frame = KeptEvents([], [], [], [], [], [], [], [], [])
        self.bytes = 0

    def add(self, topic: Topic, followed: bool, past: InheritedTopic | None) -> None:
        """Adds what is there of `topic`; None: nothing, but it is recorded."""
        frame, entries = self._frame, past.entries if past is not None else ()
        frame.topics.append(topic)
        frame.followed.append(followed)
        frame.counts.append(len(entries))
        for (epoch, stamp), body in entries:
            frame.epochs.append(epoch)
            frame.stamps.append(stamp)
            frame.bodies.append(body)
            self.bytes += len(body)
        lost, replaced = (past.lost or NOWHERE, past.replaced or NOWHERE) if past is not None else (NOWHERE, NOWHERE)
        frame.lost.append((*lost, past is not None and past.is_out))
        frame.replaced.append((*replaced, past.replacements if past is not None else 0))
        frame.unheard.append(past.unheard if past is not None else 0)

    def frame(self) -> KeptEvents:
        """Returns the frame, which nobody may change from now on."""
        return self._frame


def topics_of(kept: KeptEvents) -> Iterator[InheritedTopic]:
    """Yields what is said of each topic."""
    at = 0
    unheard = kept.unheard or [0] * len(kept.topics)  # a broker of an older version does not say it
    rows = zip(kept.counts, kept.lost, kept.replaced, unheard, strict=True)
    for count, (*lost, is_out), (*replaced, replacements), until in rows:
        end = at + count
        entries = list(zip(zip(kept.epochs[at:end], kept.stamps[at:end], strict=True), kept.bodies[at:end], strict=True))
        yield InheritedTopic(entries, _place(lost), is_out, _place(replaced), replacements, until)
        at = end


def _place(said: Sequence[int]) -> WindowPlace | None:
    return (said[0], said[1]) if any(said) else None

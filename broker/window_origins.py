"""Origins: where the events of a window were recorded that have come from another one, with topics that moved. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

WindowPlace = tuple[int, int]
"""Epoch of a broker, and a stamp of its window."""


class InheritedTopic(NamedTuple):
    """The part of a window that is about one topic, as its next owner takes it over.

    - `entries`: in order: where each event was recorded, and its body. A body that is no event is the site of one that is missing.
    - `lost`: where the last event stood that is missing and not too old; `is_out`: whether it was not delivered.
    - `replaced`, `replacements`: where the newest one stood that a newer one replaced, and how many such there were.
    - `unheard`: up to which of the `entries` something may be missing of what other sites published; one more: that is still so.
    """

    entries: Sequence[tuple[WindowPlace, bytes]]
    lost: WindowPlace | None = None
    is_out: bool = False
    replaced: WindowPlace | None = None
    replacements: int = 0
    unheard: int = 0

    @property
    def before_lost(self) -> int:
        """How many of the `entries` stand before what is missing: those in front of the first one that its broker recorded behind it.

        Of a topic that had come back what stood first stays first, though what was lost elsewhere came behind it.
        """
        epoch, stamp = self.lost or (0, 0)
        return next((at for at, (place, _) in enumerate(self.entries) if place[0] == epoch and place[1] > stamp), 0)

    def as_unheard(self) -> "InheritedTopic":
        """Returns the same of a topic of which other sites do not send everything."""
        return self._replace(unheard=len(self.entries) + 1)


class Origins:
    """The origins of events: stamp of this window -> where it was recorded.

    What is not here was recorded in this window. The horizons of other windows rise when something of theirs goes here.
    """

    __slots__ = ("_evicted", "_too_old", "places")

    def __init__(self) -> None:
        # Public for the hot path: where it is empty, nobody asks.
        self.places: dict[int, WindowPlace] = {}
        self._evicted: dict[int, int] = {}
        self._too_old: dict[tuple[int, float], int] = {}

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, stamp: int) -> bool:
        return stamp in self.places

    def add(self, stamp: int, place: WindowPlace) -> None:
        """Notes that the event which has `stamp` here was recorded at `place`."""
        self.places[stamp] = place

    def get(self, stamp: int) -> WindowPlace | None:
        """Returns where the event was recorded that has `stamp` here; None: here."""
        return self.places.get(stamp)

    def forget(self, stamp: int) -> bool:
        """Forgets an event that is gone. Returns whether it had come from another window."""
        return self.places.pop(stamp, None) is not None

    def evict(self, stamp: int) -> None:
        """Notes that the event which has `stamp` here goes for want of memory."""
        if (place := self.places.get(stamp)) is not None:
            self._evicted[place[0]] = max(place[1], self._evicted.get(place[0], 0))

    def expire(self, stamp: int, seconds: float) -> None:
        """Notes that the event which has `stamp` here goes because its kind is kept for so many `seconds`."""
        if (place := self.places.get(stamp)) is not None:
            key = place[0], seconds
            self._too_old[key] = max(place[1], self._too_old.get(key, 0))

    def evicted(self, epoch: int) -> int:
        """Returns up to which stamp of `epoch` events went here for want of memory."""
        return self._evicted.get(epoch, 0)

    def too_old(self, epoch: int, seconds: float) -> int:
        """Returns up to which stamp of `epoch` events that are kept for so many `seconds` went here because they were too old."""
        return self._too_old.get((epoch, seconds), 0)

    def keep(self, epochs: Iterable[int]) -> None:
        """Forgets what is of other `epochs`: nobody asks for them any more."""
        known = {*epochs}
        self._evicted = {epoch: stamp for epoch, stamp in self._evicted.items() if epoch in known}
        self._too_old = {key: stamp for key, stamp in self._too_old.items() if key[0] in known}


class SeenStamps(NamedTuple):
    """The stamps up to which somebody has everything of a topic, of each broker that has owned it.

    - `stamps`: epoch -> stamp, as they say.
    - `epochs`: those of the owners since then.
    """

    stamps: Mapping[int, int]
    epochs: frozenset[int]

    def has(self, place: WindowPlace) -> bool:
        """Tells whether they have what was recorded at `place`: what is older than all of `epochs`, they have."""
        epoch, stamp = place
        return stamp <= self.stamps.get(epoch, 0 if epoch in self.epochs else stamp)

    def lacks_older(self, place: WindowPlace) -> bool:
        """Tells whether they lack what was recorded at `place`, although a later owner has served them since: it was lost on its way."""
        return place[0] not in self.epochs and not self.has(place)

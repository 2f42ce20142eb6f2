"""Open losses: what was a broker's that is gone, or was out of the view, as long as its heirs may have all of it (DPS-18). Pure.

Heirs are asked when the view comes that leaves the broker out. When they have said what they have, the rest is lost. One that does not
answer has nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from infra.kernel.bequest import Bequest
from infra.kernel.ring import Ring, hash64
from infra.kernel.topics import Topic, kind_of

# So many heartbeats an heir that does not answer is waited for.
ORPHANED_BEATS: Final = 4


@dataclass(slots=True)
class OpenLoss:
    """The loss of what a broker owned on a `ring`, since the heartbeat `beat`.

    - `stale`: what heirs were asked of an earlier loss of it.
    - `bequest`: what they have said of this one; None where nobody was asked yet.
    - `passed_over`: the topics of which events were passed over, since they are its heirs' to give. None where it was lost itself: then
      all that it owned may lack something.
    - `is_back`: another process of it is there in its place, and is linked.
    - `epochs`: where heirs are asked behind that, those of the process that is lost, and of earlier ones. An heir that was started again
      may have all of a later process, and nothing of this one. None where only this one can be meant.
    """

    slot: str
    ring: Ring
    beat: int
    stale: Bequest | None = None
    bequest: Bequest | None = None
    passed_over: set[Topic] | None = None
    is_back: bool = False
    epochs: frozenset[int] | None = None

    def concerns(self, topic: Topic) -> bool:
        """Tells whether `topic` may lack something, by what heirs have said. So does what was passed over where the heir is not known."""
        hashed = hash64(topic)
        if self.ring.owner_at(hashed) != self.slot:
            return self.passed_over is not None
        if self.bequest is None:
            return True
        # An heir speaks of what it was the heir of. What another one had, that is gone too, is its own then without a past.
        heir = self.ring.heir_at(hashed)
        if heir is None or heir != self.bequest.ring.owner_at(hashed) or kind_of(topic) not in (self.bequest.heirs.get(heir) or ()):
            return True
        return self.epochs is not None and self.epochs.isdisjoint(self.bequest.epochs.get(heir, ()))


class OpenLosses:
    """The losses of which nobody has been told yet, since heirs may have everything.

    `bequests`: slot -> what heirs were asked of the last loss of a broker.
    """

    def __init__(self, bequests: Mapping[str, Bequest]) -> None:
        self._bequests = bequests
        self._losses: list[OpenLoss] = []
        self._stale: dict[str, Bequest | None] = {}

    def __len__(self) -> int:
        return len(self._losses)

    @property
    def slots(self) -> set[str]:
        """The brokers that have lost something."""
        return {loss.slot for loss in self._losses}

    def link_down(self, slot: str, *, is_back: bool) -> None:
        """Notes that the link to `slot` is broken. `is_back`: it went by the view that holds, so heirs were asked of an earlier loss."""
        self._stale[slot] = self._bequests.get(slot) if is_back else None

    def note(self, slot: str, ring: Ring, beat: int, *, is_out: bool, epochs: frozenset[int] = frozenset()) -> None:
        """Notes a loss, beside those of the same broker that are still open.

        - `is_out`: the view that holds leaves it out. Otherwise another process is back in its place.
        - `epochs`: those that it had said until then. They count where nobody has been asked yet.
        """
        stale, bequest = self._stale.get(slot), self._bequests.get(slot)
        if bequest is stale:
            bequest = None
        if is_out and bequest is None:
            bequest = Bequest(Ring(()))  # it left as planned: no heir is asked
        later = epochs if bequest is None else None
        self._losses.append(OpenLoss(slot, ring, beat, stale, bequest, is_back=not is_out, epochs=later))

    def pass_over(self, slot: str, ring: Ring, topics: Collection[Topic], beat: int) -> None:
        """Notes that events on `topics` were passed over that `slot` has sent while it was out of the view. It had gone by `ring`."""
        # Behind them it may have come back, and left as planned: then it has no heirs any more.
        bequest = self._bequests.get(slot) or Bequest(Ring(()))
        for loss in self._losses:
            if loss.passed_over is not None and loss.bequest is bequest:
                loss.passed_over.update(topics)
                return
        self._losses.append(OpenLoss(slot, ring, beat, bequest=bequest, passed_over={*topics}))

    def closed(self, beat: int, *, has_copies: bool) -> list[OpenLoss]:
        """Returns the losses that are open no more by the heartbeat `beat`."""
        open_losses, self._losses = self._losses, []
        closed: list[OpenLoss] = []
        for loss in open_losses:
            is_open = self._is_open(loss, has_copies=has_copies) and beat - loss.beat <= ORPHANED_BEATS
            (self._losses if is_open else closed).append(loss)
        return closed

    def _is_open(self, loss: OpenLoss, *, has_copies: bool) -> bool:
        """Tells whether an heir has still to say what it has, or to be asked."""
        if loss.bequest is None and (bequest := self._bequests.get(loss.slot)) is not loss.stale:
            loss.bequest = bequest
        # One that was replaced is out of the next view, where there are copies, and a broker that has them.
        return has_copies and bool(loss.ring.heirs(loss.slot)) if loss.bequest is None else loss.bequest.is_open

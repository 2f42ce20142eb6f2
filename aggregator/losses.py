"""Losses: which topics may lack something because the broker that owned them was lost. Pure.

A link that breaks and comes back to the same process goes on where it was. To another process it does not, and neither does it where the
ring has given the topics to others meanwhile: what the lost one had published last may be missing, and no number shows it (DPS-8).

Where there are copies, heirs may have all of it (DPS-18). Until they have said that, a loss is open.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from infra.kernel.bequest import Bequest
from infra.kernel.ring import Ring

# So many heartbeats an heir that does not answer is waited for.
ORPHANED_BEATS: Final = 4


class OwnerLosses:
    """The brokers of one site whose links are broken, with what they owned then."""

    def __init__(self) -> None:
        self._incarnations: dict[str, int] = {}
        # The last ring that each was in, and those of which links are broken.
        self._rings: dict[str, Ring] = {}
        self._broken: dict[str, Ring] = {}

    def follow(self, ring: Ring, doubted: Collection[str] = ()) -> list[tuple[str, Ring]]:
        """Notes the ring that holds. Returns whom it has replaced while the link was broken, and what they owned.

        `doubted`: those that have not said on their links that they go by this ring. A link may be half open, and another process in the
        ring.
        """
        self._rings.update({slot: ring for slot in ring.slots if slot not in doubted or slot not in self._rings})
        gone = [(slot, before) for slot, before in self._broken.items() if slot not in ring.slots]
        for slot, _ in gone:
            del self._broken[slot], self._rings[slot]
        return gone

    def link_up(self, slot: str, incarnation: int) -> Ring | None:
        """Notes a link to `slot`. Returns the ring under which its topics were lost, None where nothing was."""
        before, ring = self._incarnations.get(slot), self._broken.pop(slot, None)
        self._incarnations[slot] = incarnation
        return ring if before not in (None, incarnation) else None

    def link_down(self, slot: str, *, is_left: bool) -> None:
        """Notes that the link to `slot` is broken. `is_left`: it had left the ring, and nobody is served by it any more."""
        if is_left:
            self._rings.pop(slot, None)
        elif (ring := self._rings.get(slot)) is not None:
            self._broken[slot] = ring


@dataclass(slots=True)
class _OpenLoss:
    """The loss of what a broker owned on a `ring`, since the heartbeat `beat`.

    - `stale`: what heirs were asked of an earlier loss of it.
    - `bequest`: what they have said of this one; None where nobody was asked yet.
    """

    slot: str
    ring: Ring
    beat: int
    stale: Bequest | None
    bequest: Bequest | None = None


class OpenLosses:
    """The losses of brokers of which nobody has been told yet, since their heirs may have everything.

    `bequests`: slot -> what heirs were asked of the last one of a broker.
    """

    def __init__(self, bequests: Mapping[str, Bequest]) -> None:
        self._bequests = bequests
        self._losses: list[_OpenLoss] = []
        self._stale: dict[str, Bequest | None] = {}

    def __len__(self) -> int:
        return len(self._losses)

    @property
    def slots(self) -> set[str]:
        """The brokers that were lost."""
        return {loss.slot for loss in self._losses}

    def link_down(self, slot: str, *, is_back: bool) -> None:
        """Notes that the link to `slot` is broken. `is_back`: it went by the view that holds, so heirs were asked of an earlier loss."""
        self._stale[slot] = self._bequests.get(slot) if is_back else None

    def note(self, slot: str, ring: Ring, beat: int) -> None:
        """Notes a loss, beside those of the same broker that are still open."""
        self._losses.append(_OpenLoss(slot, ring, beat, self._stale.get(slot)))

    def closed(self, beat: int, *, has_copies: bool) -> list[tuple[str, Ring, Bequest | None]]:
        """Returns the losses that are open no more by the heartbeat `beat`: whose they are, on which ring, and what heirs have of them."""
        open_losses, self._losses = self._losses, []
        closed = []
        for loss in open_losses:
            if loss.bequest is None and (bequest := self._bequests.get(loss.slot)) is not loss.stale:
                loss.bequest = bequest
            # One that was replaced is out of the next view, where there are copies, and a broker that has them.
            is_open = has_copies and bool(loss.ring.heirs(loss.slot)) if loss.bequest is None else loss.bequest.is_open
            if is_open and beat - loss.beat <= ORPHANED_BEATS:
                self._losses.append(loss)
            else:
                closed.append((loss.slot, loss.ring, loss.bequest))
        return closed

"""Losses: which topics may lack something because the broker that owned them was lost. Pure.

A link that breaks and comes back to the same process goes on where it was. To another process it does not, and neither does it where the
ring has given the topics to others meanwhile: what the lost one had published last may be missing, and no number shows it (DPS-8).
"""

from infra.kernel.ring import Ring


class OwnerLosses:
    """The brokers of one site whose links are broken, with what they owned then."""

    def __init__(self) -> None:
        self._incarnations: dict[str, int] = {}
        # The last ring that each was in, and those of which links are broken.
        self._rings: dict[str, Ring] = {}
        self._broken: dict[str, Ring] = {}

    def follow(self, ring: Ring) -> list[tuple[str, Ring]]:
        """Notes the ring that holds. Returns whom it has replaced while the link was broken, and what they owned."""
        self._rings.update(dict.fromkeys(ring.slots, ring))
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

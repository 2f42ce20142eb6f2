"""Losses: which topics may lack something because the broker that owned them was lost. Pure.

A link that breaks and comes back to the same process goes on where it was. To another process it does not, and neither does it where the
ring has given the topics to others meanwhile: what the lost one had published last may be missing, and no number shows it (DPS-8).

Where there are copies, heirs may have all of it (DPS-18): see `open_losses`.

Topics may also move, as planned, from or to a broker while there is no link to it. What it published on them meanwhile nobody gives us:
a new owner gives what is new to it, and a process that was never linked does not know of us. So that may be missing, too, also where they
have come back to it by now: it kept nothing of them for us when they went. So may what it published on topics whose owner was lost, also
behind what was told of that loss: nobody has told it who follows them.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from infra.kernel.ring import Ring, hash64
from infra.kernel.topics import Topic

# So many rings are remembered that held while a broker was not linked. Of more of them, the oldest and the newest.
MOST_RINGS: Final = 64


class MovedUnseen:
    """The topics that moved while there was no link to the broker `slot`, and of which it may have published something meanwhile.

    - `rings`: those that held meanwhile, in order.
    - `was_linked`: whether it had been linked before that, so that what it owned under the first of them came from it.
    - `now`: the ring under which it goes on where its link broke; None where it does not.
    - `begun`: topics with which it begins all the same.
    """

    def __init__(self, slot: str, rings: Sequence[Ring], *, was_linked: bool, now: Ring | None, begun: Collection[Topic] = ()) -> None:
        self.slot = slot
        self._rings, self._was_linked, self._now, self._begun = rings, was_linked, now, begun

    def __call__(self, topic: Topic, *, has_copies: bool) -> bool:
        """Tells whether `topic` is one of them. `has_copies`: heirs keep what comes on topics whose owner is lost."""
        hashed, slot = hash64(topic), self.slot
        if self._has_come_from_nobody(hashed, has_copies=has_copies):
            return True
        has = [ring.owner_at(hashed) == slot for ring in self._rings]
        if self._now is not None and self._now.owner_at(hashed) == slot and topic not in self._begun:
            # It goes on with it, but not with what it published before it handed it over: that comes back as what it has given to all.
            return any(before and not after for before, after in pairwise(has))
        has_come = any(after and not before for before, after in pairwise(has))
        return has_come or (has[0] and not has[-1] and self._was_linked and self._now is not None)

    def _has_come_from_nobody(self, hashed: int, *, has_copies: bool) -> bool:
        """Tells whether the broker has got a topic since its owner was lost, and has not heard from that who follows it.

        An heir takes it for followed all the same. One that was in no view before is no heir.
        """
        for before, after in pairwise(self._rings):
            owner = before.owner_at(hashed)
            is_lost = owner is not None and owner not in after.slots
            if is_lost and after.owner_at(hashed) == self.slot and not (has_copies and self.slot in before.slots):
                return True
        return False


class OwnerLosses:
    """The brokers of one site whose links are broken, with what they owned then."""

    def __init__(self) -> None:
        self._incarnations: dict[str, int] = {}
        # The last ring by which each is known to go, and those that held since and have it, too; the first of them, of broken links.
        self._rings: dict[str, list[Ring]] = {}
        self._broken: dict[str, Ring] = {}
        # The ring that holds, and those that held while a broker was not linked.
        self._ring: Ring | None = None
        # Whether anybody has owned anything before.
        self._has_begun = False
        self._unlinked: dict[str, list[Ring]] = {}
        self._linked: set[str] = set()
        self._moved: list[MovedUnseen] = []

    def rings(self, slot: str) -> Sequence[Ring]:
        """Returns the last ring by which the broker `slot` is known to go, and those by which it may go since; none where none is known."""
        return tuple(self._rings.get(slot, ()))

    def take_moved(self) -> list[MovedUnseen]:
        """Returns what has moved unseen, as far as that was not returned before."""
        moved, self._moved = self._moved, []
        return moved

    def hold(self, ring: Ring) -> None:
        """Notes the ring that holds, before it is noted who is linked under it."""
        if (before := self._ring) is ring:
            return
        self._ring = ring
        self._has_begun = self._has_begun or bool(before is not None and before.slots)
        if before is not None and self._has_begun:  # a site without owners, for a while, does not begin
            for slot in sorted({*ring.slots, *self._unlinked} - self._linked):
                _remember(ring, self._unlinked.setdefault(slot, [before]))
        # One whose link is broken may be about to say this itself, on its next one. Then it is the same process, or another one.
        for slot in sorted(self._unlinked.keys() - ring.slots - self._broken.keys()):
            self._unseen(slot, None)

    def _unseen(self, slot: str, now: Ring | None, begun: Collection[Topic] = ()) -> None:
        """Notes what moved while `slot` was not linked. `now`, `begun`: see `MovedUnseen`."""
        rings = self._unlinked.pop(slot, [])
        moves = {move for before, after in pairwise(rings) for move in before.parts(after)}
        has_come, has_gone = (any(move[at] == slot and move[0] != move[1] for move in moves) for at in (1, 0))
        if has_come or (has_gone and now is not None):
            self._moved.append(MovedUnseen(slot, rings, was_linked=slot in self._incarnations, now=now, begun=begun))

    def follow(self, ring: Ring, doubted: Collection[str] = ()) -> list[tuple[str, Ring]]:
        """Notes the ring that holds. Returns whom it has replaced while the link was broken, and what they owned.

        `doubted`: those that have not said on their links that they go by this ring. A link may be half open, and another process in the
        ring.
        """
        self.hold(ring)
        for slot in ring.slots:
            if slot in doubted and slot in self._rings:
                _remember(ring, self._rings[slot])
            else:
                self._rings[slot] = [ring]
        gone = [(slot, before) for slot, before in self._broken.items() if slot not in ring.slots]
        for slot, _ in gone:
            self._unseen(slot, None)
            del self._broken[slot], self._rings[slot]
        return gone

    def link_up(self, slot: str, incarnation: int, begun: Collection[Topic] = ()) -> Ring | None:
        """Notes a link to `slot`. Returns the ring under which its topics were lost, None where nothing was.

        `begun`: topics that are new to it, where it goes on with others.
        """
        before, ring = self._incarnations.get(slot), self._broken.pop(slot, None)
        self._unseen(slot, self._ring if before == incarnation else None, begun)
        self._linked.add(slot)
        self._incarnations[slot] = incarnation
        return ring if before not in (None, incarnation) else None

    def link_down(self, slot: str, *, is_left: bool) -> None:
        """Notes that the link to `slot` is broken. `is_left`: it had left the ring, and nobody is served by it any more."""
        self._linked.discard(slot)
        if is_left:
            self._rings.pop(slot, None)
        elif (rings := self._rings.get(slot)) is not None:
            newest = self._ring if self._ring is not None else rings[-1]
            self._broken[slot], self._unlinked[slot] = rings[0], [*rings]
            _remember(newest, self._unlinked[slot])


def _remember(ring: Ring, rings: list[Ring]) -> None:
    """Notes that `ring` holds behind `rings`. Of too many, the oldest and the newest are kept."""
    if rings[-1] is not ring:
        rings.append(ring)
        del rings[1 : max(1, len(rings) - MOST_RINGS + 1)]

"""Bereavements: those who subscribe and have lost a broker without a word get from its heir what they have not got of it (DPS-18).

They say up to where they have everything, before they say that all is announced under the view without that broker. What has come with its
copy is given to them when all of it is here, and before anything new on these topics: that is held until then (`handover`).
"""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from infra.kernel.frames import Bereft, Inherited, Lost
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Topic

from .copies import Claim
from .core import BrokerCore
from .said_link import SaidLink
from .window_origins import SeenStamps

# So many losses of one link wait to be answered at most.
MOST: Final = 64


class BereftLink(Protocol):
    """A link that subscribes: its number and itself."""

    bit: int

    @property
    def link(self) -> SaidLink:
        """The link itself."""


class Bereavements:
    """The losses that wait to be answered. `claims`: slot -> what of its copy is here."""

    def __init__(self, core: BrokerCore, claims: Mapping[str, Claim]) -> None:
        self._core, self._claims = core, claims
        # Bit -> what was lost, each with the topics that were wanted anew behind that.
        self._waiting: dict[int, list[tuple[Bereft, set[Topic]]]] = {}

    def note(self, bereft: BereftLink, frame: Bereft) -> None:
        """Notes that somebody has lost a broker. Of too many losses the oldest is answered with nothing."""
        waiting = self._waiting.setdefault(bereft.bit, [])
        waiting.append((frame, set()))
        if len(waiting) > MOST:
            oldest, _ = waiting.pop(0)
            bereft.link.send(Inherited(oldest.slot, []))

    def wants(self, bereft: BereftLink, topics: Iterable[Topic]) -> None:
        """Notes what somebody is about to want: they have missed nothing of it, or got it another way."""
        if (waiting := self._waiting.get(bereft.bit)) is not None:
            rows, masks, flag = self._core.interest.rows, self._core.interest.masks, 1 << bereft.bit
            news = [topic for topic in topics if (row := rows.get(topic)) is None or not masks[row] & flag]
            for _, since in waiting:
                since.update(news)

    def forget(self, bereft: BereftLink) -> None:
        """Forgets somebody who is gone."""
        self._waiting.pop(bereft.bit, None)

    def serve(self, bereft: BereftLink) -> None:
        """Gives somebody what they lack, and says of which kinds that is everything."""
        for frame, since in self._waiting.pop(bereft.bit, ()):
            claim = self._claims.get(frame.slot)
            seen = claim.seen(frame.stamps) if claim is not None else None
            if claim is None or seen is None:
                bereft.link.send(Inherited(frame.slot, []))
            else:
                lost = self._give(bereft, [topic for topic in claim.topics if topic not in since], seen)
                bereft.link.send(Inherited(frame.slot, sorted(claim.kinds), {claim.stream: claim.n}, {claim.epoch: claim.end}))
                if lost and bereft.link.knows(Lost):
                    bereft.link.send(Lost(lost, LossReason.TOO_MUCH))

    def _give(self, bereft: BereftLink, topics: Iterable[Topic], seen: SeenStamps) -> list[bytes]:
        """Gives what of `topics` has not been seen; returns those of which something is missing."""
        core, bit, lost = self._core, bereft.bit, []
        window, rows, masks, handles = core.window, core.interest.rows, core.interest.masks, core.interest.handles(bit)
        receiver, opening = core.fanout.receiver(bit), core.opening(bit)
        for topic in topics if window is not None else ():
            row = rows.get(topic)
            if row is None or window is None or not masks[row] & 1 << bit:
                continue
            missed = window.moved_after(row, seen)
            if missed.reason:
                lost.append(bytes(topic))
            for body in missed.bodies:
                if body.startswith(opening):
                    receiver.deliver(handles[row], body)
        return lost

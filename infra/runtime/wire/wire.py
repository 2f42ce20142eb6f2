"""Wire: the port under every link. It has two adapters: `tcp` (bytes) and `memory` (the frames themselves).

One contract suite checks the promises on both:

- frames arrive in order, or not at all;
- `send` never blocks;
- after `close` or `abort` nothing arrives here any more, after `on_lost` nothing at all;
- both sides are told once that the wire is lost, also when it was lost before `start`;
- a wire that is closed still carries what was sent before.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Bye, Frame

OnFrames = Callable[[list[AnyFrame]], None]
OnLost = Callable[[str], None]


class WireEnd(NamedTuple):
    """The other end of a wire, as far as the wire itself can tell.

    - `is_local`: it is in this process, so it needs no proof.
    - `names`: the names in its certificate, which the wire has checked; none without one.
    """

    is_local: bool = False
    names: frozenset[str] = frozenset()


class Wire(Protocol):
    """One duplex connection between two nodes."""

    @property
    def far_end(self) -> WireEnd:
        """The other end."""

    def trust(self) -> None:
        """Takes frames of any size that links may have from now on: the peer is known. A stranger who called may send small ones only,
        and has a place for strangers until then."""

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """Begins to receive, also what came before.

        `on_frames` must not block and not raise. `on_lost` is called once, with the reason. Neither is called before this returns.
        """

    def send(self, frames: Sequence[Frame]) -> None:
        """Queues `frames`. On a wire that is lost they are dropped."""

    def close(self) -> None:
        """Delivers what was sent, then closes. May be called twice."""

    def abort(self) -> None:
        """Closes at once. What was queued is lost."""

    @property
    def queued_bytes(self) -> int:
        """Bytes sent and not yet taken by the other side's machine."""


class Listener(Protocol):
    """An address that accepts wires."""

    address: str

    async def close(self) -> None:
        """Stops accepting. Wires that stand are not touched."""


class Network(Protocol):
    """The means by which nodes find each other. Addresses are strings; port 0 is replaced by a free one."""

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        """Accepts wires at `address`, each of which `on_wire` gets. Raises OSError if the address is taken."""

    def dial(self, address: str) -> Awaitable[Wire]:
        """Returns a new wire to `address`. Raises OSError if nobody listens there. Cancelling closes it."""


def bye(refused: Refused) -> Bye:
    """Returns the goodbye to a peer that was `refused`."""
    return Bye(refused.code.number, refused.reason)


def say_bye(wire: Wire, refused: Refused) -> None:
    """Closes `wire` with the reason for which its peer was `refused`."""
    wire.send([bye(refused)])
    wire.close()

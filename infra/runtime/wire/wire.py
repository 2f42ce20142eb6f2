"""Wire: the port under every link. Two adapters: `wire_tcp` (bytes) and `wire_memory` (the frames themselves).

Promises of a wire, checked by one contract suite on both: frames arrive in order or not at all; `send` never blocks;
after `close` or `abort` nothing arrives here any more, after `on_lost` nothing at all; both sides are told once, also when
the wire was lost before `start`; a wire that is closed still carries what was sent before.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from infra.kernel.frames import AnyFrame, Frame

OnFrames = Callable[[list[AnyFrame]], None]
OnLost = Callable[[str], None]


class Wire(Protocol):
    """One duplex connection between two nodes."""

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """Begin to receive, also what came before. `on_frames` must not block and not raise; `on_lost` is called once, with
        the reason. Neither is called before this returns."""

    def send(self, frames: Sequence[Frame]) -> None:
        """Queue `frames`. On a wire that is lost they are dropped."""

    def close(self) -> None:
        """Deliver what was sent, then close. May be called twice."""

    def abort(self) -> None:
        """Close at once; what was queued is lost."""

    @property
    def queued_bytes(self) -> int:
        """Bytes sent and not yet taken by the other side's machine."""


class Listener(Protocol):
    """An open door for wires."""

    address: str

    async def close(self) -> None:
        """Stop accepting. Wires that stand are not touched."""


class Network(Protocol):
    """Where nodes find each other. Addresses are strings; port 0 is replaced by a free one."""

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        """Accept wires at `address`. Raises OSError if it is taken."""

    def dial(self, address: str) -> Awaitable[Wire]:
        """A new wire to `address`. Raises OSError if nobody listens. Cancelling closes it."""

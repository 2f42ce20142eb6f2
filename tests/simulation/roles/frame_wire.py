"""The wires of a world of roles: frames come as they are, in order, each some time after it was sent."""

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from infra.runtime.wire.wire import OnFrames, OnLost, WireEnd

if TYPE_CHECKING:
    from .role_process import RoleProcess
    from .world import RoleWorld

# What is tried again after so long where a link is cut: then everything waits.
WAITS_S = 0.1
# Of those who die so many have not sent any more what they had said last: of those who go with a word, and of those who do not.
UNSENT, UNSENT_SILENTLY = 0.3, 0.5


class FrameWire:
    """One end of a connection; see `Wire`. Its process is told what comes by the connection itself."""

    queued_bytes = 0
    far_end = WireEnd()

    def __init__(self, connection: "FrameConnection", side: int) -> None:
        self.is_closed = False
        self._connection, self._side = connection, side

    def trust(self) -> None:
        """See `Wire`."""

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """See `Wire`."""

    def send(self, frames: Sequence[Any]) -> None:
        """See `Wire`."""
        if not self.is_closed:
            self._connection.push(self._side, "frames", frames)

    def close(self) -> None:
        """See `Wire`."""
        if not self.is_closed:
            self._connection.push(self._side, "end", None)
            self.is_closed = True

    abort = close


class FrameConnection:
    """A connection that the process `caller` has made to `taker`.

    - `processes`, `wires`, `links`: of the caller and of the taker. A link is there when the other side's hello is.
    - `address`: what was called. `begun_s`: when. `has_failed`: it is over, or never came about.
    """

    def __init__(self, world: "RoleWorld", caller: "RoleProcess", taker: "RoleProcess", address: str) -> None:
        self.processes, self.address = (caller, taker), address
        self.wires = (FrameWire(self, 0), FrameWire(self, 1))
        self.links: list[Any] = [None, None]
        self.begun_s, self.has_failed = world.now_s, False
        self._world = world
        self._waiting: tuple[deque[tuple[str, Any]], ...] = (deque(), deque())
        self._last_s = [world.now_s, world.now_s]
        self._is_over = [False, False]
        world.connections.append(self)

    def push(self, side: int, kind: str, what: Any) -> None:
        """Sends something from one side: a `hello`, `frames`, or the `end`. It comes behind all that was sent before."""
        if not self._is_over[side]:
            sender, receiver = self.processes[side], self.processes[1 - side]
            self._last_s[side] = max(self._last_s[side], self._world.now_s + self._world.delay_s(sender.name, receiver.name))
            self._waiting[side].append((kind, what))
            self._world.timeline.at(self._last_s[side], self._arrive, side)

    def _arrive(self, side: int) -> None:
        if not self._waiting[side]:
            return
        sender, receiver = self.processes[side], self.processes[1 - side]
        if self._world.is_cut(sender.name, receiver.name):
            self._world.timeline.at(self._world.now_s + WAITS_S, self._arrive, side)
            return
        kind, what = self._waiting[side].popleft()
        receiver.loop.within(receiver.take, self, 1 - side, kind, what)

    def closed(self, side: int) -> None:
        """Notes that the process on one side has ended. What it had said arrives, and then the other side is told."""
        self.wires[side].close()
        self._is_over[side] = True

    def died(self, side: int, *, silently: bool) -> None:
        """Notes that the process on one side is dead. Its machine says so, unless it went `silently`; some of what it said is lost."""
        if self._world.chance() < (UNSENT_SILENTLY if silently else UNSENT):
            self._waiting[side].clear()
        if not silently:
            self.push(side, "end", None)
        self._is_over[side] = True

    def snap(self) -> None:
        """Breaks. What was on its way is lost, and both sides are told."""
        for side, waiting in enumerate(self._waiting):
            waiting.clear()
            self.push(side, "end", None)
            self._is_over[side] = True

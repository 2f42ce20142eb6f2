"""Wires inside one process: the frames themselves are handed over, with no detour through the loop.

So an event that came in with others goes through all roles of a process in one go, and everything that was read from sockets in one turn
of the loop leaves as one batch. A receiver that is at work already, up the stack, gets its frames in the next turn: nobody is ever called
inside its own call.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence

from infra.kernel.frames import AnyFrame, Frame

from .wire import OnFrames, OnLost, Wire, WireEnd


class MemoryWire:
    """One end of a wire in memory."""

    queued_bytes = 0
    far_end = WireEnd(is_local=True)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._peer: MemoryWire = self
        self._inbox: list[AnyFrame] = []
        self._on_frames: OnFrames | None = None
        self._on_lost: OnLost | None = None
        self._woken = self._open = self._busy = False
        self._lost: str | None = None

    def join(self, peer: "MemoryWire") -> None:
        """Connects with the other end."""
        self._peer, peer._peer = peer, self
        self._open = peer._open = True

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """See `Wire`."""
        self._on_frames, self._on_lost = on_frames, on_lost
        self._wake()

    def trust(self) -> None:
        """See `Wire`; frames that are handed over take no memory of their own."""

    def send(self, frames: Sequence[Frame]) -> None:
        """See `Wire`."""
        if self._open:
            self._peer._inbox.extend(frames)  # type: ignore[arg-type]
            if self._peer._busy or self._busy or self._peer._woken:
                self._peer._wake()
            else:
                self._peer._drain()

    def close(self) -> None:
        """See `Wire`."""
        self._inbox.clear()
        self._end("closed here")
        self._peer._end("closed by the peer")

    def abort(self) -> None:
        """See `Wire`."""
        self._peer._inbox.clear()
        self.close()

    def _end(self, reason: str) -> None:
        if self._open:
            self._open = False
            self._lost = reason
            self._wake()

    def _wake(self) -> None:
        if not self._woken and self._on_frames is not None:
            self._woken = True
            self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        self._woken = False
        if self._inbox and self._on_frames is not None:
            frames, self._inbox = self._inbox, []
            self._busy = True
            try:
                self._on_frames(frames)
            finally:
                self._busy = False
        if self._lost is not None and not self._inbox and self._on_lost is not None:
            on_lost, self._on_lost = self._on_lost, None
            on_lost(self._lost)


class MemoryListener:
    """A listener: an entry in the network's table."""

    def __init__(self, network: "MemoryNetwork", address: str) -> None:
        self.address = address
        self._network = network

    async def close(self) -> None:
        """See `Listener`."""
        self._network.doors.pop(self.address, None)


class MemoryNetwork:
    """A network that exists in this process only. Addresses are any strings; those that end in ":0" get a number."""

    def __init__(self) -> None:
        self.doors: dict[str, Callable[[Wire], None]] = {}
        self._numbers = itertools.count(1)

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> MemoryListener:
        """See `Network`."""
        if address.endswith(":0"):
            address = f"{address[:-2]}:{next(self._numbers)}"
        if address in self.doors:
            raise OSError(f"{address} is taken")
        self.doors[address] = on_wire
        return MemoryListener(self, address)

    async def dial(self, address: str) -> MemoryWire:
        """See `Network`."""
        door = self.doors.get(address)
        if door is None:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        loop = asyncio.get_running_loop()
        here, there = MemoryWire(loop), MemoryWire(loop)
        here.join(there)
        door(there)
        return here

"""Link: a wire after the handshake, with batching and a bound.

Deliveries of one turn of the loop leave as one frame, all frames of one turn as one write: load makes batches grow by
itself. The bound: a link is never closed for being slow while its peer shows signs of life; beyond `max_queued_bytes`
presence events are dropped, beyond twice that everything else that is delivered, and each drop is counted (design 5.3).
"""

from collections.abc import Callable
from typing import Final

from infra.kernel.codes import BY_NAME
from infra.kernel.events import is_presence
from infra.kernel.frames import Bye, Deliver, Frame, Hello

from .wire import Wire

MAX_QUEUED_BYTES: Final = 16 << 20
MAX_DELIVER_BYTES: Final = 1 << 18


class Link:
    """One live link. `heard` is the node's time of the last frame from the peer; `wake(link)` is called when there is
    something to flush, once until that was done."""

    __slots__ = (
        "_bodies",
        "_bytes",
        "_frames",
        "_handles",
        "_wake",
        "_woken",
        "dialled",
        "drops",
        "full",
        "heard",
        "max_queued_bytes",
        "peer",
        "wire",
    )

    def __init__(self, wire: Wire, peer: Hello, dialled: str | None, now: float, wake: Callable[["Link"], None]) -> None:
        self.wire = wire
        self.peer = peer
        self.dialled = dialled
        self.heard = now
        self.drops = 0
        self.full = 0
        self.max_queued_bytes = MAX_QUEUED_BYTES
        self._wake = wake
        self._woken = False
        self._frames: list[Frame] = []
        self._handles: list[int] = []
        self._bodies: list[bytes] = []
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<link to {self.peer.role} {self.peer.site}/{self.peer.node}>"

    def deliver(self, handle: int, body: bytes) -> None:
        """Queue one event for the peer's topic `handle`."""
        if self.full and (self.full > 1 or is_presence(body)):
            self.drops += 1
        else:
            self._handles.append(handle)
            self._bodies.append(body)
            self._bytes += len(body)
            if self._bytes > MAX_DELIVER_BYTES:
                self._seal()
        if not self._woken:  # after a drop too: flushing finds out whether there is room again
            self._woken = True
            self._wake(self)

    def send(self, frame: Frame) -> None:
        """Queue any other frame; it keeps its place behind the deliveries queued before."""
        if self._bodies:
            self._seal()
        self._frames.append(frame)
        if not self._woken:
            self._woken = True
            self._wake(self)

    def _seal(self) -> None:
        self._frames.append(Deliver(self._handles, self._bodies))
        self._handles, self._bodies, self._bytes = [], [], 0

    def flush(self) -> None:
        """Hand what is queued to the wire. The node does it: after a batch of frames, or at the end of the turn."""
        self._woken = False
        if self._bodies:
            self._seal()
        if self._frames:
            frames, self._frames = self._frames, []
            self.wire.send(frames)
        self.full = self.wire.queued_bytes // self.max_queued_bytes

    def close(self, code: str, reason: str = "") -> None:
        """Say goodbye with a row of the code table and close."""
        self.send(Bye(BY_NAME[code].number, reason or BY_NAME[code].text))
        self.flush()
        self.wire.close()

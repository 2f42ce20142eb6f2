"""Link: a wire after the handshake, with batching and a bound.

Deliveries of one turn of the loop leave as one frame, and all frames of one turn as one write. So batches grow by themselves under load.

The bound. A link is not closed because events pile up, as long as its peer shows signs of life. Beyond `max_queued_bytes` presence events
are dropped, and beyond twice that every event. Each drop is counted (design 5.3).

Other frames are never dropped: the two sides would take different things for true, and neither would know. So where even those pile up
beyond `max_bytes`, the link is closed (`slow-link`). Both sides forget what they had from each other, dial again, and say everything anew.
"""

from collections.abc import Callable
from typing import Final

from infra.kernel.codec import MAX_FRAME_BYTES
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.kernel.events import is_presence
from infra.kernel.frames import Bye, Call, Deliver, Frame, Hello, Reply
from infra.kernel.option_checks import check_at_least

from .wire.wire import Wire

MAX_QUEUED_BYTES: Final = 16 << 20
# Room for the interest in ten million topics, which is announced at once when a link comes up.
MAX_BYTES: Final = 256 << 20
MAX_DELIVER_BYTES: Final = 1 << 18
# The body of a call or of its answer; the rest of the frame is less than what is left.
MAX_BODY_BYTES: Final = MAX_FRAME_BYTES - (1 << 16)


def check_bounds(table: str, max_queued_bytes: int, max_bytes: int) -> None:
    """Raises ConfigError where a link with `max_queued_bytes` and `max_bytes` would be closed before its events are dropped.

    `table`: the role's table in the file, for the message.
    """
    keys = f"{table}.max_link_bytes", f"{table}.max_link_queue_bytes"
    why = "a link would be closed before the last events are dropped, at twice as much"
    check_at_least(keys[0], max_bytes, f"2 * {keys[1]} + 1", 2 * max_queued_bytes + 1, why)


class Link:
    """One live link to `peer`.

    - `dialled`: the address if we have called, None if the peer has.
    - `heard`: the node's time of the last frame from the peer.
    - `wake(link)`: called when there is something to flush, once until that is done.
    - `drops`: events that were dropped. `dropped(handle)`: is called for each of them.
    - `full`: how many times `max_queued_bytes` wait; from 1 on presence is dropped, from 2 on every event.
    - `filled()`: is called when it has become full, behind what was queued.
    - `stamps()`: returns what is said of the window with deliveries and heartbeats; None where there is none.
    - `is_over`: more than `max_bytes` wait, so the link must be closed.
    """

    __slots__ = (
        "_bodies",
        "_bytes",
        "_frames",
        "_handles",
        "_sealed_bytes",
        "_wake",
        "_woken",
        "dialled",
        "dropped",
        "drops",
        "filled",
        "full",
        "heard",
        "is_over",
        "max_bytes",
        "max_queued_bytes",
        "peer",
        "stamps",
        "wire",
    )

    def __init__(self, wire: Wire, peer: Hello, dialled: str | None, now: float, wake: Callable[["Link"], None]) -> None:
        self.wire = wire
        self.peer = peer
        self.dialled = dialled
        self.heard = now
        self.drops = 0
        self.dropped: Callable[[int], None] | None = None
        self.full = 0
        self.filled: Callable[[], None] | None = None
        self.stamps: Callable[[], dict[int, int]] | None = None
        self.is_over = False
        self.max_queued_bytes = MAX_QUEUED_BYTES
        self.max_bytes = MAX_BYTES
        self._wake = wake
        self._woken = False
        self._frames: list[Frame] = []
        self._handles: list[int] = []
        self._bodies: list[bytes] = []
        self._bytes = self._sealed_bytes = 0

    def __repr__(self) -> str:
        return f"<link to {self.peer.role} {self.peer.site}/{self.peer.node}>"

    def knows(self, kind: type[Frame]) -> bool:
        """Returns whether the peer understands frames of this `kind`: one of an older version may not."""
        return self.peer.knows(kind)

    @property
    def waiting_bytes(self) -> int:
        """How much waits for the peer: what the wire has not taken, and what the next flush gives to it."""
        return self.wire.queued_bytes + self._sealed_bytes + self._bytes

    def deliver(self, handle: int, body: bytes) -> None:
        """Queues one event for the peer's topic `handle`."""
        if self.full and (self.full > 1 or is_presence(body)):
            self.drops += 1
            if self.dropped is not None:
                self.dropped(handle)
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
        """Queues any other frame. It keeps its place behind the deliveries that were queued before it.

        A peer would end the link for a frame that is too large, and fail everybody's calls. So an answer that is too large becomes one
        that says so, and a call that is raises `Refused("too-large")`.
        """
        if isinstance(frame, Call | Reply) and len(frame.body) > MAX_BODY_BYTES:
            frame = _too_large(frame)
        if self._bodies:  # what follows may say what those deliveries rely on, such as `Applied`: the order must stay
            self._seal()
        self._frames.append(frame)
        if not self._woken:
            self._woken = True
            self._wake(self)

    def _seal(self) -> None:
        self._frames.append(Deliver(self._handles, self._bodies, {} if self.stamps is None else self.stamps()))
        self._sealed_bytes += self._bytes
        self._handles, self._bodies, self._bytes = [], [], 0
        self._note_full(self.wire.queued_bytes + self._sealed_bytes)  # one turn may bring very much

    def _note_full(self, queued_bytes: int) -> None:
        self.full = queued_bytes // self.max_queued_bytes
        if self.full and self.filled is not None:
            self.filled()

    def flush(self) -> None:
        """Hands what is queued to the wire. The node calls it after a batch of frames, or at the end of the turn."""
        self._woken = False  # first: what the wire makes the peer do, in one process, may queue something again
        if self._bodies:
            self._seal()
        if self._frames:
            frames, self._frames, self._sealed_bytes = self._frames, [], 0
            self.wire.send(frames)
        queued_bytes = self.wire.queued_bytes
        self._note_full(queued_bytes)
        self.is_over = queued_bytes > self.max_bytes

    def close(self, code: str, reason: str = "") -> None:
        """Says goodbye with the row `code` of the code table, for the `reason`, and closes."""
        self.send(Bye(BY_NAME[code].number, reason or BY_NAME[code].text))
        self.flush()
        self.wire.close()


def _too_large(frame: Call | Reply) -> Reply:
    why = f"of {len(frame.body)} bytes is over the limit of links, {MAX_BODY_BYTES}; ask for less at once"
    if isinstance(frame, Call):
        raise Refused("too-large", f"a call {why}")
    return Reply(frame.n, "too-large", f"an answer {why}", b"")

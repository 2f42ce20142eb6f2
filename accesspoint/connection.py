"""One client's connection: bytes of its socket to messages of its session, and back."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, cast

from infra.kernel.errors import Refused
from infra.kernel.places import NOWHERE, HeldPlace
from infra.kernel.shares import Shares
from infra.kernel.websocket import CLOSE, MAX_SMALL_BYTES, PING, TEXT, close_frame, ping_frame, pong_frame, text_frame
from infra.kernel.websocket_reader import FrameReader, Message
from infra.runtime.http.half_close import half_close
from infra.runtime.logs import Logger

from . import messages
from .core import AccessPointCore
from .options import AccessPointOptions
from .outbox import Outbox
from .session import Session, SessionState

# Nothing is taken of such a client.
_SILENT: Final = (SessionState.ASKING, SessionState.ENDED)


class ConnectionOwner(Protocol):
    """The access point, as its connections know it.

    - `now`: time that never goes back, in seconds.
    - `wall`: Unix time in seconds.
    """

    core: AccessPointCore
    shares: Shares
    options: AccessPointOptions
    log: Logger
    now: Callable[[], float]
    wall: Callable[[], float]

    def joined(self, connection: "Connection") -> None:
        """Takes in a client whose handshake was answered, and whose hello is due."""

    def stopped(self, connection: "Connection") -> None:
        """Notes that a client does not read."""

    def resumed(self, connection: "Connection") -> None:
        """Notes that a client reads again."""

    def rests(self, connection: "Connection", rest_s: float) -> None:
        """Has a client that is too fast not be read for so long, and then calls `rested`."""

    def watch(self, connection: "Connection") -> None:
        """Sees to it that a goodbye, which was said, does not take for ever to be read."""

    def lost(self, connection: "Connection") -> None:
        """Forgets a connection that is gone."""


class Connection(Session, asyncio.Protocol):
    """A session with its socket.

    The socket is not read while there is an outbox (a client that does not take its answers gets no further ones), while the client
    rests because it was too fast, while somebody is asked whether it may come in, and while the turns of the loop are full. What had
    left the socket already waits in the reader.
    """

    __slots__ = ("_answers", "_is_reading", "_owner", "_reader", "_rests", "_transport", "_waits")

    def __init__(self, owner: ConnectionOwner, place: HeldPlace = NOWHERE) -> None:
        """Begins with the `owner` of all, and the `place` that the connection has at the door."""
        Session.__init__(self, owner.now())
        self.place = place
        self._owner = owner
        self._answers: list[bytes] | None = None  # while messages are taken, what is said to them
        self._is_reading = True
        self._rests = self._waits = False
        self._reader = FrameReader(min(owner.options.max_hello_bytes, owner.options.max_message_bytes))
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins, when the handshake has been answered (asyncio)."""
        transport = cast(asyncio.Transport, transport)  # uvloop has transports of its own
        self._transport = transport
        transport.set_write_buffer_limits(high=self._owner.options.write_buffer_bytes)
        self._owner.joined(self)
        self.join()

    def join(self) -> None:
        """Does what is to be done first: it waits for a hello."""

    def data_received(self, data: bytes) -> None:
        """Takes bytes from the client (asyncio)."""
        if self.state is SessionState.ENDED:
            return  # the goodbye has been said
        self.heard_s = self._owner.now()
        self.pinged = False
        if self._is_reading:
            self._read(data)
        else:
            self._reader.feed(data, 0)

    def _read(self, data: bytes) -> None:
        """Does what the client says in `data` and before, a share of it in this turn and the rest later."""
        reader, shares = self._reader, self._owner.shares
        left = shares.take()
        frames = size_bytes = 0
        while True:
            # A hello by itself: what comes behind it may be longer.
            is_new = self.state is SessionState.NEW
            said, data = reader.feed(data, min(left, 1) if is_new else left), b""
            left -= reader.cost
            shares.spend(reader.cost)
            frames += reader.frames
            size_bytes += reader.size_bytes
            self._take(said)
            if is_new and self.state is SessionState.READY:
                reader.max_message_bytes = self._owner.options.max_message_bytes
            if not reader.stopped or left <= 0 or self.state in _SILENT or self.outbox is not None:
                break
        if self.state is SessionState.NEW and frames:
            self._check_stranger()
        if self.state is not SessionState.ENDED:
            self._pace(frames, size_bytes)

    def _check_stranger(self) -> None:
        """Ends a connection that sends much, but no hello."""
        most = self._owner.options.max_hello_bytes
        if self._reader.held_bytes > most:
            self._owner.core.refusals["flooding"] += 1
            self.end(Refused("flooding", f"over {most} bytes before a hello was said"))

    def _pace(self, frames: int, size_bytes: int) -> None:
        """Counts what was read, and decides whether to read on at once, in a later turn or after a rest."""
        try:
            rest_s = self._owner.core.pace.spend(self, self._owner.now(), frames, size_bytes)
        except Refused as refused:
            self._owner.core.refusals[refused.code.name] += 1
            self.end(refused)
            return
        if rest_s:
            self._rests = True
            self._owner.rests(self, rest_s)
        elif self._reader.stopped and self.outbox is None:
            self._waits = True
            self._owner.shares.wait(self._has_turn)
        self._turn_reading()

    def _has_turn(self) -> None:
        self._waits = False
        self._read_on()

    def rested(self) -> None:
        """Reads on, after a rest."""
        self._rests = False
        self._read_on()

    def let_in(self) -> None:
        """See `Session.let_in`."""
        self._reader.max_message_bytes = self._owner.options.max_message_bytes
        if self._answers is None:  # else it is being read
            self._read_on()

    def _read_on(self) -> None:
        """Reads what is there already, and then the socket, unless something is still in the way."""
        if self.state in _SILENT or self.outbox is not None or self._rests or self._waits:
            return
        if self._reader.stopped:
            self._read(b"")
        else:
            self._turn_reading()

    def _turn_reading(self) -> None:
        wanted = self.outbox is None and not self._rests and not self._waits and self.state is not SessionState.ASKING
        transport = self._transport
        if wanted is self._is_reading or transport is None or transport.is_closing() or self.state is SessionState.ENDED:
            return
        self._is_reading = wanted
        if wanted:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _take(self, said: Sequence[Message]) -> None:
        """Does what the messages in `said` ask for. The answers are one write."""
        self._answers = []
        for opcode, payload in said:
            if opcode == TEXT:
                self._receive(payload)
            elif opcode == PING:
                self.answer(pong_frame(payload))
            elif opcode == CLOSE:
                self._close(payload[:2] or (1000).to_bytes(2))
            if self.state is SessionState.ENDED:
                return
        if self._reader.error is not None:
            self._owner.core.refusals[self._reader.error.code.name] += 1
            self.end(self._reader.error)
        self._write_answers()

    def answer(self, frame: bytes) -> None:
        """See `Session.answer`."""
        if self._answers is None:
            self.write(frame)
        else:
            self._answers.append(frame)

    def _write_answers(self) -> None:
        answers, self._answers = self._answers, None
        if answers:
            self.write(answers[0] if len(answers) == 1 else b"".join(answers))

    def _receive(self, text: bytes) -> None:
        try:
            self._owner.core.receive(self, text, self.heard_s, self._owner.wall())
        except Refused as refused:
            self.end(refused)
        except Exception:
            self._owner.core.refusals["internal-error"] += 1
            self._owner.log.exception("a message could not be handled", session=self.id)
            self.say(messages.error(Refused("internal-error"), messages.id_of(text)))

    def write(self, data: bytes) -> None:
        """Gives `data` to the socket."""
        if self._transport is not None:
            self._transport.write(data)

    def ping(self) -> None:
        """Asks for a sign of life, once per silence."""
        if not self.pinged:
            self.pinged = True
            self.write(ping_frame())

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Tells the client why, and closes; `reconnect_in_ms` says when to come back."""
        if self.state is not SessionState.ENDED:
            # Not by way of the outbox: what waits there is given up, and this must be read.
            self.answer(text_frame(messages.error(refused, reconnect_in_ms=reconnect_in_ms)))
            self.answer(close_frame(refused.code.number, refused.reason))
            self._shut(refused.code.name)

    def _close(self, number: bytes) -> None:
        if self.state is not SessionState.ENDED:
            self.answer(close_frame(int.from_bytes(number), ""))
            self._shut("closed")

    def _shut(self, why: str) -> None:
        """Says nothing more, and waits for the client to close.

        A full close would reset a client that is still sending, and it could lose the goodbye (RFC 6455 7.1.1).
        """
        transport, self.chunks = self._transport, None
        self._write_answers()
        self._owner.core.leave(self, why)
        self._reader = FrameReader(MAX_SMALL_BYTES)  # lets go of what was not read
        if transport is not None and not transport.is_closing():
            # What a flooder goes on sending stays in its own buffers, until it closes or is cut.
            wanted = why != "flooding"
            if self._is_reading is not wanted:
                self._is_reading = wanted
                (transport.resume_reading if wanted else transport.pause_reading)()
            half_close(transport)
            self._owner.watch(self)

    def abort(self) -> None:
        """Closes at once: the time to read the goodbye is over."""
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        """Has events wait, since the buffers are full (asyncio). Nothing is read either, or the client could make us buffer answers."""
        if self.state is not SessionState.ENDED and self._transport is not None:
            chunks, self.chunks = self.chunks, None
            self.outbox = Outbox(self._owner.now(), self._owner.options.outbox_bytes)
            self._turn_reading()
            self._owner.stopped(self)
            self.write(b"".join(chunks or ()))  # it was an answer that filled the buffers, and events came before it

    def resume_writing(self) -> None:
        """Sends what has waited, since the client reads again (asyncio)."""
        self._owner.core.slow.check(self, self._owner.now())
        outbox = self.outbox
        if outbox is not None and self._transport is not None and self.state is not SessionState.ENDED:
            self.chunks = []
            self._owner.resumed(self)
            self.write(outbox.drain())
            self._read_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends, since the connection is gone (asyncio)."""
        self._owner.lost(self)
        self._transport = None

"""One client's connection: bytes of its socket to messages of its session, and back."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from infra.kernel.errors import Refused
from infra.kernel.websocket import CLOSE, PING, TEXT, close_frame, ping_frame, pong_frame
from infra.kernel.websocket_reader import FrameReader, Message
from infra.runtime.http.half_close import half_close
from infra.runtime.logs import Logger

from . import messages
from .core import AccessPointCore
from .options import AccessPointOptions
from .outbox import Outbox
from .session import Session, SessionState


class ConnectionOwner(Protocol):
    """The access point, as its connections know it.

    - `now`: time that never goes back, in seconds.
    - `wall`: Unix time in seconds.
    """

    core: AccessPointCore
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

    def watch(self, connection: "Connection") -> None:
        """Sees to it that a goodbye, which was said, does not take for ever to be read."""

    def lost(self, connection: "Connection") -> None:
        """Forgets a connection that is gone."""


class Connection(Session, asyncio.Protocol):
    """A session with its socket.

    While there is an outbox the socket is not read, and what was read before waits in `_held`: a client that does not
    take its answers gets no further ones.
    """

    __slots__ = ("_held", "_owner", "_reader", "_transport")

    def __init__(self, owner: ConnectionOwner) -> None:
        Session.__init__(self, owner.now())
        self._owner = owner
        self._held: Sequence[Message] = ()
        self._reader = FrameReader(owner.options.max_message_bytes)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins, when the handshake has been answered (asyncio)."""
        transport = cast(asyncio.Transport, transport)  # uvloop has transports of its own
        self._transport = transport
        transport.set_write_buffer_limits(high=self._owner.options.write_buffer_bytes)
        self._owner.joined(self)

    def data_received(self, data: bytes) -> None:
        """Takes bytes from the client (asyncio)."""
        if self.state is SessionState.ENDED:
            return  # the goodbye has been said
        self.heard_s = self._owner.now()
        self.pinged = False
        said = self._reader.feed(data)
        self._take([*self._held, *said] if self._held else said)

    def _take(self, said: Sequence[Message]) -> None:
        self._held = ()
        for position, (opcode, payload) in enumerate(said):
            if self.outbox is not None:
                self._held = said[position:]
                return
            if opcode == TEXT:
                self._receive(payload)
            elif opcode == PING:
                self.write(pong_frame(payload))
            elif opcode == CLOSE:
                self._close(payload[:2] or (1000).to_bytes(2))
            if self.state is SessionState.ENDED:
                return
        if self._reader.error is not None:
            self._owner.core.refusals[self._reader.error.code.name] += 1
            self.end(self._reader.error)

    def _receive(self, text: bytes) -> None:
        try:
            self._owner.core.receive(self, text, self.heard_s, self._owner.wall())
        except Refused as refused:
            self.end(refused)
        except Exception:
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
            self.say(messages.error(refused, reconnect_in_ms=reconnect_in_ms))
            self.write(close_frame(refused.code.number, refused.reason))
            self._shut(refused.code.name)

    def _close(self, number: bytes) -> None:
        if self.state is not SessionState.ENDED:
            self.write(close_frame(int.from_bytes(number), ""))
            self._shut("closed")

    def _shut(self, why: str) -> None:
        """Says nothing more, and waits for the client to close.

        A full close would reset a client that is still sending, and it could lose the goodbye (RFC 6455 7.1.1).
        """
        transport, was_paused = self._transport, self.outbox is not None
        self.chunks, self._held = None, ()
        self._owner.core.leave(self, why)
        if transport is not None and not transport.is_closing():
            if was_paused:
                transport.resume_reading()
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
            self._transport.pause_reading()
            self._owner.stopped(self)
            self.write(b"".join(chunks or ()))  # it was an answer that filled the buffers, and events came before it

    def resume_writing(self) -> None:
        """Sends what has waited, since the client reads again (asyncio)."""
        self._owner.core.check_slow(self, self._owner.now())
        outbox = self.outbox
        if outbox is not None and self._transport is not None and self.state is not SessionState.ENDED:
            self.chunks = []
            self._owner.resumed(self)
            self._transport.resume_reading()
            self.write(outbox.drain())
            self._take(self._held)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends, since the connection is gone (asyncio)."""
        self._owner.lost(self)
        self._transport = None

"""A client that follows topics over plain HTTP: a session like any other, which says nothing after its request (Server-Sent Events)."""

from typing import Final

from infra.kernel.loss_reasons import LossReason
from infra.kernel.places import NOWHERE, HeldPlace

from . import messages, server_sent
from .connection import Connection, ConnectionOwner
from .session import SessionState
from .stream_request import StreamRequest

_ANSWER: Final = b'{"op":"subscribed"'


class EventStream(Connection):
    """A session that shows a token and follows topics as its request says, and gets what is said to it as Server-Sent Events.

    Every write ends with the position behind it, where that is known and has moved. The client brings it along when it comes back.
    """

    __slots__ = ("_has_asked", "_is_whole", "_position", "_request")

    def __init__(self, owner: ConnectionOwner, request: StreamRequest, place: HeldPlace = NOWHERE) -> None:
        """Begins with the `owner` of all, what the client wants, and the `place` of its connection."""
        super().__init__(owner, place)
        self._request = request
        self._position: str | None = request.point
        self._has_asked = False
        self._is_whole = False  # until all that was missed has come: a position before that would pass over it

    def join(self) -> None:
        """Says what a client says first. See `ConnectionOwner.joined`, after which it is called."""
        self._receive(self._request.hello())
        if self.state is SessionState.READY:
            self._ask()

    def let_in(self) -> None:
        """See `Session.let_in`."""
        self._ask()

    def _ask(self) -> None:
        if self._has_asked:
            return
        self._has_asked = True
        if self._request.is_lost:
            self.say(messages.gap(self._request.topics, LossReason.EXPIRED, None))
        self._receive(self._request.subscribe())

    def say(self, message: bytes) -> None:
        """See `Session.say`. The answer to its request stands behind all that it has missed."""
        self._is_whole = self._is_whole or message.startswith(_ANSWER)
        super().say(message)

    def data_received(self, data: bytes) -> None:
        """Ends a client that says more (asyncio): nobody would answer it."""
        self.abort()

    def write(self, data: bytes) -> None:
        """Gives the frames in `data` to the socket, as lines, and the position behind them."""
        super().write(server_sent.blocks(data) + self._moved())

    def _moved(self) -> bytes:
        """Returns the position, if it is not the one that was told last."""
        if self.state is not SessionState.READY or self.chunks or not self._is_whole:
            return b""
        point = self._owner.core.recoveries.point(self)
        if point is None or point == self._position:
            return b""
        self._position = point
        return server_sent.position(point)

    def ping(self) -> None:
        """Says a sign of life, for proxies on the way. The client cannot answer: one that is gone is found out by the socket."""
        self.heard_s = self._owner.now()
        super().write(server_sent.COMMENT + self._moved())

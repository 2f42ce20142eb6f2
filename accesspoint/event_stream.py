"""A client that follows topics over plain HTTP: a session like any other, which says nothing after its request (Server-Sent Events)."""

from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.loss_reasons import LossReason
from infra.kernel.places import NOWHERE, HeldPlace
from infra.kernel.topics import format_topic

from . import messages, server_sent
from .connection import Connection, ConnectionOwner
from .session import SessionState
from .stream_request import StreamRequest

_ANSWER: Final = b'{"op":"subscribed"'


class EventStream(Connection):
    """A session that shows a token and follows topics as its request says, and gets what is said to it as Server-Sent Events.

    Every write ends with the position behind it, where that is known and has moved. The client brings it along when it comes back.
    """

    __slots__ = ("_has_asked", "_position", "_request", "_unanswered")

    def __init__(self, owner: ConnectionOwner, request: StreamRequest, place: HeldPlace = NOWHERE) -> None:
        """Begins with the `owner` of all, what the client wants, and the `place` of its connection."""
        super().__init__(owner, place)
        self._request = request
        self._position: str | None = request.point
        self._has_asked = False
        # Until all that was missed has come: a position before that would pass over it. One: it has not asked.
        self._unanswered = 1

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
        request, following = self._request, self._owner.core.friends
        if not request.has_friends or (request.point is None and not request.is_lost):
            self._ask_for([])
            return

        def known(_: float) -> None:
            self._ask_for([format_topic(topic) for topic in following.rosters.of(self.user).topics()])

        try:
            following.begin(self, self._owner.now(), known)  # it goes on with those whom it heard before, if they are friends still
        except Refused:
            self._ask_for([])  # which is answered with the reason

    def _ask_for(self, friends: list[str]) -> None:
        request, at_once = self._request, self._owner.core.friends.at_once
        if request.is_lost:
            self.say(messages.gap([*request.topics, *friends], LossReason.EXPIRED, None))
        asks = request.subscribe(friends if request.point is not None else [], at_once)
        self._unanswered = len(asks)
        for ask in asks:
            self._receive(ask)

    def say(self, message: bytes) -> None:
        """See `Session.say`. The answer to each thing that it has asked for stands behind all that it has missed of that."""
        self._unanswered -= message.startswith(_ANSWER)
        super().say(message)

    def data_received(self, data: bytes) -> None:
        """Ends a client that says more (asyncio): nobody would answer it."""
        self.abort()

    def write(self, data: bytes) -> None:
        """Gives the frames in `data` to the socket, as lines, and the position behind them."""
        super().write(server_sent.blocks(data) + self._moved())

    def _moved(self) -> bytes:
        """Returns the position, if it is not the one that was told last."""
        if self.state is not SessionState.READY or self.chunks or self._unanswered:
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

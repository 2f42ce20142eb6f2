"""Bytes of one HTTP/1.1 connection -> requests handed to exchanges -> answers owed. httptools parses; no transport here."""

from asyncio import Future, Protocol
from collections.abc import Callable
from typing import Final

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from infra.kernel.cors import PREFLIGHT_STATUS, Cors
from infra.kernel.errors import Refused
from infra.kernel.http_headers import Headers
from infra.kernel.places import NOWHERE, HeldPlace
from infra.kernel.request_head import check_host
from infra.kernel.websocket_handshake import check_handshake, handshake_response

from .answers import Owed, all_known, defect
from .message import Exchange, Head, KnownExchange, Response, json_error, stream_head
from .route_table import ResolvedRoute, RouteTable, Upgrade

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_VERSIONS: Final = frozenset({"1.0", "1.1"})
# What may come once only, because somebody on the way may believe the other one.
_ONCE: Final = frozenset({b"host", b"authorization"})
_HAS_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})
# A refused request may still send this much, which is thrown away. With more to come, the connection is closed instead.
_SHORT_BODY_BYTES: Final = 64 << 10


class RequestReader:
    """The reader of one connection's requests. It appends what is owed for each to `owed`, in their order.

    - `requests`: how many were complete.
    - `barren_bytes`: received since the last complete head, piece of a body or end of a request.
    - `answer_headers`: what the page that sent the request that is read now must be told, if it is one (CORS).
    - `last`: the request that is read now, or the next one, is the last.
    - `ended`: it is complete, and nothing more is read.
    - `takeover`: the protocol that gets the rest of the bytes, and what is to be sent before it does: a 101, or the head of a stream.
    """

    __slots__ = (
        "_cors",
        "_exchange",
        "_headers",
        "_keep_alive",
        "_max_head_bytes",
        "_on_answered",
        "_owed",
        "_parser",
        "_place",
        "_refuse",
        "_repeated",
        "_repeated_bytes",
        "_routes",
        "_streams",
        "_target",
        "_with_body",
        "answer_headers",
        "barren_bytes",
        "ended",
        "last",
        "requests",
        "takeover",
    )

    def __init__(
        self,
        routes: RouteTable,
        max_head_bytes: int,
        owed: list[Owed],
        on_answered: Callable[[Future[Response]], None],
        *,
        cors: Cors,
        place: HeldPlace = NOWHERE,
        refuse: Callable[[Refused], None] = lambda refused: None,
    ) -> None:
        """Begins to read.

        - `routes`: find the exchange of a request.
        - `max_head_bytes`: a longer head is refused.
        - `on_answered`: called when an answer that was not known becomes known.
        - `cors`: which pages may read the answers.
        - `place`: of the connection (see `Head`).
        - `refuse`: ends the connection with a refusal of what is being read (see `Head`).
        """
        self._routes = routes
        self._max_head_bytes = max_head_bytes
        self._on_answered = on_answered
        self.last = False
        self._parser: HttpRequestParser | None = HttpRequestParser(self)
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._repeated_bytes = 0
        self._repeated: list[bytes] = []  # names of `_ONCE` that came again
        self._exchange: Exchange | None = None
        self._keep_alive = self._with_body = True
        self._streams = False
        self.barren_bytes = self.requests = 0
        self.ended = False
        self._owed = owed
        self._place, self._refuse = place, refuse
        self._cors = cors
        self.answer_headers: Headers = ()
        self.takeover: tuple[Protocol, bytes] | None = None

    @property
    def in_request(self) -> bool:
        """Whether a request has begun and is not complete."""
        return self.barren_bytes > 0 or self._exchange is not None

    @property
    def in_body(self) -> bool:
        """Whether the body of a request is being read that has a time for all of it."""
        return self._exchange is not None and not self._exchange.is_stream

    def read(self, data: bytes) -> int:
        """Takes `data`, and returns how many bytes of it were HTTP: fewer than all if there is a `takeover`.

        Raises Refused, after which nothing more can be read: what was sent is wrong, or will not be taken.
        """
        assert self._parser is not None
        self.barren_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            return int(upgrade.args[0])
        except HttpParserCallbackError as error:
            cause = error.__context__ or error
            raise cause if isinstance(cause, Refused) else defect(cause) from None
        except HttpParserError as error:
            raise Refused("bad-request", f"this is not HTTP/1.1: {error}") from None
        if self.barren_bytes > self._max_head_bytes:
            raise self._head_too_large()
        return len(data)

    def close(self) -> None:
        """Drops the request that is being read, and the parser, which refers back to this object."""
        self._parser = self._exchange = None

    # Callbacks of httptools. What they raise is raised by `read`.

    def on_url(self, target: bytes) -> None:
        """Takes a piece of the request target."""
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes one header, or one trailer after a body in chunks."""
        name = name.lower()
        headers = self._headers
        if name in headers:
            headers[name] += b", " + value
            self._repeated_bytes += len(name) + 2  # what is not in the joined value
            if name in _ONCE:
                self._repeated.append(name)
        else:
            headers[name] = value

    def on_headers_complete(self) -> None:
        """Finds the exchange of a request whose head is complete."""
        parser = self._parser
        if parser is None or self.ended:
            raise Refused("draining")
        headers, self._headers = self._headers, {}
        target, self._target = self._target, b""
        if self.barren_bytes > self._max_head_bytes:
            self._check_head_size(target, headers)
        version, repeated = parser.get_http_version(), self._repeated
        self.barren_bytes = self._repeated_bytes = 0
        if repeated:
            raise Refused("bad-request", f"there must be one {repeated[0].decode().capitalize()} header, not several")
        if version != "1.1" or b"transfer-encoding" in headers:
            _check_framing(version, headers)
        _check_host(version, headers)
        method = parser.get_method()
        upgrades = parser.should_upgrade()
        self._with_body = method != b"HEAD"
        self._keep_alive = parser.should_keep_alive() and not upgrades
        try:
            if (origin := headers.get(b"origin")) is not None and self._is_preflight(origin.decode("latin-1"), method, headers):
                return
            route = self._routes.exact.get((method, target)) or self._routes.find(method, target)
            if self._place.is_forwarded:
                self._place.speak_for(headers.get(b"x-forwarded-for", b"").decode("latin-1"))
            head = Head(route.method, route.path, route.query, headers, self._keep_alive, self._place, self._refuse)
            self._begin(route, head, upgrades)
        except Refused as refused:
            if upgrades or b"expect" in headers or not _has_short_body(headers):
                raise
            self._exchange = KnownExchange(json_error(refused))

    def on_body(self, data: bytes) -> None:
        """Takes a piece of the body."""
        self.barren_bytes = 0
        assert self._exchange is not None
        self._exchange.chunk(data)

    def on_message_complete(self) -> None:
        """Ends the request, which is complete."""
        self.barren_bytes = 0
        self.requests += 1
        if self._headers:
            self._headers = {}  # trailers, of which we have no use
            self._repeated_bytes = 0
            self._repeated.clear()
        exchange, self._exchange = self._exchange, None
        if exchange is None:  # somebody takes over; behind the request for a stream there can be no other
            self.ended = self._streams
            return
        try:
            answer = exchange.end()
        except Refused as refused:
            answer = json_error(refused)
        self._owed.append((answer, self._with_body, self.answer_headers))
        self.answer_headers = ()
        if isinstance(answer, Future):
            answer.add_done_callback(self._on_answered)
        self.ended = self.last or not self._keep_alive

    def _begin(self, route: ResolvedRoute, head: Head, upgrades: bool) -> None:
        """Gives the request to its exchange or to the protocol that takes over. Raises Refused."""
        headers = head.headers
        if upgrades and route.upgrade is not None:
            self.takeover = self._upgrade(route.upgrade, head)
            return
        if upgrades and not _HAS_BODY.isdisjoint(headers):
            raise Refused("bad-request", "a request with a body cannot ask for another protocol; leave out Upgrade")
        if route.stream is not None:
            self.takeover, self._streams = self._stream(route.stream, head), True
            return
        self._exchange = route.factory(head)
        if b"expect" in headers and all_known(self._owed):
            self._owed.append((_CONTINUE, True, ()))

    def _is_preflight(self, origin: str, method: bytes, headers: dict[bytes, bytes]) -> bool:
        """Notes what a page of `origin` must be told, and returns whether that is all it asked. Raises Refused."""
        host = headers.get(b"host", b"").decode("latin-1")
        self.answer_headers = self._cors.headers(origin, host)
        if method != b"OPTIONS" or b"access-control-request-method" not in headers:
            return False
        self._exchange = KnownExchange(Response(PREFLIGHT_STATUS, headers=self._cors.preflight(origin, host)))
        return True

    def _stream(self, stream: Upgrade, head: Head) -> tuple[Protocol, bytes]:
        if not _HAS_BODY.isdisjoint(head.headers):
            raise Refused("bad-request", "a request for a stream has no body; leave it out")
        if not all_known(self._owed):
            raise Refused("bad-request", "read the answers to the earlier requests first, or use a fresh connection")
        return stream(head), stream_head(self.answer_headers)

    def _upgrade(self, upgrade: Upgrade, head: Head) -> tuple[Protocol, bytes]:
        assert self._parser is not None
        key = check_handshake(head.method, head.headers)
        if self._parser.get_http_version() != "1.1":
            raise Refused("bad-handshake", "a WebSocket is opened with HTTP/1.1")
        if not all_known(self._owed):
            raise Refused("bad-handshake", "read the answers to the earlier requests first, or use a fresh connection")
        return upgrade(head), handshake_response(key)

    def _check_head_size(self, target: bytes, headers: dict[bytes, bytes]) -> None:
        """Raises Refused for a head that is too large.

        It is called when much was received before the head was complete; part of that may be an earlier request.
        """
        size_bytes = len(target) + self._repeated_bytes + sum(len(name) + len(value) + 4 for name, value in headers.items())
        if size_bytes > self._max_head_bytes:
            raise self._head_too_large()

    def _head_too_large(self) -> Refused:
        return Refused("too-large", f"the request head is longer than {self._max_head_bytes} bytes")


def _check_host(version: str, headers: dict[bytes, bytes]) -> None:
    """Raises Refused for a head that names no host, or something else (RFC 9112 3.2)."""
    host = headers.get(b"host")
    if host is not None:
        check_host(host)
    elif version == "1.1":
        raise Refused("bad-request", "HTTP/1.1 needs a Host header")


def _check_framing(version: str, headers: dict[bytes, bytes]) -> None:
    """Raises Refused for a head that a proxy on the way may understand differently (RFC 9112 6.1)."""
    if version not in _VERSIONS:
        raise Refused("bad-request", f"this is HTTP/{version}; send HTTP/1.1")
    coding = headers.get(b"transfer-encoding")
    if coding is not None and (version != "1.1" or coding.lower() != b"chunked"):
        raise Refused("bad-request", "the only Transfer-Encoding that is taken is 'chunked', with HTTP/1.1")


def _has_short_body(headers: dict[bytes, bytes]) -> bool:
    return b"transfer-encoding" not in headers and int(headers.get(b"content-length", b"0")) <= _SHORT_BODY_BYTES

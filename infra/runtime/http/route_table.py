"""The routes of an HTTP server: which exchange takes a request."""

from asyncio import Protocol
from collections.abc import Callable, Mapping
from typing import NamedTuple

from httptools import HttpParserInvalidURLError, parse_url

from infra.kernel.errors import Refused
from infra.kernel.http_error import MethodRefused
from infra.kernel.websocket_handshake import check_handshake

from .message import Exchange, Factory, Head

Upgrade = Callable[[Head], Protocol]
"""Makes the protocol that takes a connection over, its handshake being checked. Raises Refused: answered over HTTP."""


class ResolvedRoute(NamedTuple):
    """The way of one request: to `upgrade` if there is one and the request asks for a WebSocket, to `stream` if there is one, else to
    `factory`."""

    method: str
    path: str
    query: str
    factory: Factory
    upgrade: Upgrade | None
    stream: Upgrade | None


class RouteTable:
    """All routes of a server. Paths are compared as they are sent.

    `exact` knows every route whose target has no query, by the raw bytes of method and target: one look-up for nearly every request.
    """

    def __init__(self, routes: Mapping[tuple[str, str], Factory], upgrades: Mapping[str, Upgrade], streams: Mapping[str, Upgrade]) -> None:
        """Begins with these.

        - `routes`: (method, path) -> factory of exchanges.
        - `upgrades`, `streams`: path -> what makes the protocol of its WebSockets, or of its answers without an end.
        """
        self._upgrades, self._streams = dict(upgrades), dict(streams)
        self._routes = {("GET", path): _refuse_plain_request for path in (*upgrades, *streams)} | dict(routes)
        self.exact = {(method.encode(), path.encode()): self._route(method, path, "") for method, path in self._routes}

    def find(self, method: bytes, target: bytes) -> ResolvedRoute:
        """Returns the route of any request. Raises Refused: `bad-request`, `not-found`, `bad-method`."""
        try:
            url = parse_url(target)
        except HttpParserInvalidURLError:
            raise Refused("bad-request", "the request target must be a path, such as /v1/events") from None
        path, query = url.path or b"/", url.query or b""
        return self._route(method.decode("latin-1"), path.decode("latin-1"), query.decode("latin-1"))

    def _route(self, method: str, path: str, query: str) -> ResolvedRoute:
        factory = self._routes.get((method, path))
        if factory is None:
            allowed = [known for known, at in self._routes if at == path]
            raise MethodRefused(method, path, allowed) if allowed else Refused("not-found", f"there is nothing at {path}")
        upgrade, stream = (each.get(path) if method == "GET" else None for each in (self._upgrades, self._streams))
        return ResolvedRoute(method, path, query, factory, upgrade, stream)


def _refuse_plain_request(head: Head) -> Exchange:
    """Raises Refused that says what the request lacks, at a path where there are only WebSockets."""
    check_handshake(head.method, head.headers)
    raise Refused("bad-handshake", "the Upgrade and Connection headers do not ask for a WebSocket")

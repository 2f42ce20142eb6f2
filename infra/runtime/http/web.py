"""The HTTP server of a service (design 4.2): aiohttp routes, tokens, typed JSON, errors from the code table.

The engine's own servers stand on `door`. This one is for services, where storage decides how fast an answer is, and not HTTP.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
from aiohttp import HttpVersion11, web
from aiohttp.typedefs import Handler

from infra.kernel.access import is_own
from infra.kernel.bearer import bearer_token
from infra.kernel.cors import Cors
from infra.kernel.errors import Refused
from infra.kernel.http_error import JSON
from infra.kernel.json_text import typed
from infra.kernel.public_address import network_of
from infra.kernel.topics import Topic
from infra.runtime.logs import Logger

from ..audit import AuditLog
from ..door_opener import DoorOpener
from ..tokens import Identity, Service, Tokens
from .admin_access import MONITOR
from .request_rates import RequestRates
from .web_connection import peer_of, place_of
from .web_cors import WebCors
from .web_door import WebDoor
from .web_limits import WebLimits
from .web_metrics import web_figures
from .web_runner import WebRunner

T = TypeVar("T")

# What most requests need, with room to spare.
SHORT_BODY_BYTES: Final = 16 << 10


class Answer(NamedTuple):
    """The answer of a handler: a status and a document (None: an empty body; bytes: the body as it is)."""

    status: int = 200
    document: object = None
    headers: Mapping[str, str] = {}


class Request:
    """A request as a handler gets it. `user` is empty for a service, `service` for a user, and both where anybody may ask.

    - `grants`: what the token of the user allows them to see of others; None where it does not narrow that.
    - `check_still()`: raises `Refused` if who asks may do so no longer. It is for requests that last: tokens end meanwhile.
    - `max_body_bytes`: no body that is read as a whole may be longer.
    """

    def __init__(
        self,
        raw: web.Request,
        asker: Identity | Service | None,
        *,
        max_body_bytes: int,
        body_timeout_s: float,
        check_still: Callable[[], object],
    ) -> None:
        self.raw, self.check_still = raw, check_still
        self.user = asker.user if isinstance(asker, Identity) else ""
        self.service = asker.name if isinstance(asker, Service) else ""
        self.grants = asker.grants if isinstance(asker, Identity) else None
        self._max_body_bytes, self._body_timeout_s = max_body_bytes, body_timeout_s
        self.path: Mapping[str, str] = raw.match_info
        self.query: Mapping[str, str] = raw.query
        self.headers: Mapping[str, str] = raw.headers

    def is_granted(self, topic: Topic) -> bool:
        """Returns whether the token lets its user see `topic`, if the policy does. What is their own it always does (AUTH-2)."""
        return self._narrowed(topic) is None

    def check_granted(self, topic: Topic) -> None:
        """Raises Refused("forbidden") if the token does not let its user see `topic`."""
        if (refused := self._narrowed(topic)) is not None:
            raise refused

    def _narrowed(self, topic: Topic) -> Refused | None:
        return None if self.grants is None or is_own(self.user, topic) else self.grants.refusal(topic)

    async def body(self, kind: type[T]) -> T:
        """Returns the body as a value of `kind`. Raises `Refused` (bad-content-type, too-large, bad-json, bad-utf8, bad-field)."""
        return typed(await self.json_bytes(), kind)

    async def json_bytes(self) -> bytes:
        """Returns the body, which says that it is JSON. Raises `Refused` (bad-content-type, too-large, hello-timeout)."""
        raw = self.raw
        if raw.content_type != JSON:
            raise Refused("bad-content-type", f"the body must be {JSON}, not {raw.content_type}")
        self._check_length(raw.content_length or 0)
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_timeout_s):
                async for piece in raw.content.iter_any():
                    body += piece
                    self._check_length(len(body))
                return bytes(body)
        except TimeoutError:
            raise Refused("hello-timeout", f"the body did not arrive within {self._body_timeout_s:g} s") from None

    def _check_length(self, length_bytes: int) -> None:
        if length_bytes > self._max_body_bytes:
            raise Refused("too-large", f"the body is over the limit of {self._max_body_bytes} bytes that hold here")


class Route(NamedTuple):
    """A path in aiohttp's form, and whose token it takes: "any" is a user's or a service's.

    - `audited`: names the change that an operator makes there, for the audit log.
    - `max_body_bytes`: how long a body may be; None: as long as the role takes any. A handler that streams it goes by its own bounds.
    """

    method: str
    path: str
    who: Literal["user", "service", "operator", "any", "nobody"]
    handler: Callable[[Request], Awaitable[Answer]]
    audited: str = ""
    max_body_bytes: int | None = SHORT_BODY_BYTES


class Web:
    """An HTTP server with `routes`.

    - `tokens`: reads the tokens of who asks.
    - `wall`: Unix time in seconds.
    - `doors`: opens its door.
    - `max_body_bytes`: no body may be longer, unless a handler streams it. Most routes take less.
    - `limits`: of connections and requests.
    - `name`: of the role, for the log and the metrics.
    - `audit`: is told of what operators change.
    - `allowed_origins`: of pages that may ask, beside those that always may (see `may_connect`).
    """

    def __init__(
        self,
        routes: Sequence[Route],
        *,
        tokens: Tokens,
        wall: Callable[[], float],
        doors: DoorOpener,
        max_body_bytes: int,
        limits: WebLimits,
        name: str,
        log: Logger,
        audit: AuditLog,
        allowed_origins: Collection[str],
    ) -> None:
        self.requests = 0
        self._audit = audit
        self._tokens, self._wall = tokens, wall
        self._doors = doors
        self._limits, self._name = limits, name
        self._door = WebDoor(name, limits, log)
        self._rates = RequestRates(limits)
        self._draining = False
        self._max_body_bytes = max_body_bytes
        app = web.Application(client_max_size=max_body_bytes)
        for route in routes:
            app.router.add_route(route.method, route.path, self._serve(route), expect_handler=_check_expectation)
        self._runner = WebRunner(app, self._door, cors=WebCors(Cors(allowed_origins), self._count_preflight))

    async def start(self, option: str, address: str) -> str:
        """Listens at "host:port", which `option` says, and returns it with the real port. Raises as `DoorOpener.open`."""
        await self._runner.setup()
        return await self._runner.listen(self._doors, option, address)

    def drain(self) -> None:
        """Answers everything from now on with `draining`."""
        self._draining = True

    async def close(self) -> None:
        """Stops serving. Open requests get a second. May be called twice."""
        await self._runner.cleanup()

    def _serve(self, route: Route) -> Handler:
        async def handle(raw: web.Request) -> web.StreamResponse:
            self.requests += 1
            if self._draining:
                raise Refused("draining")
            # Every service that tries what is audited is written down, so whether it may is asked there.
            ask = partial(self._asker, "audited" if route.audited else route.who, raw)
            asker = ask()
            request = Request(
                raw,
                asker,
                max_body_bytes=min(self._max_body_bytes, route.max_body_bytes or self._max_body_bytes),
                body_timeout_s=self._limits.body_timeout_s,
                check_still=ask,
            )
            self._check_rate(raw, request.user, request.service)
            await _ask_for_body(raw)
            if isinstance(asker, Service) and route.audited:
                return _response(await self._audited(asker, route, request))
            return _response(await route.handler(request))

        return handle

    def _count_preflight(self, raw: web.BaseRequest) -> None:
        """Raises RateRefused. A preflight bears no token, so it counts for the address that it comes from."""
        self.requests += 1
        self._check_rate(raw, "", "")

    def _check_rate(self, raw: web.BaseRequest, user: str, service: str) -> None:
        self._rates.check(user, service, network_of(peer_of(raw.transport)), asyncio.get_running_loop().time())

    async def _audited(self, who: Service, route: Route, request: Request) -> Answer:
        """Has a change of an operator made, and writes it down, also when it is refused to `who`, who is none."""
        with self._audit.change(who, route.audited, list(request.path.values()), address=peer_of(request.raw.transport)):
            self._asker(route.who, request.raw)
            return await route.handler(request)

    def counters(self) -> dict[str, Any]:
        """Returns the figures of `web_metrics(name)`."""
        return web_figures(self._name, self.requests, self._rates, self._door)

    def _asker(self, who: str, raw: web.Request) -> Identity | Service | None:
        """Returns whose token it is; None where it takes none.

        Raises `Refused` (bad-token, token-expired, token-not-yet-valid, token-revoked, banned, forbidden, rate-limited).
        """
        if who == "nobody":
            return None
        token = bearer_token(raw.headers.get("Authorization", ""))
        return place_of(raw).check_token(partial(self._named, who, token, self._wall()), asyncio.get_running_loop().time())

    def _named(self, who: str, token: str, now_s: float) -> Identity | Service:
        match who:
            case "user":
                return self._tokens.client(token, now_s)
            case "service":
                return self._service(token, now_s)
            case "operator":
                return self._tokens.operator(token, now_s)
            case "audited":
                return self._tokens.service(token, now_s)
        try:
            return self._service(token, now_s)
        except Refused as refused:
            if refused.code.name != "forbidden":
                raise
            return self._tokens.client(token, now_s)

    def _service(self, token: str, now_s: float) -> Service:
        """Returns the service that shows `token`. A monitor is none here: its token is left on machines that only read figures."""
        who = self._tokens.service(token, now_s)
        if who.name == MONITOR:
            raise Refused("forbidden", f"a {MONITOR} reads admin ports and nothing else; use the token of the service that asks")
        return who


async def _check_expectation(raw: web.Request) -> None:
    """Raises `Refused("bad-request")` for what cannot be met. Nobody is asked for a body before it is known who they are."""
    if (expected := raw.headers.get("Expect", "")).lower() != "100-continue":
        raise Refused("bad-request", f"nothing but 100-continue can be expected, not {expected!r:.40}")


async def _ask_for_body(raw: web.Request) -> None:
    """Lets a client that waits for that send its body."""
    if "Expect" in raw.headers and raw.version >= HttpVersion11:
        await raw.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        raw.writer.output_size = 0  # the answer itself has not begun


def _response(answer: Answer) -> web.Response:
    if answer.document is None:
        return web.Response(status=answer.status, headers=answer.headers)
    body = answer.document if isinstance(answer.document, bytes) else msgspec.json.encode(answer.document)
    content_type = None if "Content-Type" in answer.headers else JSON
    return web.Response(body=body, status=answer.status, headers=answer.headers, content_type=content_type)

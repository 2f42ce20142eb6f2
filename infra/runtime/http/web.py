"""The HTTP server of a service (design 4.2): aiohttp routes, tokens, typed JSON, errors from the code table.

The engine's own servers stand on `door`. This one is for services, where storage decides how fast an answer is, and not HTTP.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused
from infra.kernel.http_error import JSON
from infra.kernel.json_text import read_json
from infra.kernel.nesting import check_nesting
from infra.runtime.logs import Logger

from ..address import Address
from ..listening import listening
from ..tokens import Identity, Service
from .web_runner import WebRunner

T = TypeVar("T")

VerifyUser = Callable[[str, float], Identity]
VerifyService = Callable[[str, float], Service]


class Answer(NamedTuple):
    """The answer of a handler: a status and a document (None: an empty body; bytes: the body as it is)."""

    status: int = 200
    document: object = None
    headers: Mapping[str, str] = {}


class Request:
    """A request as a handler gets it. `user` is empty for a service, `service` for a user, and both where anybody may ask."""

    def __init__(self, raw: web.Request, user: str, service: str) -> None:
        self.raw, self.user, self.service = raw, user, service
        self.path: Mapping[str, str] = raw.match_info
        self.query: Mapping[str, str] = raw.query
        self.headers: Mapping[str, str] = raw.headers

    async def body(self, kind: type[T]) -> T:
        """Returns the body as a value of `kind`. Raises `Refused` (bad-content-type, too-large, bad-json, bad-utf8, bad-field)."""
        return typed(await self.json_bytes(), kind)

    async def json_bytes(self) -> bytes:
        """Returns the body, which says that it is JSON. Raises `Refused` (bad-content-type, too-large)."""
        if self.raw.content_type != JSON:
            raise Refused("bad-content-type", f"the body must be {JSON}, not {self.raw.content_type}")
        return await self.raw.read()


class Route(NamedTuple):
    """A path in aiohttp's form, and whose token it takes."""

    method: str
    path: str
    who: Literal["user", "service", "any", "nobody"]
    handler: Callable[[Request], Awaitable[Answer]]


class Web:
    """An HTTP server with `routes`.

    - `verify_user`, `verify_service`: check a token at a time, and return who shows it.
    - `wall`: Unix time in seconds.
    - `max_body_bytes`: no body may be longer, unless a handler streams it.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        *,
        verify_user: VerifyUser,
        verify_service: VerifyService,
        wall: Callable[[], float],
        max_body_bytes: int,
        log: Logger,
    ) -> None:
        self.requests = 0
        self._verify_user, self._verify_service, self._wall, self._log = verify_user, verify_service, wall, log
        self._draining = False
        app = web.Application(client_max_size=max_body_bytes)
        for route in routes:
            app.router.add_route(route.method, route.path, self._serve(route))
        self._runner = WebRunner(app)

    async def start(self, option: str, address: str) -> str:
        """Listens at "host:port", which `option` says, and returns it with the real port. Raises CannotListen if it is taken."""
        await self._runner.setup()
        host, port = Address.parse(address)
        with listening(option, address):
            await web.TCPSite(self._runner, host, port, backlog=1024).start()
        return str(Address(*self._runner.addresses[0][:2]))

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
            return _response(await route.handler(Request(raw, *self._who(route.who, raw))))

        return handle

    def _who(self, who: str, raw: web.Request) -> tuple[str, str]:
        """Returns (user, service) of the token. Raises `Refused` (bad-token, token-expired, token-not-yet-valid, forbidden)."""
        if who == "nobody":
            return "", ""
        now_s, token = self._wall(), bearer_token(raw.headers.get("Authorization", ""))
        if who == "user":
            return self._verify_user(token, now_s).user, ""
        if who == "service":
            return "", self._verify_service(token, now_s).name
        try:
            return "", self._verify_service(token, now_s).name
        except Refused as refused:
            if refused.code.name != "forbidden":
                raise
            return self._verify_user(token, now_s).user, ""


def typed(text: bytes, kind: type[T]) -> T:
    """Returns the JSON in `text` as a value of `kind`. Raises `Refused` (bad-json, bad-utf8, bad-field) with a reason that teaches."""
    value = read_json(text, msgspec.json.Decoder(kind))
    check_nesting(text)
    return value


def _response(answer: Answer) -> web.Response:
    if answer.document is None:
        return web.Response(status=answer.status, headers=answer.headers)
    body = answer.document if isinstance(answer.document, bytes) else msgspec.json.encode(answer.document)
    content_type = None if "Content-Type" in answer.headers else JSON
    return web.Response(body=body, status=answer.status, headers=answer.headers, content_type=content_type)

"""The admin listener of one process (design 4.2): health, readiness, metrics and stats over HTTP.

It is for operators and monitors. `AdminAccess` says who is one (DPS-25).
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client.aiohttp import make_aiohttp_handler

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.http_error import JSON
from infra.kernel.public_address import network_of

from ..address import Address
from ..door_opener import METRICS as DOORS
from ..door_opener import DoorOpener
from ..link_auth import METRICS as LINKS
from ..link_auth import LinkAuth
from ..logs import get_logger
from ..loop_lag import LoopLag
from ..metrics import Metric, Observed, ProcessFigures, build_registry
from ..stats import StatsReader
from .admin_access import AdminAccess, is_from_here
from .request_rates import RequestRates
from .web_connection import peer_of
from .web_door import WebDoor
from .web_limits import WebLimits
from .web_metrics import web_figures, web_metrics
from .web_runner import WebRunner

_NAME: Final = "process_admin"
METRICS: Final = web_metrics(_NAME)


class Admin:
    """An HTTP listener: `async with Admin(roles, host, port) as admin:` serves while the block runs. `admin.address` is its URL.

    - `roles`: read at each request; the sequence may grow and shrink meanwhile.
    - `port`: 0 takes a free one.
    - `metrics`: the tables of the roles, for help texts and labels in `/metrics`.
    - `doors`: opens it, and its figures are shown.
    - `links`: how the links of this process are proved, and its figures are shown; None where it has none.
    - `access`: who may read what. Without it only this machine.
    - `limits`: of connections and requests.

    `/healthz` and `/readyz` are for everybody, because load balancers and orchestrators that probe them hold no token. A stranger
    sees the status of `/readyz` and no more.

    Entering raises CannotListen when the address is taken. Leaving closes idle connections at once and open requests within a second;
    cancelling it leaves nothing open.
    """

    def __init__(
        self,
        roles: Sequence[Observed],
        host: str,
        port: int,
        metrics: Iterable[Metric] = (),
        doors: DoorOpener | None = None,
        *,
        links: LinkAuth | None = None,
        access: AdminAccess | None = None,
        limits: WebLimits | None = None,
    ) -> None:
        self._roles = roles
        self._access = access or AdminAccess()
        self._host, self._port = host, port
        self._doors = doors or DoorOpener()
        self._lag = LoopLag()
        self._stats = StatsReader(roles, self._lag.worst_s)
        limits = limits or WebLimits()
        self._requests = 0
        self._rates = RequestRates(limits)
        self._door = WebDoor("admin", limits, get_logger("admin", "", ""))
        figures = [ProcessFigures(DOORS, self._doors.counters), ProcessFigures(METRICS, self._counters)]
        figures += [ProcessFigures(LINKS, links.counters)] if links is not None else []
        self._metrics = make_aiohttp_handler(build_registry(roles, metrics, self._lag.worst_s, figures))
        self._runner = WebRunner(self._app(), self._door, hint="; try /healthz, /readyz, /metrics or /v1/stats")

    @property
    def address(self) -> str:
        """`http://host:port`, or `https://`, with the real port. Raises RuntimeError outside of the `async with` block."""
        if not self._runner.addresses:
            raise RuntimeError("the admin door has no address before it is entered; use `async with Admin(...) as admin`")
        scheme = "http" if self._is_plain else self._doors.scheme("http")
        return f"{scheme}://{Address(*self._runner.addresses[0][:2])}"

    @property
    def _is_plain(self) -> bool:
        return self._doors.options.plain_admin

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        try:
            await self._runner.listen(self._doors, "admin", str(Address(self._host, self._port)), plain=self._is_plain)
        except ConfigError:
            await self._runner.cleanup()
            raise
        self._lag.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._lag.stop()
        await self._runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/healthz", self._for_all(self._health))
        app.router.add_get("/readyz", self._for_all(self._ready))
        app.router.add_get("/metrics", self._for_monitors(self._metrics))
        app.router.add_get("/v1/stats", self._for_monitors(self._show_stats))
        return app

    def _for_all(self, handler: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            self._check_rate("", request)
            return await handler(request)

        return handle

    def _for_monitors(self, handler: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            self._check_rate(self._access.check(request), request)
            return await handler(request)

        return handle

    async def _health(self, _: web.Request) -> web.Response:
        # That this coroutine runs at all is the proof: a loop that is stuck answers nothing.
        return _json({"status": "ok"})

    async def _ready(self, request: web.Request) -> web.Response:
        roles = [{"role": role.role, "node": role.node, "site": role.site, "reason": role.ready()} for role in self._roles]
        ready = all(role["reason"] is None for role in roles)
        shown = roles if self._is_monitor(request) else []
        return _json({"ready": ready, "roles": shown}, 200 if ready else BY_NAME["unavailable"].http)

    def _counters(self) -> dict[str, Any]:
        return web_figures(_NAME, self._requests, self._rates, self._door)

    def _check_rate(self, service: str, request: web.Request) -> None:
        self._requests += 1
        if not is_from_here(request):
            self._rates.check("", service, network_of(peer_of(request.transport)), asyncio.get_running_loop().time())

    def _is_monitor(self, request: web.Request) -> bool:
        try:
            self._access.check(request)
        except Refused:
            return False
        return True

    async def _show_stats(self, _: web.Request) -> web.Response:
        return _json(self._stats.read())


def _json(document: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), status=status, content_type=JSON)

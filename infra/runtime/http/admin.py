"""The admin listener of one process (design 4.2): health, readiness, metrics and stats over HTTP.

It is for operators and monitors, has no authentication, and so belongs on an address that clients cannot reach.
"""

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec
from aiohttp import web
from prometheus_client.aiohttp import make_aiohttp_handler

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import ConfigError
from infra.kernel.http_error import JSON

from ..address import Address
from ..listening import listening
from ..loop_lag import LoopLag
from ..metrics import Metric, Observed, build_registry
from ..stats import StatsReader
from .web_runner import WebRunner


class Admin:
    """An HTTP listener: `async with Admin(roles, host, port) as admin:` serves while the block runs. `admin.address` is its URL.

    - `roles`: read at each request; the sequence may grow and shrink meanwhile.
    - `port`: 0 takes a free one.
    - `metrics`: the tables of the roles, for help texts and labels in `/metrics`.

    Entering raises CannotListen when the address is taken. Leaving closes idle connections at once and open requests within a second;
    cancelling it leaves nothing open.
    """

    def __init__(self, roles: Sequence[Observed], host: str, port: int, metrics: Iterable[Metric] = ()) -> None:
        self._roles = roles
        self._host, self._port = host, port
        self._lag = LoopLag()
        self._stats = StatsReader(roles, self._lag.worst_s)
        self._metrics = make_aiohttp_handler(build_registry(roles, metrics, self._lag.worst_s))
        self._runner = WebRunner(self._app(), hint="; try /healthz, /readyz, /metrics or /v1/stats")

    @property
    def address(self) -> str:
        """`http://host:port` with the real port. Raises RuntimeError outside of the `async with` block."""
        if not self._runner.addresses:
            raise RuntimeError("the admin door has no address before it is entered; use `async with Admin(...) as admin`")
        return f"http://{Address(*self._runner.addresses[0][:2])}"

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        try:
            with listening("admin", str(Address(self._host, self._port))):
                await web.TCPSite(self._runner, self._host, self._port).start()
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
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/v1/stats", self._show_stats)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        # That this coroutine runs at all is the proof: a loop that is stuck answers nothing.
        return _json({"status": "ok"})

    async def _ready(self, _: web.Request) -> web.Response:
        roles = [{"role": role.role, "node": role.node, "site": role.site, "reason": role.ready()} for role in self._roles]
        ready = all(role["reason"] is None for role in roles)
        return _json({"ready": ready, "roles": roles}, 200 if ready else BY_NAME["unavailable"].http)

    async def _show_stats(self, _: web.Request) -> web.Response:
        return _json(self._stats.read())


def _json(document: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), status=status, content_type=JSON)

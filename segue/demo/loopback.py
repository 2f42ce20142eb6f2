"""A small HTTP server on the loopback, at a port that the system chooses."""

from collections.abc import Sequence
from typing import Final, Self

from aiohttp import web
from aiohttp.typedefs import Middleware

HOST: Final = "127.0.0.1"
# In the end nobody is waited for who is still being answered.
SHUTDOWN_S: Final = 0.1


class Loopback:
    """An HTTP server that serves `routes` while its `async with` block runs, behind `middlewares`. Bodies have `max_body_bytes` at most."""

    def __init__(self, *routes: web.AbstractRouteDef, middlewares: Sequence[Middleware] = (), max_body_bytes: int = 1 << 20) -> None:
        app = web.Application(middlewares=middlewares, client_max_size=max_body_bytes)
        app.add_routes(routes)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)

    @property
    def address(self) -> str:
        """Its address, "host:port"."""
        host, port = self._runner.addresses[0][:2]
        return f"{host}:{port}"

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

"""A service that gives one answer to whatever it is asked over HTTP, and notes the question."""

from types import TracebackType
from typing import Any, Self

from aiohttp import web


class AnsweringService:
    """`async with AnsweringService(201, {...}) as service:` answers at `service.url`. `asked` are the questions.

    `body`: None for an answer without one.
    """

    def __init__(self, status: int, body: Any = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self._status, self._body = status, body
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.raw_path.partition("?")[0]
        asked = {"method": request.method, "path": path, "authorization": request.headers.get("Authorization")}
        text = await request.text()
        self.asked.append(asked | {"query": dict(request.query)} | ({"body": await request.json()} if text else {}))
        return web.Response(status=self._status) if self._body is None else web.json_response(self._body, status=self._status)

"""A service that gives one answer to whatever it is asked over HTTP, and notes the question."""

from types import TracebackType
from typing import Any, Self

from aiohttp import web

from segue.demo.loopback import Loopback


class AnsweringService:
    """`async with AnsweringService(201, {...}) as service:` answers at `service.url`. `asked` are the questions.

    `body`: None for an answer without one.
    """

    def __init__(self, status: int, body: Any = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self._status, self._body = status, body
        self._server = Loopback(web.route("*", "/{path:.*}", self._answer))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._server.__aexit__()

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.raw_path.partition("?")[0]
        asked = {"method": request.method, "path": path, "authorization": request.headers.get("Authorization")}
        text = await request.text()
        self.asked.append(asked | {"query": dict(request.query)} | ({"body": await request.json()} if text else {}))
        return web.Response(status=self._status) if self._body is None else web.json_response(self._body, status=self._status)

"""A page on the loopback with the built elements of `clients/js`, for tests in a browser."""

from types import TracebackType
from typing import Any, Self

from aiohttp import web

from segue.demo.loopback import Loopback
from tests.support.node import built

_PAGE = """<!doctype html>
<html lang="{language}" dir="{direction}"><meta charset="utf-8"><title>Elements</title><link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 24px; background: light-dark(#f4f3f8, #121115); }}
header {{ display: flex; justify-content: end; }}
</style>
<body>{body}
<script type="module" src="/segue/bell.js"></script><script type="module" src="/segue/feed.js"></script>
<script type="module" src="/segue/preferences.js"></script>"""


class ElementPage:
    """A server of one page: `body` within it, in `language`. `url` is its address.

    It keeps `preferences` under the same address, and refuses them with the words of `refusal`, if there are any. The user has `webhooks`.
    """

    def __init__(self) -> None:
        self.body = ""
        self.language = "en"
        self.url = ""
        self.preferences: dict[str, Any] = {}
        self.webhooks: list[dict[str, Any]] = []
        self.refusal = ""
        self._server = Loopback(
            web.get("/", self._answer),
            web.static("/segue", built()),
            web.route("*", "/v1/me/preferences", self._preferences),
            web.get("/v1/me/webhooks", self._webhooks),
        )

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}/"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._server.__aexit__()

    async def _preferences(self, request: web.Request) -> web.Response:
        """Answers as a notification module does, at the address of the page itself."""
        if self.refusal:
            return web.json_response({"code": "bad-field", "number": 4105, "reason": self.refusal}, status=400)
        if request.method == "PUT":
            self.preferences = await request.json()
        return web.json_response(self.preferences)

    async def _webhooks(self, _: web.Request) -> web.Response:
        return web.json_response({"webhooks": self.webhooks})

    async def _answer(self, _: web.Request) -> web.Response:
        direction = "rtl" if self.language == "ar" else "ltr"
        return web.Response(text=_PAGE.format(body=self.body, language=self.language, direction=direction), content_type="text/html")

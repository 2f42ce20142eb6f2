"""A page on the loopback with the built elements of `clients/js`, for tests in a browser."""

from types import TracebackType
from typing import Self

from aiohttp import web

from tests.support.node import built

_PAGE = """<!doctype html>
<html lang="{language}" dir="{direction}"><meta charset="utf-8"><title>Elements</title><link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 24px; background: light-dark(#f4f3f8, #121115); }}
header {{ display: flex; justify-content: end; }}
</style>
<body>{body}
<script type="module" src="/segue/bell.js"></script><script type="module" src="/segue/feed.js"></script>"""


class ElementPage:
    """A server of one page: `body` within it, in `language`. `url` is its address."""

    def __init__(self) -> None:
        self.body = ""
        self.language = "en"
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/", self._answer)
        app.router.add_static("/segue", built())
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, _: web.Request) -> web.Response:
        direction = "rtl" if self.language == "ar" else "ltr"
        return web.Response(text=_PAGE.format(body=self.body, language=self.language, direction=direction), content_type="text/html")

"""The page of the demo: `examples/follow.html` on a loopback door, with a link that fills in its form."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlencode

from aiohttp import web

from infra.kernel.errors import SegueError

HOST: Final = "127.0.0.1"
PAGE: Final = Path(__file__).resolve().parents[2] / "examples" / "follow.html"


class PageError(SegueError):
    """The page cannot be shown. The message says why."""


class Page:
    """`async with Page(url, token, friends) as page:` serves while the block runs; `page.link` opens the feed.

    The link holds a key, and only who has it is sent on to the page with `token`: other users of this machine can reach
    the door too.
    """

    def __init__(self, url: str, token: str, friends: Sequence[str]) -> None:
        self._key = secrets.token_urlsafe(6)
        # Behind the #, where browsers do not send it anywhere.
        self._target = f"/follow.html?{urlencode({'url': url, 'friends': ','.join(friends)})}#{urlencode({'token': token})}"
        app = web.Application()
        app.router.add_get(f"/{self._key}", self._open)
        app.router.add_get("/follow.html", self._page)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)

    @property
    def link(self) -> str:
        """What to open in a browser on this machine."""
        host, port = self._runner.addresses[0][:2]
        return f"http://{host}:{port}/{self._key}"

    async def __aenter__(self) -> Self:
        if not PAGE.exists():
            raise PageError(f"{PAGE} is missing; the page is part of a checkout of Segue and not of the installed package")
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _open(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(self._target)

    async def _page(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(PAGE)

"""The page of the demo: `examples/follow.html` on a loopback door, with a link that fills in its form."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlencode

from aiohttp import web

from infra.kernel.errors import SegueError

from .loopback import Loopback

PAGE: Final = Path(__file__).resolve().parents[2] / "examples" / "follow.html"


class PageError(SegueError):
    """A page that cannot be shown. The message says why."""


class DemoPage(Loopback):
    """A page with the feed of `friends`: `async with DemoPage(url, token, friends) as page:`. `page.link` opens it.

    Clients connect to `url`. Other users of this machine can reach the door, too. So the link has a key, and only a browser with the key is
    sent on to the page with `token`.
    """

    def __init__(self, url: str, token: str, friends: Sequence[str]) -> None:
        self._key = secrets.token_urlsafe(6)
        # They stand behind the #, and browsers send that part of an address nowhere.
        self._target = f"/follow.html?{urlencode({'url': url, 'friends': ','.join(friends)})}#{urlencode({'token': token})}"
        super().__init__(web.get(f"/{self._key}", self._open), web.get("/follow.html", self._page))

    @property
    def link(self) -> str:
        """The address to open in a browser on this machine."""
        return f"http://{self.address}/{self._key}"

    async def __aenter__(self) -> Self:
        if not PAGE.exists():
            raise PageError(f"{PAGE} is missing; the page is part of a checkout of Segue and not of the installed package")
        return await super().__aenter__()

    async def _open(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(self._target)

    async def _page(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(PAGE)

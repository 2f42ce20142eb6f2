"""The server of the first page: files for everybody on this machine, tokens and mails for who has the key."""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.http_error import JSON
from infra.kernel.json_text import typed
from infra.runtime.address import Address
from infra.runtime.door_opener import DoorOpener
from infra.runtime.http.web_door import WebDoor
from infra.runtime.http.web_limits import WebLimits
from infra.runtime.http.web_runner import WebRunner
from infra.runtime.logs import get_logger
from infra.runtime.tokens import issue

from ..mailbox.letters import Letters
from .admission import check_key, check_place, key_of
from .site import HomeSite

T = TypeVar("T")
Notify = Callable[[str, str, Mapping[str, Any], Sequence[str], str], Awaitable[None]]
"""Has a notice stored: its topic, kind, payload, followers and id. Raises Refused and Unavailable."""

FOLDER: Final = Path(__file__).parent / "pages"
PAGES: Final = {"/": "index.html", "/mailbox": "mailbox.html"}
FILES: Final = ("home.css", "home.js", "mailbox.js", "page.js", "wire.js")
TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
TOKEN_TTL_S: Final = 12 * 3600.0
MAX_BODY_BYTES: Final = 16 << 10
# Mails have styles of their own, and a frame goes by the policy of the page around it. Scripts come from files only, here and there.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self' {origins}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class TokenWish(msgspec.Struct, frozen=True):
    """The body that asks for a token of a user."""

    user: str


class ReleaseWish(msgspec.Struct, frozen=True):
    """The body that asks for the release of an album to be told."""

    artist: str
    album: str
    followers: list[str]


class HomePage:
    """The first page: `async with HomePage(...) as page:` serves it while the block runs. `page.link` is the address to open.

    - `secret`: signs the tokens of users, and the key of the page follows from it.
    - `site`: what the page is told.
    - `notify`: tells followers of a release; None where there is no notification module.
    - `letters`: the mailbox; None where mails do not go there.
    - `doors`: opens its door at `address`, which must be on loopback.

    Entering raises ConfigError for an address that other machines reach, and CannotListen.
    """

    def __init__(
        self, secret: bytes, site: HomeSite, notify: Notify | None, letters: Letters | None, doors: DoorOpener, address: Address
    ) -> None:
        self._secret, self._key = secret, key_of(secret)
        self._site, self._notify, self._letters = site, notify, letters
        self._doors, self._listen, self._scheme = doors, address, doors.scheme("http")
        self._policy = POLICY.format(origins=" ".join(site.origins))
        self._address = address
        self._runner = WebRunner(self._app(), WebDoor("page", WebLimits(), get_logger("page", "", "")))

    @property
    def link(self) -> str:
        """The address to open in a browser on this machine, with the key."""
        return f"{self._scheme}://{self._address}/#{self._key}"

    async def __aenter__(self) -> Self:
        if not self._listen.is_loopback:
            raise ConfigError(f"the first page hands out tokens, so it is served on loopback only, not at {self._listen}")
        await self._runner.setup()
        try:
            self._address = Address.parse(await self._runner.listen(self._doors, "page", str(self._listen)))
        except ConfigError:
            await self._runner.cleanup()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        for path, name in [*PAGES.items(), *((f"/{name}", name) for name in FILES)]:
            app.router.add_get(path, self._for_all(self._file(name)))
        app.router.add_get("/v1/site", self._for_owner(self._show_site))
        app.router.add_post("/v1/token", self._for_owner(self._token))
        app.router.add_post("/v1/release", self._for_owner(self._release))
        app.router.add_get("/v1/mails", self._for_owner(self._mails))
        app.router.add_get(r"/v1/mails/{id:\d{1,9}}", self._for_owner(self._mail))
        return app

    def _for_all(self, handler: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            check_place(request.headers.get("Host", ""), request.headers.get("Origin"), self._scheme, self._address.port)
            return await handler(request)

        return handle

    def _for_owner(self, handler: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            check_key(request.headers.get("Authorization", ""), self._key)
            return await handler(request)

        return self._for_all(handle)

    def _file(self, name: str) -> Handler:
        body, kind = (FOLDER / name).read_bytes(), TYPES[Path(name).suffix]

        async def handle(_: web.Request) -> web.Response:
            return web.Response(body=body, content_type=kind, charset="utf-8", headers={"Content-Security-Policy": self._policy})

        return handle

    async def _show_site(self, _: web.Request) -> web.Response:
        return _json(self._site)

    async def _token(self, request: web.Request) -> web.Response:
        wish = await _body(request, TokenWish)
        try:
            token = issue(self._secret, user=wish.user, ttl_s=TOKEN_TTL_S, now_s=time.time())
        except ConfigError as wrong:
            raise Refused("bad-field", str(wrong)) from None
        return _json({"token": token})

    async def _release(self, request: web.Request) -> web.Response:
        wish = await _body(request, ReleaseWish)
        if self._notify is None:
            raise Refused("not-found", "there is no notification module here")
        artist_id = "".join(char if char.isalnum() and char.isascii() else "-" for char in wish.artist.lower()).strip("-") or "artist"
        notice_id, payload = f"release-{secrets.token_hex(8)}", {"artist_name": wish.artist, "album": wish.album}
        await self._notify(f"hm://notifications/feed/{artist_id}%new-album/", "album", payload, wish.followers, notice_id)
        return _json({"id": notice_id}, 202)

    async def _mails(self, _: web.Request) -> web.Response:
        return _json({"mails": self._letters.summaries() if self._letters is not None else []})

    async def _mail(self, request: web.Request) -> web.Response:
        letter = self._letters.get(int(request.match_info["id"])) if self._letters is not None else None
        if letter is None:
            raise Refused("not-found", "there is no such mail; the mailbox keeps the newest ones, and none over a restart")
        return _json(letter)


async def _body(request: web.Request, kind: type[T]) -> T:
    """Raises `Refused` (bad-content-type, bad-json, bad-utf8, bad-field)."""
    if request.content_type != JSON:
        raise Refused("bad-content-type", f"the body must be {JSON}, not {request.content_type}")
    return typed(await request.read(), kind)


def _json(document: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), status=status, content_type=JSON)

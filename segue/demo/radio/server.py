"""The server of Segue Radio: its files, tokens for the users of the demo, and what an application of its own would have beside Segue."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from aiohttp import web

from infra.kernel.errors import SegueError
from segue.demo.loopback import Loopback

from .files import TYPES
from .gate import gate, policy
from .news import RadioNews, encoded

KEY_BYTES: Final = 9
MOST_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """The things that the server stands on.

    - `roster`: who may be logged in as, and which artists there are.
    - `doors`: the WebSocket URL of each user.
    - `services`: the HTTP URL of each service.
    - `token`: makes a token for a user.
    - `leave`: is called when a user logs in; from then on nobody else plays for them.
    - `release`: has an artist, with this id and name, release an album; returns its title.
    - `subscribe`: returns a push subscription of a user at the push service of the demo.
    - `mails`: returns the mails that came for a user, newest first.
    """

    roster: Mapping[str, Any]
    doors: Mapping[str, str]
    services: Mapping[str, str]
    token: Callable[[str], str]
    leave: Callable[[str], Awaitable[None]]
    release: Callable[[str, str], Awaitable[str]]
    subscribe: Callable[[str], dict[str, Any]]
    mails: Callable[[str], list[dict[str, Any]]]


class RadioServer(Loopback):
    """The server: `async with RadioServer(folder, backend, news) as radio:`. `radio.link` opens the application.

    Other users of this machine can reach the port, too. So all addresses begin with a key, which only `link` says. Pages of other origins,
    and requests under another name than that of this machine, are refused.
    """

    def __init__(self, folder: Path, backend: Backend, news: RadioNews) -> None:
        self._folder, self._backend, self._news = folder, backend, news
        self._names = {each["id"]: each["name"] for each in backend.roster["artists"]}
        self._key = secrets.token_urlsafe(KEY_BYTES)
        key = f"/{self._key}"
        files = [web.get(f"{key}/{Path(name).name}", self._file(name, type_)) for name, type_ in TYPES.items()]
        routes = [
            web.get(f"{key}/", self._file("index.html", TYPES["index.html"])),
            web.get(f"{key}/roster", self._roster),
            web.post(f"{key}/session", self._session),
            web.post(f"{key}/release", self._release),
            web.post(f"{key}/subscription", self._subscribe),
            web.get(f"{key}/mails", self._mails),
            web.get(f"{key}/news", self._tell),
        ]
        asked = sorted({*backend.doors.values(), *backend.services.values()})
        super().__init__(*files, *routes, middlewares=[gate(policy(*asked), lambda: int(self.address.rpartition(":")[2]))])

    @property
    def link(self) -> str:
        """The address to open in a browser on this machine."""
        return f"http://{self.address}/{self._key}/"

    def _file(self, name: str, content_type: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def serve(_: web.Request) -> web.StreamResponse:
            body = (self._folder / name).read_bytes()  # a few kilobytes of this machine
            return web.Response(body=body, content_type=content_type, charset="utf-8")

        return serve

    async def _roster(self, _: web.Request) -> web.Response:
        return _json(self._backend.roster)

    async def _session(self, request: web.Request) -> web.Response:
        """Answers with a token of the user, and where Segue is."""
        user = self._user((await _fields(request)).get("user"))
        await self._backend.leave(user)
        backend = self._backend
        return _json({"user": user, "token": backend.token(user), "url": backend.doors[user], "services": backend.services})

    async def _release(self, request: web.Request) -> web.Response:
        artist = str((await _fields(request)).get("artist"))
        if artist not in self._names:
            raise web.HTTPNotFound(text="no artist of the roster")
        try:
            return _json({"title": await self._backend.release(artist, self._names[artist])})
        except SegueError as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from error

    async def _subscribe(self, request: web.Request) -> web.Response:
        return _json(self._backend.subscribe(self._user((await _fields(request)).get("user"))))

    async def _mails(self, request: web.Request) -> web.Response:
        return _json({"mails": self._backend.mails(self._user(request.query.get("user")))})

    async def _tell(self, request: web.Request) -> web.StreamResponse:
        user = self._user(request.query.get("user"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        with self._news.page(user) as pieces:
            await response.prepare(request)
            await response.write(b": here\n\n")
            while True:
                await response.write(encoded(await pieces.get()))

    def _user(self, name: Any) -> str:
        if not isinstance(name, str) or name not in self._backend.doors:
            raise web.HTTPNotFound(text="no user of the data")
        return name


async def _fields(request: web.Request) -> dict[str, Any]:
    """Returns the JSON object in the body of `request`."""
    if request.content_type != "application/json" or (request.content_length or 0) > MOST_BYTES:
        raise web.HTTPBadRequest(text="the body must be a small object of JSON")
    try:
        return msgspec.json.decode(await request.read(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise web.HTTPBadRequest(text=str(error)) from error


def _json(document: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), content_type="application/json")

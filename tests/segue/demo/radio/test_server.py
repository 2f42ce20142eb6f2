"""The server of Segue Radio: what it hands out, and to whom."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from infra.kernel.errors import SegueError
from segue.demo.radio.files import TYPES
from segue.demo.radio.news import RadioNews
from segue.demo.radio.server import Backend, RadioServer

ROSTER = {"users": [{"user": "ann", "friends": 1}], "artists": [{"id": "lastfm-7", "name": "Björk", "listeners": 3}]}
DOOR, SERVICE = "ws://127.0.0.1:1", "http://127.0.0.1:2"


@dataclass
class Asked:
    """A server, and what was asked of what stands behind it."""

    radio: RadioServer
    news: RadioNews
    http: aiohttp.ClientSession
    left: list[str] = field(default_factory=list)
    is_broken: bool = False

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> aiohttp.ClientResponse:
        own = {"Origin": f"http://{self.radio.address}"} if method == "POST" else {}
        answer = await self.http.request(method, self.radio.link + path, json=body, headers=own | headers)
        await answer.read()
        return answer


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    for name in TYPES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name} it is", encoding="utf-8")
    news = RadioNews()

    async def leave(user: str) -> None:
        found.left.append(user)

    async def release(artist: str, name: str) -> str:
        if found.is_broken:
            raise SegueError("no job")
        return f"{name} by {artist}"

    backend = Backend(
        roster=ROSTER,
        doors={"ann": DOOR},
        services={"social": SERVICE},
        token=lambda user: f"token of {user}",
        leave=leave,
        release=release,
        subscribe=lambda user: {"endpoint": user, "keys": {}},
        mails=lambda user: [{"subject": user}],
    )
    async with RadioServer(tmp_path, backend, news) as radio, aiohttp.ClientSession() as http:
        found = Asked(radio, news, http)
        yield found


@pytest.mark.parametrize(
    ("path", "content_type"),
    [("", "text/html"), ("radio.js", "text/javascript"), ("worker.js", "text/javascript"), ("radio.css", "text/css")],
)
async def test_files_have_their_types_and_a_strict_policy(asked: Asked, path: str, content_type: str) -> None:
    answer = await asked.ask("GET", path)
    assert (answer.status, answer.content_type, answer.charset) == (200, content_type, "utf-8")
    assert f"connect-src 'self' {SERVICE} {DOOR};" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"  # the key is in the address


async def test_who_logs_in_gets_a_token_and_plays_for_themselves_from_then_on(asked: Asked) -> None:
    answer = await asked.ask("POST", "session", {"user": "ann"})
    assert await answer.json() == {"user": "ann", "token": "token of ann", "url": DOOR, "services": {"social": SERVICE}}
    assert asked.left == ["ann"]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Origin": "http://evil.example"}, {"user": "ann"}, 403),
        ({"Host": "evil.example"}, {"user": "ann"}, 403),
        ({}, {"user": "eve"}, 404),
        ({}, {"user": ["ann"]}, 404),
        ({}, {}, 404),
        ({}, [], 400),
        ({"Content-Type": "text/plain"}, {"user": "ann"}, 400),
        ({}, {"user": "ann", "more": "x" * 5_000}, 400),
    ],
)
async def test_nobody_else_gets_a_token(asked: Asked, headers: dict[str, str], body: Any, status: int) -> None:
    answer = await asked.ask("POST", "session", body, **headers)
    assert answer.status == status
    assert "token" not in await answer.text()
    assert asked.left == []


@pytest.mark.parametrize("path", ["/", "/session", "/guess/", "/index.html", "/guess/session"])
async def test_without_the_key_there_is_nothing(asked: Asked, path: str) -> None:
    origin = f"http://{asked.radio.address}"
    async with asked.http.post(origin + path, json={"user": "ann"}, headers={"Origin": origin}) as answer:
        assert answer.status == 404


async def test_an_artist_of_the_roster_releases_an_album(asked: Asked) -> None:
    assert await (await asked.ask("POST", "release", {"artist": "lastfm-7"})).json() == {"title": "Björk by lastfm-7"}
    assert (await asked.ask("POST", "release", {"artist": "lastfm-8"})).status == 404
    asked.is_broken = True
    answer = await asked.ask("POST", "release", {"artist": "lastfm-7"})
    assert (answer.status, await answer.text()) == (503, "no job")


async def test_what_an_application_would_have_beside_segue(asked: Asked) -> None:
    assert await (await asked.ask("GET", "roster")).json() == ROSTER
    assert await (await asked.ask("POST", "subscription", {"user": "ann"})).json() == {"endpoint": "ann", "keys": {}}
    assert await (await asked.ask("GET", "mails?user=ann")).json() == {"mails": [{"subject": "ann"}]}
    assert (await asked.ask("GET", "mails?user=eve")).status == 404


async def test_open_pages_are_told_of_mails_and_pushes(asked: Asked) -> None:
    async with asked.http.get(asked.radio.link + "news?user=ann") as stream:
        assert stream.content_type == "text/event-stream"
        assert await stream.content.readuntil(b"\n\n") == b": here\n\n"
        asked.news.tell("ann", "push", {"title": "Post"})
        assert await stream.content.readuntil(b"\n\n") == b'event: push\ndata: {"title":"Post"}\n\n'

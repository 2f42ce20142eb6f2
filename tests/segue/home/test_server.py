"""The server of the first page: who gets what of it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urldefrag

import aiohttp
import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.address import Address
from infra.runtime.door_opener import DoorOpener
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from segue.home.server import FILES, HomePage
from segue.home.site import ClientPlace, HomeSite
from segue.mailbox.letters import Letters

SECRET = b"s" * 32
SITE = HomeSite([ClientPlace("sto", "ws://127.0.0.1:1/v1/connect")], social=None, notification=None, policy="open", mail=True)
MAIL = b"From: Segue <a@example.org>\r\nSubject: New album\r\n\r\nPost\r\n"


class Told:
    """A notification module that remembers what it was told."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str, Mapping[str, Any], list[str]]] = []

    async def notify(self, topic: str, kind: str, payload: Mapping[str, Any], followers: Sequence[str], _: str) -> None:
        self.notices.append((topic, kind, payload, list(followers)))


def page_of(told: Told | None = None, letters: Letters | None = None, host: str = "127.0.0.1") -> HomePage:
    return HomePage(SECRET, SITE, told.notify if told else None, letters, DoorOpener(), Address(host, 0))


async def asked(page: HomePage, method: str, path: str, headers: Mapping[str, str] | None = None, **body: Any) -> tuple[int, Any]:
    """Returns status and document of an answer; with the key, unless `headers` say otherwise."""
    root, key = urldefrag(page.link)
    sent = {"Authorization": f"Bearer {key}"} | dict(headers or {})
    async with aiohttp.ClientSession() as http, http.request(method, root + path, headers=sent, **body) as answer:
        return answer.status, await answer.json()


async def test_who_has_the_key_gets_the_token_of_any_user() -> None:
    async with page_of() as page:
        status, document = await asked(page, "POST", "v1/token", json={"user": "alice"})
    verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
    assert (status, verifier.client(document["token"], time.time()).user) == (200, "alice")


@pytest.mark.parametrize("path", ["v1/token", "v1/release"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer guessed"}, 401),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_nobody_else_gets_anything(path: str, headers: dict[str, str], status: int) -> None:
    told = Told()
    async with page_of(told) as page:
        found, document = await asked(page, "POST", path, headers, json={"user": "alice", "artist": "a", "album": "b", "followers": ["c"]})
    assert (found, "token" in document, told.notices) == (status, False, [])


async def test_no_page_of_another_origin_may_read_or_ask() -> None:
    async with page_of() as page, aiohttp.ClientSession() as http:
        ask = {"Origin": "http://localhost:1", "Access-Control-Request-Method": "POST"}
        async with http.options(urldefrag(page.link)[0] + "v1/token", headers=ask) as answer:
            assert answer.status == 405
            assert not [name for name in answer.headers if name.startswith("Access-Control")]


async def test_it_is_never_served_where_other_machines_reach_it() -> None:
    with pytest.raises(ConfigError, match="served on loopback only"):
        async with page_of(host="0.0.0.0"):
            pass


@pytest.mark.parametrize("path", ["", "mailbox", *FILES])
async def test_pages_load_nothing_and_run_nothing_but_their_own_files(path: str) -> None:
    async with page_of() as page, aiohttp.ClientSession() as http, http.get(urldefrag(page.link)[0] + path) as answer:
        policy = answer.headers["Content-Security-Policy"]
        text = await answer.text()
    assert "default-src 'none'; script-src 'self';" in policy
    assert "connect-src 'self' ws://127.0.0.1:1;" in policy
    assert urldefrag(page.link)[1] not in text
    assert "onclick=" not in text


async def test_a_release_is_told_to_the_followers() -> None:
    told = Told()
    async with page_of(told) as page:
        status, _ = await asked(page, "POST", "v1/release", json={"artist": "Sigur Rós", "album": "Takk", "followers": ["alice", "bob"]})
    release = ("hm://notifications/feed/sigur-r-s%new-album/", "album", {"artist_name": "Sigur Rós", "album": "Takk"}, ["alice", "bob"])
    assert (status, told.notices) == (202, [release])


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("v1/token", {"json": {"user": "no name %"}}, 400),
        ("v1/token", {"json": {}}, 400),
        ("v1/token", {"data": b"user=alice"}, 415),
        ("v1/token", {"data": b" " * 20_000, "headers": {"Content-Type": "application/json"}}, 413),
        ("v1/release", {"json": {"artist": "a", "album": "b", "followers": ["c"]}}, 404),
    ],
)
async def test_what_makes_no_sense_is_refused(path: str, body: dict[str, Any], status: int) -> None:
    async with page_of() as page:
        assert (await asked(page, "POST", path, **body))[0] == status


async def test_the_mailbox_has_what_was_mailed() -> None:
    letters = Letters(lambda: 5.0)
    letters.take(["ann@example.org"], MAIL)
    async with page_of(letters=letters) as page:
        summary = {"id": 1, "to": ["ann@example.org"], "subject": "New album", "ts": 5000}
        assert await asked(page, "GET", "v1/mails") == (200, {"mails": [summary]})
        status, letter = await asked(page, "GET", "v1/mails/1")
        assert (status, letter["text"].strip(), letter["sender"]) == (200, "Post", "Segue <a@example.org>")
        assert (await asked(page, "GET", "v1/mails/2"))[0] == 404
        assert (await asked(page, "GET", "v1/mails/1", {"Authorization": "Bearer no"}))[0] == 401


async def test_without_a_mailbox_there_are_no_mails() -> None:
    async with page_of() as page:
        assert await asked(page, "GET", "v1/mails") == (200, {"mails": []})
        assert (await asked(page, "GET", "v1/mails/1"))[0] == 404
        assert (await asked(page, "GET", "v1/site"))[1]["clients"] == [{"site": "sto", "url": "ws://127.0.0.1:1/v1/connect"}]

"""Every HTTP door says no in the same form, whatever it stands on and whoever finds the fault: a role, a router or a reader of HTTP."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from httptools import HttpResponseParser

from infra.kernel.codes import ALL, BY_NAME, Code
from infra.kernel.errors import Refused
from infra.kernel.http_error import MethodRefused
from infra.runtime.http.admin import Admin
from infra.runtime.http.door import json_error
from infra.runtime.http.web_connection import error_response
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import STORING, Shape
from tests.support.samples import SECRET, service_token, user_token

DOCS = Path(__file__).resolve().parents[2] / "docs"
USER, SERVICE = user_token("ann"), service_token("presence")


class Door(NamedTuple):
    """A request that the door of a role takes, with a body of at most `max_body_bytes`. It takes `token`, and not the `other` one."""

    method: str
    path: str
    token: str = ""
    other: str = ""
    max_body_bytes: int = 0


DOORS = {
    "broker": Door("POST", "/v1/events", SERVICE, USER, max_body_bytes=1 << 20),
    "notification": Door("POST", "/v1/notifications", service_token("artist"), USER, max_body_bytes=8 << 20),
    "playlist": Door("POST", "/v1/playlists", USER, SERVICE, max_body_bytes=2 << 20),
    "social": Door("PUT", "/v1/social/wall", USER, SERVICE, max_body_bytes=16 << 10),
    "artist": Door("POST", "/v1/artists/run", service_token("operator"), USER),
    "admin": Door("GET", "/healthz"),
    "accesspoint": Door("GET", "/v1/connect"),
}
GUARDED = [name for name, door in DOORS.items() if door.token]
READING = [name for name, door in DOORS.items() if door.max_body_bytes]
ON_AIOHTTP = [name for name in DOORS if name not in ("broker", "accesspoint")]


class Answer:
    """The first answer on a connection, as an independent parser reads it."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_complete = False
        self._parser = HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode().title()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.status, self.is_complete = self._parser.get_status_code(), True


class House:
    """The door of one role at a real address, or the admin door of a process without roles."""

    def __init__(self, name: str, address: str, process: Process) -> None:
        self.door = DOORS[name]
        self.process = process
        self._address = address

    async def say(self, request: bytes) -> Answer:
        """Sends bytes and reads the first answer."""
        host, _, port = self._address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(request)
            answer = Answer()
            while not answer.is_complete:
                data = await reader.read(1 << 16)
                assert data, "the door closed without an answer"
                answer.feed(data)
            return answer
        finally:
            writer.close()

    async def ask(self, *headers: str, token: str = "", method: str = "", path: str = "", body: bytes = b"") -> Answer:
        """Sends a request that is taken, but for what is given: `token`, `method`, `path`, `body`."""
        lines = [f"{method or self.door.method} {path or self.door.path} HTTP/1.1", "Host: x", *headers]
        lines += [f"Authorization: Bearer {token}"] * bool(token) + [f"Content-Length: {len(body)}"] * bool(body)
        return await self.say("\r\n".join([*lines, "", ""]).encode() + body)


@pytest.fixture
async def house(door: str, tmp_path: Path) -> AsyncIterator[House]:
    catalogue = tmp_path / "catalogue.jsonl"
    catalogue.touch()
    shape = Shape(notification=1, services=tuple(STORING), state=tmp_path, catalogue=str(catalogue))
    factory = RoleFactory.local(SECRET, random.Random(1))
    options = [each for each in shape.options() if role_of(each) == door]
    async with Process(factory, options) as process, Admin(process.roles, "127.0.0.1", 0) as admin:
        if door == "broker":
            await process.settled()
        yield House(door, process.of(door)[0].address if options else admin.address.removeprefix("http://"), process)


def check(answer: Answer, name: str) -> dict[str, Any]:
    """Checks the one form of a refusal: the row of the table as JSON, its status, and just the headers of this status. Returns the body."""
    code: Code = BY_NAME[name]
    said = json.loads(answer.body)
    assert (said["code"], said["number"], answer.status) == (code.name, code.number, code.http), said
    assert set(said) == {"code", "number", "reason"}
    assert said["reason"]
    assert answer.headers["Content-Type"].partition(";")[0] == "application/json"
    wanted = {
        "Www-Authenticate": "Bearer" if code.http == 401 else None,
        "Retry-After": "1" if code.http in (429, 503) else None,
        "Sec-Websocket-Version": "13" if name == "bad-handshake" else None,
    }
    assert {header: answer.headers.get(header) for header in wanted} == wanted
    assert ("Allow" in answer.headers) == (code.http == 405)
    return said  # type: ignore[no-any-return]


@pytest.mark.parametrize("code", ALL, ids=lambda code: code.name)
def test_both_sorts_of_doors_answer_each_code_alike(code: Code) -> None:
    refused = MethodRefused("PATCH", "/v1/x", ["GET"]) if code.http == 405 else Refused(code.name)
    ours, theirs = json_error(refused), error_response(refused)
    answer = Answer()
    answer.feed(ours.encode())
    assert check(answer, code.name)["reason"] == refused.reason
    assert (theirs.status, theirs.body, theirs.content_type) == (ours.status, ours.body, ours.content_type)
    assert {name: value for name, value in theirs.headers.items() if name != "Content-Type"} == dict(ours.headers)


@pytest.mark.parametrize("page", sorted(DOCS.glob("openapi*.json")), ids=lambda page: page.stem)
def test_the_pages_name_the_headers_of_each_refusal(page: Path) -> None:
    document = json.loads(page.read_text(encoding="utf-8"))
    described = [*document["components"].get("responses", {}).items()]
    described += [
        pair
        for path in document["paths"].values()
        for method in path.values()
        if "responses" in method
        for pair in method["responses"].items()
    ]
    wanted = {"401": {"WWW-Authenticate"}, "429": {"Retry-After"}, "503": {"Retry-After"}}
    refusals = [(status, each) for status, each in described if "/Refusal" in json.dumps(each)]
    assert refusals
    for status, each in refusals:
        assert set(each.get("headers", {})) == wanted.get(status, set())


@pytest.mark.parametrize("door", DOORS)
async def test_an_unknown_path_and_a_wrong_method(house: House) -> None:
    assert "/v1/nowhere" in check(await house.ask(path="/v1/nowhere"), "not-found")["reason"]
    answer = await house.ask(method="PATCH")
    said = check(answer, "bad-method")
    allowed = answer.headers["Allow"].split(", ")
    assert house.door.method in allowed
    assert all(word in said["reason"] for word in [*allowed, "PATCH", house.door.path])


@pytest.mark.parametrize("door", DOORS)
async def test_what_is_no_http(house: House, caplog: pytest.LogCaptureFixture) -> None:
    check(await house.say(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"), "bad-request")
    check(await house.ask("Content-Length: many"), "bad-request")
    check(await house.ask("X-Long: " + "x" * 9000), "too-large")
    assert caplog.records == [], "what strangers send is no defect of ours"


@pytest.mark.parametrize("door", GUARDED)
async def test_no_token_a_bad_one_and_one_of_the_wrong_sort(house: House) -> None:
    for headers in ([], ["Authorization: Basic YTpi"], ["Authorization: Bearer "], ["Authorization: Bearer no.such.token"]):
        check(await house.ask(*headers), "bad-token")
    assert "segue token" in check(await house.ask(token=house.door.other), "forbidden")["reason"]


@pytest.mark.parametrize("door", READING)
async def test_a_body_that_cannot_be_taken(house: House) -> None:
    ask = partial(house.ask, token=house.door.token)
    says_json = "Content-Type: application/json"
    check(await ask(says_json, body=b"{"), "bad-json")
    check(await ask(says_json, body=b"7"), "bad-field")
    check(await ask(says_json, body=b'{"\xff":1}'), "bad-utf8")
    check(await ask("Content-Type: text/plain", body=b"play"), "bad-content-type")
    check(await ask(says_json, body=b" " * (house.door.max_body_bytes + 1)), "too-large")
    chunked = [says_json, f"Authorization: Bearer {house.door.token}", "Transfer-Encoding: chunked"]
    check(await house.ask(*chunked, "", "no number", ""), "bad-request")


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_an_expectation_that_nobody_can_meet(house: House) -> None:
    check(await house.ask("Expect: tea"), "bad-request")


@pytest.mark.parametrize("door", ["accesspoint"])
async def test_a_request_that_is_no_handshake(house: House) -> None:
    check(await house.ask(), "bad-handshake")
    check(await house.ask("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 8"), "bad-handshake")


@pytest.mark.parametrize("door", GUARDED)
async def test_a_door_that_is_draining(door: str, house: House) -> None:
    (role,) = house.process.of(door)
    # A broker closes its door as soon as nobody is in it; until then it says why it takes nothing.
    await (role.leave if door == "broker" else role.drain)()
    check(await house.ask(token=house.door.token), "draining")

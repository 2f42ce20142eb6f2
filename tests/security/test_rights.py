"""Every route of every door with every kind of token: who gets through is what docs/authorization.md says (DPS-25, DPS-27)."""

import json
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from infra.kernel.http_headers import ALWAYS
from infra.runtime.http.admin import Admin
from infra.runtime.http.admin_access import AdminAccess
from infra.runtime.http.web_limits import WebLimits
from infra.runtime.tokens import issue
from notification.push import PushOptions
from notification.unsubscribe import UnsubscribeWish
from notification.unsubscribe import issue as unsubscribe_token
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.shape import STORING, Shape
from tests.deploy.http_rights import ALL, RIGHTS, Asker, HttpRight
from tests.support.every_door import ADMIN, DOORS, OpenedDoor
from tests.support.openapi_page import DOCS, OpenapiPage, examples
from tests.support.samples import SECRET, service_token, user_token
from tests.support.user import User

PAGES: Final = [OpenapiPage(path.name) for path in sorted(DOCS.glob("openapi*.json"))]
OPERATIONS: Final = {f"{method} {path}": operation for page in PAGES for (method, path), operation in page.operations().items()}
CONNECT: Final = "GET /v1/connect"
# What has no end is described in words, and not by OpenAPI.
STREAM: Final = "GET /v1/stream"
# What stands for the names in paths. Whoever is followed or blocked is not the one who asks.
NAMES: Final = {"owner": "ann", "id": "summer", "user": "ann", "artist": "bjork", "event": "album-7", "key": "none", "provider": "radio"}
OF_OTHERS: Final = re.compile(r"/(?:friends|blocks|editors)/\{user\}")
# Where the example of the page would take the right to ask away from those who ask next.
BODIES: Final[dict[str, Any]] = {
    "POST /v1/bans": {"user": "gone", "seconds": 60},
    "POST /v1/bans/lift": {"user": "gone"},
    "POST /v1/revocations": {"user": "gone"},
    "POST /v1/sessions/disconnect": {"user": "gone"},
    "POST /v1/events": {"topic": "hm://presence/user/ann/", "kind": "play", "payload": {}},
}
QUERIES: Final = {
    "/v1/sessions": "?user=gone",
    "/v1/stream": "?topics=hm://presence/user/ann/",
    "/v1/me/devices": "?endpoint=https://push.example.org/x",
}
SERVICE_OF_NOBODY: Final = "reporting"


class Refusal(NamedTuple):
    """The words of an answer of 401 or 403."""

    status: int
    code: str


def token_of(asker: Asker, right: HttpRight) -> str:
    match asker:
        case Asker.NOBODY:
            return ""
        case Asker.USER:
            return user_token("ann")
        case Asker.OTHER:
            return user_token("eve")
        case Asker.SERVICE:
            return service_token(right.service or "playlist")
        case Asker.FOREIGN:
            return service_token(SERVICE_OF_NOBODY)
    return service_token("monitor" if asker is Asker.MONITOR else "operator")


class Site:
    """All doors of one process, on loopback; its roles are linked in memory."""

    def __init__(self, doors: dict[str, OpenedDoor], unsubscribe: str) -> None:
        self.doors, self._unsubscribe = doors, unsubscribe
        self._visitors = count(1)

    async def ask(self, door: str, route: str, token: str) -> tuple[int, dict[str, str], bytes]:
        """Asks as somebody from an address of their own, so that nobody's limits are anybody else's."""
        method, _, path = route.partition(" ")
        body = self._body(route)
        head = [f"{method} {self._filled(path)} HTTP/1.1", "Host: localhost", "Connection: close"]
        head += [f"Content-Length: {len(body)}"] if body else []
        head += [f"Authorization: Bearer {token}"] if token else []
        head += ["Content-Type: application/json"] if body else []
        number = next(self._visitors)
        async with self.doors[door].connect(f"127.1.{number // 250}.{number % 250 + 1}") as connection:
            connection.send("\r\n".join([*head, "", ""]).encode() + body)
            return await connection.answer()

    async def outcome(self, right: HttpRight, route: str, token: str) -> Refusal | None:
        """Returns None for who gets through. Raises AssertionError for an answer that tells neither."""
        if route == CONNECT:
            return await self._greeted(token)
        status, headers, body = await self.ask(right.door, route, token)
        assert {name.lower(): value for name, value in ALWAYS}.items() <= headers.items()
        if status in (401, 403):
            return Refusal(status, json.loads(body)["code"])
        assert status < 300 or status in (404, 409), f"{route} answers {status}: {body[:300]!r}"
        return None

    async def _greeted(self, token: str) -> Refusal | None:
        async with User(self.doors["accesspoint"].address, token) as user:
            said = user.welcome
        return None if said["op"] == "welcome" else Refusal(401 if "token" in said["code"] else 403, said["code"])

    def _filled(self, path: str) -> str:
        names = NAMES | {"token": self._unsubscribe, "client": "desk", "playlist": "summer"}
        names |= {"user": "bob"} if OF_OTHERS.search(path) else {}
        query = QUERIES.get(path, "")
        return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], path) + query

    def _body(self, route: str) -> bytes:
        if route == STREAM:
            return b""
        content = OPERATIONS[route].get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return b""
        return json.dumps(BODIES[route] if route in BODIES else next(examples(content))).encode()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    catalogue = tmp_path / "catalogue.jsonl"
    catalogue.touch()
    shape = Shape(notification=1, services=tuple(STORING), state=tmp_path, catalogue=str(catalogue))
    factory = RoleFactory.local(SECRET, random.Random(1))
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(Process(factory, map(_patient, shape.options())))
        await process.settled()
        access = AdminAccess(factory.tokens())
        admin = await stack.enter_async_context(Admin(process.roles, "127.0.0.1", 0, access=access, limits=WebLimits()))
        addresses = {door: process.of(door)[0].address for door in DOORS if door != ADMIN} | {ADMIN: admin.address}
        secret = (tmp_path / "secret.key").read_bytes().strip()
        link = unsubscribe_token(secret, UnsubscribeWish("ann", "new-album"), time.time())
        site = Site({name: OpenedDoor(name, address) for name, address in addresses.items()}, link)
        await prepare(site)
        yield site


def _patient(options: Any) -> Any:
    """Lets one user ask as often as the table is long, a service say who a user is, and pushes go."""
    changes: dict[str, Any] = {}
    if hasattr(options, "web"):
        changes["web"] = WebLimits(user_requests_per_s=10_000.0, user_burst=10_000.0)
    if hasattr(options, "vouchers"):
        changes["vouchers"] = ["radio"]
    if hasattr(options, "push"):
        changes["push"] = PushOptions(contact="mailto:ops@example.org")
    return msgspec.structs.replace(options, **changes)


async def prepare(site: Site) -> None:
    """Lets ann have a private playlist."""
    for door, request, document in (
        ("social", "PUT /v1/social/playlists/summer", {"visibility": "private"}),
        ("playlist", "POST /v1/playlists", {"id": "summer", "name": "Summer"}),
    ):
        body = json.dumps(document)
        head = f"{request} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {user_token('ann')}\r\nContent-Type: application/json\r\n"
        async with site.doors[door].connect() as connection:
            connection.send(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            assert (await connection.answer())[0] in (200, 201)


def test_the_table_has_every_route_that_is_described_and_every_door() -> None:
    listed = [route for right in RIGHTS for route in right.routes]
    assert sorted(listed) == sorted([*OPERATIONS, CONNECT, STREAM])
    assert {right.door for right in RIGHTS} == set(DOORS)


async def test_who_gets_through_is_what_the_table_says_and_nobody_else(site: Site) -> None:
    """DPS-25, DPS-27. Whoever is to be refused comes first, so that nobody finds changed what the others have changed."""
    wrong: dict[tuple[str, str], object] = {}
    walked = [(right, route, asker) for right in RIGHTS for route in right.routes for asker in Asker]
    for right, route, asker in sorted(walked, key=lambda each: each[2] in each[0].may):
        refusal = Refusal(401, "bad-token") if asker is Asker.NOBODY else Refusal(403, "forbidden")
        found = await site.outcome(right, route, token_of(asker, right))
        if found != (None if asker in right.may else refusal):
            wrong[route, asker] = found
    assert wrong == {}


async def test_a_token_that_is_no_good_gets_nobody_through_where_one_is_asked_for(site: Site) -> None:
    """DPS-27: a forged one and one that is over, of whoever would get through with a good one."""
    wrong: dict[tuple[str, str], object] = {}
    then_s = time.time() - 3600
    for right in RIGHTS:
        service = right.service or "operator"
        over = (
            issue(SECRET, service=service, ttl_s=60, now_s=then_s)
            if not right.may & {Asker.USER}
            else issue(SECRET, user="ann", ttl_s=60, now_s=then_s)
        )
        forged = issue(b"another secret of thirty-two byte", user="ann", ttl_s=600, now_s=time.time())
        for route in right.routes:
            for name, token, code in (
                ("garbage", "no.such.token", "bad-token"),
                ("forged", forged, "bad-token"),
                ("over", over, "token-expired"),
            ):
                found = await site.outcome(right, route, token)
                if found != (None if right.may == ALL else Refusal(401, code)):
                    wrong[route, name] = found
    assert wrong == {}

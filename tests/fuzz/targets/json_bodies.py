"""The JSON bodies of all HTTP doors, as the OpenAPI pages list them, at roles that run behind real sockets of the loopback."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import aiohttp
from structlog.testing import capture_logs

from infra.kernel.codes import BY_NAME
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import Shape
from tests.fuzz.on_site import OnSite
from tests.fuzz.target import outcome
from tests.support.samples import SECRET, service_token, user_token

DOCS: Final = Path(__file__).resolve().parents[3] / "docs"
# The pages, and the role that serves what each describes.
PAGES: Final = {
    "openapi.json": "broker",
    "openapi-operator.json": "broker",
    "openapi-notification.json": "notification",
    "openapi-playlist.json": "playlist",
    "openapi-social.json": "social",
    "openapi-artist.json": "artist",
}
ROLES: Final = set(PAGES.values())
# What stands in paths; bodies are what is odd here.
IN_PATHS: Final = {"provider": "facebook", "client": "c1", "playlist": "p1", "owner": "u0", "id": "p1"}
OTHERS_IN_PATHS: Final = "u0"
METHODS: Final = {"put", "post", "patch", "delete"}
SERVICES: Final = {"/v1/events": "presence", "/v1/notifications": "artist"}
# One user's many requests must not all end with 429.
USERS: Final = 64


class Operation(NamedTuple):
    """An operation with a body. Its `name` is what an input begins with, in a line of its own."""

    name: bytes
    role: str
    method: str
    path: str
    content_type: str


def operations() -> Iterator[tuple[Operation, list[bytes]]]:
    """Yields every operation that has a body, with the bodies that its page shows."""
    for page, role in PAGES.items():
        document = json.loads((DOCS / page).read_text(encoding="utf-8"))
        for path, item in document["paths"].items():
            for method in sorted(item.keys() & METHODS):
                for content_type, content in item[method].get("requestBody", {}).get("content", {}).items():
                    name = f"{method} {path} {content_type}".encode()
                    yield Operation(name, role, method, _filled(path), content_type), list(_bodies(content))


def _filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: IN_PATHS.get(place[1], OTHERS_IN_PATHS), path)


def _bodies(content: dict[str, Any]) -> Iterator[bytes]:
    shown = [each["value"] for each in content.get("examples", {}).values()]
    for each in [*shown, content["example"]] if "example" in content else shown:
        yield each.encode() if isinstance(each, str) else json.dumps(each).encode()


OPERATIONS: Final = list(operations())
BY_NAME_OF_INPUT: Final = {operation.name: operation for operation, _ in OPERATIONS}


class JsonBodies(OnSite):
    """The doors of a site. An input is a line with the name of an operation, and a body."""

    seeds = tuple(operation.name + b"\n" + body for operation, bodies in OPERATIONS for body in bodies)
    words = (
        b'"topic":',
        b'"payload":',
        b'"followers":',
        b'"id":',
        b'"change":',
        b'"position":',
        b'"channels":',
        b'"tz":',
        b'"endpoint":',
        b"hm://",
    )

    async def _start(self, shape: Shape) -> None:
        self._turn = 0
        options = [each for each in shape.options() if role_of(each) in ROLES]
        process = await self._stack.enter_async_context(Process(RoleFactory.local(SECRET, random.Random(1)), options))
        self._addresses = {role: process.of(role)[0].address for role in ROLES}
        self._http = await self._stack.enter_async_context(aiohttp.ClientSession())
        self._tokens = [user_token(f"u{number}") for number in range(USERS)]
        self._operator = service_token("operator")
        self._service_tokens = {path: service_token(service) for path, service in SERVICES.items()}

    def play(self, data: bytes) -> str:
        """Sends the body. The answer is what was asked for, or a refusal from the table of codes; nothing is logged as a defect."""
        name, _, body = data.partition(b"\n")
        operation = BY_NAME_OF_INPUT.get(name)
        if operation is None:
            return "no such operation"
        with capture_logs() as logs:
            status, answer = self._runner.run(self._ask(operation, body))
        defects = [entry for entry in logs if entry["log_level"] in ("error", "critical")]
        assert not defects, defects
        assert status < 500 or status == 503, (status, answer)
        if status < 400:
            return outcome(operation.path, status)
        refusal = json.loads(answer)
        assert BY_NAME[refusal["code"]].http == status
        assert refusal["reason"]
        return outcome(operation.path, refusal["code"], refusal["reason"])

    async def _ask(self, operation: Operation, body: bytes) -> tuple[int, bytes]:
        self._turn += 1
        token = self._service_tokens.get(operation.path) or self._tokens[self._turn % USERS]
        if operation.role == "broker" and operation.path not in SERVICES:
            token = self._operator
        headers = {"Authorization": f"Bearer {token}", "Content-Type": operation.content_type}
        url = f"http://{self._addresses[operation.role]}{operation.path}"
        async with self._http.request(operation.method.upper(), url, data=body, headers=headers) as answer:
            return answer.status, await answer.read()

"""A notification intake that keeps what it takes, checks what it is sent, and fails when it is told to: a real HTTP server."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import msgspec
from aiohttp import web

from infra.kernel.events import Submission, accept
from infra.kernel.topics import kind_of, parse_topic
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from segue.demo.loopback import Loopback
from tests.support.samples import SECRET

HEAD = {"id", "topic", "kind", "payload", "producer"}
MAX_PAGE = 1000


class ContractIntake:
    """`async with ContractIntake() as intake`. `heads` and `followers` by id; `posts` counts requests by id.

    The next `down` requests are answered 503; with `stops_at` n the n-th notification from now is taken, `on_stop` is called, and
    its answer never arrives. `refuses` is a set of ids that are answered 400.
    """

    def __init__(self) -> None:
        self.heads: dict[str, dict[str, Any]] = {}
        self.followers: dict[str, Counter[str]] = {}
        self.flags: dict[str, set[tuple[bool, bool]]] = {}
        self.posts: Counter[str] = Counter()
        self.complaints: list[str] = []
        self.refuses: set[str] = set()
        self.down = 0
        self.stops_at = 0
        self.on_stop: Callable[[], object] = lambda: None
        self._verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        self._server = Loopback(web.post("/v1/notifications", self._post))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._server.__aexit__()
        assert not self.complaints

    async def _post(self, request: web.Request) -> web.StreamResponse:
        first, *lines = [msgspec.json.decode(line) for line in (await request.read()).splitlines() if line.strip()]
        self.posts[first["id"]] += 1
        if self.down:
            self.down -= 1
            return web.json_response({"code": "unavailable", "reason": "told to"}, status=503, headers={"Retry-After": "1"})
        if first["id"] in self.refuses:
            return web.json_response({"code": "bad-field", "reason": "told to"}, status=400)
        self._check(request, first, lines)
        known = self.heads.get(first["id"])
        if known not in (None, first):
            return web.json_response({"code": "conflict", "reason": "another content"}, status=409)
        accepted = sum(len(line["followers"]) for line in lines)
        if known is None:
            self._keep(first, lines)
        if self.stops_at:
            self.stops_at -= 1
            if not self.stops_at:
                self.on_stop()
                assert request.transport is not None
                request.transport.abort()
        return web.json_response({"id": first["id"], "accepted": accepted, "duplicate": known is not None}, status=202)

    def _keep(self, first: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        self.heads[first["id"]] = first
        self.followers[first["id"]] = Counter(user for line in lines for user in line["followers"])
        self.flags[first["id"]] = {(line.get("friend", False), line.get("sent", False)) for line in lines}

    def _check(self, request: web.Request, first: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        """Checks what the contract of the intake asks of a service."""
        service = self._verifier.service(request.headers["Authorization"].removeprefix("Bearer "), time.time()).name
        rules = {
            "content type": request.content_type == "application/x-ndjson",
            "fields of the first line": first.keys() == HEAD,
            "service of the topic": service == kind_of(parse_topic(first["topic"])),
            "pages": all(line.keys() <= {"followers", "friend", "sent"} and len(line["followers"]) <= MAX_PAGE for line in lines),
        }
        submission = Submission(first["topic"], first["kind"], msgspec.Raw(msgspec.json.encode(first["payload"])), first["id"])
        accept(submission, 0, "", 16 << 10)
        self.complaints += [rule for rule, kept in rules.items() if not kept]

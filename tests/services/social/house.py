"""A social service as a whole: a real role, its HTTP door, links in memory to a playlist service and an access point, a real intake."""

import json
import random
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from infra.kernel.errors import Refused
from infra.kernel.frames import Call
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from services.social.options import SocialOptions
from services.social.server import SocialService
from tests.services.artist.contract_intake import ContractIntake
from tests.services.scripted_service import ScriptedService
from tests.support.cluster import FAST
from tests.support.eventually import eventually
from tests.support.openapi_page import OpenapiPage
from tests.support.promises import kept
from tests.support.samples import SECRET, service_token, user_token

PAGE = OpenapiPage("openapi-social.json")
JOINED = "hm://notifications/feed/{}%friend-joined/"
FOLLOWERS = "hm://notifications/feed/{}%new-follower/"
FACEBOOK = "facebook"
# What access points do not call.
OF_SERVICES = ("friends", "is-friend", "post", "may-edit", "who-sees", "visibility")


class House:
    """A social service `role`. `point` is an access point that is linked to it, `playlist` the playlist service that it calls."""

    def __init__(self, folder: Path, intake: ContractIntake) -> None:
        self.intake, self.folder = intake, folder
        self.wall = folder / "wall.jsonl"
        self.network = MemoryNetwork()
        self.point = ScriptedService(self.network, "accesspoint", "sto/ap1")
        self.playlist = ScriptedService(self.network, "playlist", "sto/l1", lambda call: b"{}")
        self.role: SocialService

    async def start(self, **options: Any) -> None:
        """Starts the service, also anew after `role.close`."""
        wanted = {"playlist": ["sto/l1"], "wall": str(self.wall), "notification": [self.intake.url]} | options
        shape = SocialOptions(
            site="sto", node="f1", listen="sto/f1", door="127.0.0.1:0", link=FAST, path=str(self.folder / "state"), **wanted
        )
        verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        log = get_logger("social", "f1", "sto")
        self.role = SocialService(shape, Context(network=self.network, log=log, rng=random.Random(1)), verifier, service_token)
        await self.role.start()

    async def ask(self, user: str, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Returns status and document of `method` and `path` for `user`, which are as docs/openapi-social.json describes them."""
        headers = {"Authorization": f"Bearer {token or user_token(user)}"}
        extra = {} if body is None else {"json": body}
        url = f"http://{self.role.address}/v1/social{path}"
        async with aiohttp.ClientSession() as http, http.request(method, url, headers=headers, **extra) as answer:
            document = await answer.json() if answer.content_type == "application/json" else None
        PAGE.check_answer(method, f"/v1/social{path}", answer.status, document)
        return answer.status, document

    async def befriend(self, user: str, *friends: str) -> None:
        for friend in friends:
            assert (await self.ask(user, "PUT", f"/friends/{friend}"))[0] == 200

    async def link(self, user: str, *contacts: str, provider: str = FACEBOOK) -> None:
        """Links `user`, who is "id of user" at the provider, as a service does that has asked there.

        What follows from it has been done when this returns.
        """
        book = {"me": f"id of {user}", "contacts": [f"id of {contact}" for contact in contacts]}
        status, answer = await self.ask("", "PUT", f"/users/{user}/links/{provider}", book, token=service_token("operator"))
        assert (status, answer) == (202, {"provider": provider, "contacts": len(set(contacts) - {user}), "verified": True})
        await self.quiet()

    async def list_contacts(self, user: str, *contacts: str, me: str = "") -> None:
        """Links an address book as users do for themselves: the contacts by their names, and `me`, which nobody believes."""
        book = {"me": f"id of {me or user}", "contacts": [f"id of {contact}" for contact in contacts]}
        assert (await self.ask(user, "PUT", f"/links/{FACEBOOK}", book))[0] == 202
        await self.quiet()

    async def friends(self, user: str) -> dict[str, bool]:
        """Returns whom `user` follows, and whether it is mutual; through pages."""
        found: dict[str, bool] = {}
        after: str | None = ""
        while after is not None:
            _, page = await self.ask(user, "GET", f"/friends?limit=2&after={after}")
            found |= {each["user"]: each["mutual"] for each in page["friends"]}
            after = page["next"]
        return found

    async def call(self, user: str, op: str, body: bytes) -> bytes:
        """Calls `op` for `user` with `body`, as an access point or another service does."""
        caller = self.playlist if op in OF_SERVICES else self.point
        await eventually(lambda: not caller.peers.missing())
        return await caller.peers.call("social", user, op, body)

    async def say(self, user: str, client: str, op: str, body: bytes) -> bytes:
        """Has the access point relay what `client` of `user` says; returns the answer. Raises `Refused`."""
        await eventually(lambda: not self.point.peers.missing())
        (link,) = self.point.node.links
        n = len(self.point.said) + 1_000_000
        link.send(Call(n, user, client, op, body))
        await eventually(lambda: n in self.point.said)
        reply = self.point.said[n]
        if reply.code:
            raise Refused(reply.code, reply.reason)
        return reply.body

    async def private(self, user: str, client: str) -> int:
        """Returns until when `client` of `user` is private, as an access point asks for it."""
        return msgspec.msgpack.decode(await self.say(user, client, "is-private", b""), type=int)

    async def quiet(self) -> None:
        """Waits until everything that was promised is done."""
        await kept(self.role.work.stores.outbox)

    def shares(self) -> list[tuple[str, str, str]]:
        """Returns who was made to follow, or not to follow, whose playlists."""
        return sorted((call.op, call.user, json.loads(call.body)["owner"]) for call in self.playlist.calls if call.op != "prune")

    def told(self) -> list[tuple[str, str]]:
        """Returns who was told that who has joined."""
        return self._told(JOINED, "friend-joined")

    def told_of_followers(self) -> list[tuple[str, str]]:
        """Returns who was told that who follows them now."""
        return self._told(FOLLOWERS, "follow")

    def _told(self, topic: str, kind: str) -> list[tuple[str, str]]:
        told: list[tuple[str, str]] = []
        for head in self.intake.heads.values():
            ((user, times),) = self.intake.followers[head["id"]].items()
            other = head["payload"]["user"]
            assert (times, head["producer"]) == (1, other)
            if head["topic"] == topic.format(user):
                assert head["kind"] == kind
                told.append((user, other))
        return sorted(told)

    def posts(self) -> list[tuple[str, str]]:
        """Returns what is on walls: user and kind."""
        lines = self.wall.read_text(encoding="utf-8").splitlines() if self.wall.exists() else []
        return [(post["user"], post["kind"]) for post in map(json.loads, lines)]

"""A site with a playlist service: a real broker and access point, a recording intake, scripted presence and social."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from infra.kernel.frames import Call
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from services.playlist.core import LANES
from services.playlist.options import PlaylistOptions
from services.playlist.server import PlaylistService
from tests.services.recording_intake import RecordingIntake
from tests.services.scripted_service import ScriptedService
from tests.support.cluster import FAST, SECRET, Cluster
from tests.support.eventually import eventually
from tests.support.promises import kept
from tests.support.samples import service_token, user_token

NAME = "sto/l1"


class Site:
    """`friends` of any owner are whom social calls so, `editors` are those on its lists, and `barred` has who may not see a topic.

    `ann`, `bob` and so on are made up as they are needed.
    """

    def __init__(self, c: Cluster, folder: Path, intake: RecordingIntake, **options: Any) -> None:
        self.c, self.intake = c, intake
        self.friends: set[str] = set()
        self.editors: set[str] = set()
        self.barred: dict[bytes, set[str]] = {}
        self.presence = ScriptedService(c.network("sto/q1"), "presence", "sto/q1")
        self.social = ScriptedService(c.network("sto/s1"), "social", "sto/s1", self._answer)
        self.caller = ScriptedService(c.network("sto/ap9"), "accesspoint", "sto/ap9")
        usual = PlaylistOptions(
            site="sto",
            node="l1",
            brokers={"b1": "sto/b1"},
            presence=["sto/q1"],
            social=["sto/s1"],
            notification=[intake.url],
            listen=NAME,
            door="127.0.0.1:0",
            link=FAST,
            path=str(folder),
        )
        self.options = msgspec.structs.replace(usual, **options)
        self.service: PlaylistService

    def _answer(self, call: Call) -> bytes:
        if call.op == "post":
            return b""
        asked = msgspec.msgpack.decode(call.body)
        match call.op:
            case "may-see":
                return msgspec.msgpack.encode([self._rule(topic, call.user) for topic in asked])
            case "may-edit":
                return msgspec.msgpack.encode(self._rule(asked, call.user) or 7 * (bool(self.editors) and call.user not in self.editors))
            case "visibility":
                return msgspec.msgpack.encode("private" if asked in self.barred else "public")
        topic, users = asked
        return bytes((not self._rule(topic, user)) | (user in self.friends) << 1 for user in users)

    def _rule(self, topic: bytes, user: str) -> int:
        return 6 * (user in self.barred.get(topic, ()))

    async def start(self, *, ready: bool = True) -> None:
        """Starts the playlist service, also anew after `stop`."""
        verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        rng = random.Random(self.c.rng.getrandbits(64))
        context = Context(network=self.c.network(NAME), log=get_logger("playlist", "l1", "sto"), rng=rng)
        self.service = PlaylistService(self.options, context, verifier, service_token)
        await self.service.start()
        if ready:
            await eventually(lambda: self.service.ready() is None)

    async def stop(self) -> None:
        """Stops it."""
        await self.service.close()

    async def ask(self, user: str, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """Returns status and document of an HTTP request of `user`."""
        headers = {"Authorization": f"Bearer {token or user_token(user)}"}
        extra = {} if body is None else {"json": body}
        async with self.c.http.request(method, f"http://{self.service.address}{path}", headers=headers, **extra) as answer:
            return answer.status, await answer.json() if answer.content_type == "application/json" else None

    async def create(self, user: str, playlist_id: str = "p", **fields: Any) -> dict[str, Any]:
        """Returns a new playlist."""
        status, document = await self.ask(user, "POST", "/v1/playlists", {"id": playlist_id, "name": "A name", **fields})
        assert status == 201, document
        return dict(document)

    async def edit(self, user: str, path: str, change: dict[str, Any], version: int | None = None) -> tuple[int, Any]:
        """Returns status and document of a change of a playlist "owner/id"."""
        body = {"change": change} | ({} if version is None else {"version": version})
        return await self.ask(user, "POST", f"/v1/playlists/{path}/changes", body)

    async def show(self, path: str) -> dict[str, Any]:
        """Returns a playlist "owner/id"."""
        status, document = await self.ask("anybody", "GET", f"/v1/playlists/{path}")
        assert status == 200, document
        return dict(document)

    async def call(self, user: str, op: str, body: Any) -> bytes:
        """Calls `op` for `user` with `body` over a link, as an access point or another service does."""
        caller = self.social if op in ("follow-owner", "unfollow-owner", "prune") else self.caller
        await eventually(lambda: not caller.peers.missing())
        return await caller.peers.call("playlist", user, op, msgspec.json.encode(body))

    async def quiet(self) -> None:
        """Waits until everything that was promised is done."""
        await quiet(self.service)


async def quiet(service: PlaylistService) -> None:
    """Waits until everything that `service` promised is done."""
    await kept(service.work.stores.outbox, LANES)


@asynccontextmanager
async def site(folder: Path, **options: Any) -> AsyncIterator[Site]:
    """Yields a site that is ready."""
    async with Cluster(sites=1) as c, RecordingIntake() as intake:
        it = Site(c, folder, intake, **options)
        async with it.presence, it.social, it.caller:
            await it.start()
            for caller in (it.caller, it.social):
                caller.dial("playlist", NAME)
            try:
                yield it
            finally:
                await it.stop()


def uri(path: str) -> str:
    """Returns the topic of a playlist "owner/id"."""
    owner, _, playlist_id = path.partition("/")
    return f"hm://playlist/user/{owner}/playlist/{playlist_id}/"

"""A notification module as a process of its own, to be killed, on the engine of a cluster with real TCP."""

import asyncio
import json
import sqlite3
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import tomli_w

from accesspoint.options import AccessPointOptions
from infra.runtime.tokens import issue
from segue.cluster.ports import Ports
from segue.cluster.role_spec import RoleOptions

from .cluster import FAST, SECRET, Cluster

ROOT = Path(__file__).resolve().parents[2]
NAME = "sto/n1"
# It beats as often as the others expect, but on a busy machine a new process may be slow to hear them.
PATIENT = msgspec.structs.replace(FAST, silent_s=2.0)


class Victim(NamedTuple):
    """The process, and where its door is."""

    process: Process
    door: str

    async def kill(self) -> None:
        """Kills the process with -9, and waits for its end."""
        self.process.kill()
        await self.process.wait()


class Scene:
    """The engine, and the folder of the module's file and store."""

    def __init__(self, cluster: Cluster, folder: Path, address: str) -> None:
        self.cluster, self._folder, self._address = cluster, folder, address

    @asynccontextmanager
    async def victim(self, fault: str = "") -> AsyncIterator[Victim]:
        """Runs the module with one of the faults of `doomed`; kills it at the end if it still runs."""
        program = ["-m", "tests.support.doomed", fault] if fault else ["-m", "segue"]
        arguments = [*program, "notification", "--config", str(self._config()), "--json", "--shared-ports"]
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, cwd=ROOT, start_new_session=True)
        try:
            assert process.stdout is not None
            yield Victim(process, json.loads(await process.stdout.readline())["door"])
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def post(self, victim: Victim, body: Any, **headers: str) -> tuple[int, Any]:
        """Posts a notice; returns status and JSON. Raises aiohttp.ClientError where the process dies meanwhile."""
        token = issue(SECRET, service="artist", ttl_s=600, now_s=time.time())
        payload: dict[str, Any] = {"json": body} if isinstance(body, dict) else {"data": body}
        headers = {"Authorization": f"Bearer {token}", **headers}
        async with self.cluster.http.post(f"http://{victim.door}/v1/notifications", headers=headers, **payload) as answer:
            return answer.status, await answer.json()

    async def linked(self) -> None:
        """Waits until the module has linked to the broker and to presence."""
        nodes = [self.cluster.of("broker")[0], self.cluster.of("presence")[0]]
        await self.cluster.until(lambda: all(any(link.peer.role == "notification" for link in node.links.links) for node in nodes))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Returns what the store's file holds now; nothing while it is not there."""
        path = self._folder / "notification.sqlite"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as db:
            return db.execute(sql).fetchall()

    def _config(self) -> Path:
        book = self.cluster.addresses
        secret = self._folder / "signing.key"
        secret.touch(mode=0o600)
        secret.write_bytes(SECRET)
        table = {
            "site": "sto",
            "node": "n1",
            "brokers": {"b1": book["sto/b1"]},
            "presence": [book["sto/p1"]],
            "listen": self._address,
            "door": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "path": str(self._folder),
            "link": msgspec.to_builtins(PATIENT),
        }
        path = self._folder / "n1.toml"
        file = {"auth": {"secret_file": str(secret)}, "log": {"level": "error"}, "notification": table}
        path.write_text(tomli_w.dumps(file), encoding="utf-8")
        return path


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    """Runs one site on real TCP; its access point knows the module that is to be started."""
    with Ports() as ports:
        address = ports.take()
        async with Cluster(sites=1, tcp=True, elsewhere={NAME: address}, change=_with_notification) as cluster:
            yield Scene(cluster, folder, address)


def _with_notification(options: RoleOptions) -> RoleOptions:
    if isinstance(options, AccessPointOptions):
        return msgspec.structs.replace(options, services=options.services | {"notification": [NAME]})
    return options

"""The stored path as real processes on real TCP: what a service was told is accepted survives `kill -9` of the notification module."""

import asyncio
import json
import sys
import tomllib
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import tomli_w

import segue
from accesspoint.options import AccessPointOptions
from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Fleet
from segue.cluster.ports import Ports
from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import SITES, Shape
from segue.cluster.tokens import service_token, user_token
from tests.support.eventually import eventually
from tests.support.stored import album
from tests.support.user import User

DEADLINE_S = 90.0
ALBUMS = 30
KILLED_AFTER = 8
TELLERS = 3
AWAY = [f"u{n}" for n in range(200)]


class Intake:
    """The notification module's door, wherever it is now, as the artist service uses it."""

    def __init__(self, http: aiohttp.ClientSession, secret: bytes, door: str) -> None:
        self.door, self.accepted, self.repeated = door, 0, 0
        self.halfway = asyncio.Event()
        self._http, self._headers = http, {"Authorization": f"Bearer {service_token(secret, 'artist')}"}

    async def tell_all(self, notices: Iterator[dict[str, Any]]) -> None:
        """Has notices accepted, one after the other; others may take from the same ones."""
        for notice in notices:
            await self._tell(notice)

    async def _tell(self, notice: dict[str, Any]) -> None:
        """Repeats it with the same id until it is accepted."""
        attempts = 0

        async def is_taken() -> bool:
            nonlocal attempts
            attempts += 1
            return await self._try(notice)

        await eventually(is_taken, "it was never taken", deadline_s=DEADLINE_S, poll_s=0.05)
        self.repeated += attempts - 1
        self.accepted += 1
        if self.accepted == KILLED_AFTER:
            self.halfway.set()

    async def _try(self, notice: dict[str, Any]) -> bool:
        try:
            async with self._http.post(f"http://{self.door}/v1/notifications", json=notice, headers=self._headers) as answer:
                assert answer.status in (202, 503), await answer.text()
                return answer.status == 202
        except aiohttp.ClientError:
            return False


@pytest.mark.e2e
@pytest.mark.slow
async def test_nothing_is_lost_and_nothing_doubled_when_the_notification_process_is_killed(tmp_path: Path) -> None:
    """SB-37, SB-39: killed in the middle of fan-outs and started again. Ann, at another site and online all the time, is shown
    each album once, in the order of the marks; who was away finds each once in the inbox, without a gap."""
    secret = read_secret(ensure_secret(tmp_path))
    with Ports() as ports:
        listen = ports.take()
        async with asyncio.timeout(DEADLINE_S), Fleet(engine(listen), tmp_path / "secret.key", tmp_path) as fleet:
            config = configured(tmp_path, listen)
            stockholm, london = (point.door for point in fleet.of("accesspoint"))
            async with aiohttp.ClientSession() as http, notification(config) as (module, door):
                intake = Intake(http, secret, door)
                shown = asyncio.create_task(until_shown(f"ws://{london}/v1/connect", user_token(secret, "ann")))
                notices = iter([album(n, "ann", *AWAY) for n in range(ALBUMS)])
                telling = asyncio.gather(*(intake.tell_all(notices) for _ in range(TELLERS)))
                await intake.halfway.wait()
                module.kill()
                await module.wait()
                async with notification(config) as (module, intake.door):
                    await telling
                    assert intake.repeated > 0
                    check(await shown)
                    for user in AWAY[::40]:
                        check(await pulled(stockholm, user_token(secret, user)))
                    module.terminate()
                    assert await module.wait() == 0


def engine(notification: str) -> list[RoleOptions]:
    """Yields two sites, whose access points know the notification module at the link address `notification`."""
    found: list[RoleOptions] = []
    for options in Shape(sites=SITES[:2]).options():
        if isinstance(options, AccessPointOptions):
            found.append(msgspec.structs.replace(options, services=options.services | {"notification": [notification]}))
        else:
            found.append(options)
    return found


def configured(folder: Path, listen: str) -> Path:
    """Writes the module's file, made from that of its site's presence service."""
    presence = tomllib.loads((folder / "sto-p1.toml").read_text(encoding="utf-8"))
    table = {key: presence["presence"][key] for key in ("site", "brokers")} | {"presence": [presence["presence"]["listen"]]}
    table |= {"node": "n1", "listen": listen, "door": "127.0.0.1:0", "admin": "127.0.0.1:0", "path": str(folder / "store")}
    path = folder / "sto-n1.toml"
    path.write_text(tomli_w.dumps(presence | {"notification": table}), encoding="utf-8")
    return path


def check(items: list[tuple[int, str]]) -> None:
    """Checks that each album is there once, with marks from 1 without a gap."""
    assert [mark for mark, _ in items] == list(range(1, ALBUMS + 1))
    assert sorted(id_ for _, id_ in items) == sorted(f"bjork-{n}" for n in range(ALBUMS))


async def until_shown(url: str, token: str) -> list[tuple[int, str]]:
    """Returns what the SDK shows a user who stays, once it is as much as there is."""
    items: list[tuple[int, str]] = []
    async with segue.Client(url, token, client="laptop") as client:
        async for item in client.notifications():
            items.append((item.mark, item.id))
            if len(items) == ALBUMS:
                break
    return items


async def pulled(door: str, token: str) -> list[tuple[int, str]]:
    """Returns a user's whole inbox, pulled until every notice has been decided."""
    async with User(door, token) as user:

        async def whole() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = (await user.ask("pull", since=0, limit=500)).get("items", [])
            return items if len(items) >= ALBUMS else []

        return [(item["mark"], item["id"]) for item in await eventually(whole, deadline_s=DEADLINE_S, poll_s=0.05)]


@asynccontextmanager
async def notification(config: Path) -> AsyncIterator[tuple[Process, str]]:
    """Yields the module as a process, and its HTTP address. It is killed at the end if it still runs."""
    command = [sys.executable, "-m", "segue", "notification", "--config", str(config), "--json", "--shared-ports"]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        yield process, json.loads(await process.stdout.readline())["door"]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

"""One site as real processes, started from the sample files as compose.yaml starts them."""

import asyncio
import json
import sys
import tomllib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest

from segue.cluster.ports import Ports
from tests.support.eventually import eventually
from tests.support.samples import DEPLOY, SAMPLES, SECRET, options_of, role_of, service_token, user_token
from tests.support.user import User, feed

DEADLINE_S = 90.0
ADDRESSES = ("sites", "brokers", "listen", "aggregators", "services", "presence", "peers", "playlist", "social", "notification")
ALBUM = "hm://notifications/feed/bjork%new-album/"


@pytest.mark.e2e
@pytest.mark.slow
async def test_the_processes_of_one_site_serve_clients_and_services_and_stop_when_asked(tmp_path: Path) -> None:
    """Nothing but addresses and folders differs from the samples; of the other two sites nobody is there."""
    secret = tmp_path / "secret.key"
    secret.touch(mode=0o600)
    secret.write_bytes(SECRET)
    async with asyncio.timeout(DEADLINE_S), Site("sto", secret) as site:
        await site.ready()
        async with User(site.doors["sto-ap1"], user_token("ann")) as ann:
            await ann.has_installed("ann", wait="local")
            # Ready is said a little early: by an access point before its services are linked, by a broker before its peers are.
            await until(partial(took, ann, "play"))
            await until(partial(site.pauses, "sto-b2", "ann"))
            assert [event["kind"] for event in await ann.heard(2)] == ["play", "pause"]
            await until(partial(site.notifies, "album-1", "ann"))
            await until(partial(pulled, ann, "album-1"))
        assert set(await site.stop()) == {0}


class Site:
    """`async with Site(name, secret_file) as site:` runs the processes of a site at addresses of this machine."""

    def __init__(self, site: str, secret_file: Path) -> None:
        self._samples = [path for path in SAMPLES if path.stem.startswith(f"{site}-")]
        self._secret_file = secret_file
        self._ports = Ports()
        self._processes: list[asyncio.subprocess.Process] = []
        # The brokers of other sites get addresses too, which refuse: to look up a name that does not exist can take long.
        named = {address for path in SAMPLES for address in link_addresses(path)}
        self._book = {address: self._ports.take() for address in named}
        self.doors: dict[str, str] = {}
        self.admins: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        try:
            # Services want the address of the intake, which is told when it is open.
            await asyncio.gather(*(self._start(path) for path in self._samples if role_of(path) == "notification"))
            await asyncio.gather(*(self._start(path) for path in self._samples if role_of(path) != "notification"))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        for process in self._processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
        self._ports.__exit__(None, None, None)

    async def _start(self, path: Path) -> None:
        link_secret = f'link_auth.secret_files=["{self._secret_file}"]'
        settings = [f'auth.secret_file="{self._secret_file}"', link_secret, 'log.level="warning"', *self._addresses(path)]
        arguments = [argument for setting in settings for argument in ("--set", setting)]
        command = ["-m", "segue", role_of(path), "--config", str(path), *arguments, "--json", "--shared-ports"]
        root = DEPLOY.parents[1]
        process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=root, stdout=asyncio.subprocess.PIPE)
        self._processes.append(process)
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, f"{path.stem} did not start"
        printed = json.loads(line)
        self.doors[path.stem], self.admins[path.stem] = printed["door"], printed["admin"]

    def _addresses(self, path: Path) -> list[str]:
        """Settings that put every address of a sample on this machine, and what it stores beside the secret."""
        role = role_of(path)
        table = tomllib.loads(path.read_text(encoding="utf-8"))[role]
        doors = [f'{role}.{key}="127.0.0.1:0"' for key in ("door", "admin") if key in table]
        doors += [f'{role}.{key}="{self._secret_file.parent}"' for key in ("path", "state") if key in table]
        doors.append(f'audit.path="{self._secret_file.parent / "audit.jsonl"}"')
        return doors + [f"{role}.{key}={self._literal(table[key])}" for key in ADDRESSES if key in table]

    def _literal(self, value: Any) -> str:
        """Returns TOML for a value of a sample, its addresses replaced."""
        match value:
            case dict():
                return "{" + ",".join(f"{key}={self._literal(inner)}" for key, inner in value.items()) + "}"
            case list():
                return "[" + ",".join(map(self._literal, value)) + "]"
            case str() if value.startswith("http://"):
                return f'"http://{self.doors[value.removeprefix("http://").partition(":")[0]]}"'
        return f'"{self._book[value]}"'

    async def ready(self) -> None:
        """Waits until every process says that it is ready."""
        async with aiohttp.ClientSession() as http:
            for admin in self.admins.values():
                await until(partial(is_ready, http, admin))

    async def pauses(self, broker: str, user: str) -> bool:
        """Publishes that `user` pauses, as the presence service; returns whether that was accepted."""
        headers = {"Authorization": f"Bearer {service_token('presence')}"}
        event = {"topic": feed(user), "kind": "pause", "payload": {}}
        url = f"http://{self.doors[broker]}/v1/events"
        async with aiohttp.ClientSession() as http, http.post(url, json=event, headers=headers) as answer:
            return answer.status == 202

    async def notifies(self, album: str, user: str) -> bool:
        """Has `user` told of a new album, as the artist service; returns whether that was accepted."""
        headers = {"Authorization": f"Bearer {service_token('artist')}"}
        notice = {"id": album, "topic": ALBUM, "kind": "album", "payload": {}, "followers": [user]}
        url = f"http://{self.doors['sto-n1']}/v1/notifications"
        async with aiohttp.ClientSession() as http, http.post(url, json=notice, headers=headers) as answer:
            return answer.status == 202

    async def stop(self) -> list[int]:
        """Sends SIGTERM to all; returns their exit codes."""
        for process in self._processes:
            process.terminate()
        return [await process.wait() for process in self._processes]


def link_addresses(path: Path) -> list[str]:
    """Yields the addresses where the role of a sample, or any broker that it knows, takes links."""
    options = options_of(path)
    if role_of(path) == "broker":
        return [address for slots in options.sites.values() for address in slots.values()]
    return [options.listen] if hasattr(options, "listen") else []


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    """Asks again and again what another process says, until it is what it should be."""
    await eventually(check, deadline_s=DEADLINE_S, poll_s=0.05)


async def took(user: User, kind: str) -> bool:
    """Returns whether an action of the user was taken."""
    return bool((await user.ask("act", kind=kind))["op"] == "ok")


async def pulled(user: User, album: str) -> bool:
    """Returns whether exactly this is in the user's inbox."""
    return [item["id"] for item in (await user.ask("pull", since=0)).get("items", [])] == [album]


async def is_ready(http: aiohttp.ClientSession, admin: str) -> bool:
    """Returns whether the process is ready, as /readyz says."""
    async with http.get(f"{admin}/readyz") as answer:
        return answer.status == 200

"""Revocations on real processes: a broker that is killed with `kill -9` forgets none."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from broker.options import BrokerOptions
from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import SITES, Shape
from segue.cluster.tokens import service_token, user_token
from tests.support.user import User

DEADLINE_S = 60.0


@pytest.mark.e2e
async def test_a_revocation_outlives_kill_9_of_every_broker(tmp_path: Path) -> None:
    """DPS-28: revoke, kill -9 of all brokers, restart: the token is still refused, at both sites; the audit log has its line."""
    secret = read_secret(ensure_secret(tmp_path))
    options = [kept_in(tmp_path, each) for each in Shape(sites=SITES[:2]).options()]
    async with Fleet(options, tmp_path / "secret.key", tmp_path) as fleet, aiohttp.ClientSession() as http:
        brokers, points = fleet.of("broker"), fleet.of("accesspoint")
        token = user_token(secret, "ann")
        headers = {"Authorization": f"Bearer {service_token(secret, 'operator')}"}
        await welcomed(points[1], token)
        async with User(points[1].door, token) as ann:
            async with http.post(f"http://{brokers[0].door}/v1/revocations", json={"user": "ann"}, headers=headers) as answer:
                assert (answer.status, (await answer.json())["kept"]) == (200, "disk")
            await ann.ended()
            assert ann.closed is not None
            assert ann.closed[0] == 4205
        await known(http, brokers[1], headers)
        for broker in brokers:
            broker.process.kill()
            await broker.process.wait()
        again = [await start(broker, tmp_path) for broker in brokers]
        try:
            for door in again:
                async with http.get(f"http://{door['door']}/v1/revocations", headers=headers) as answer:
                    assert [each["name"] for each in (await answer.json())["revocations"]] == ["ann"]
            await refused(points[0], token)
        finally:
            for door in again:
                door["process"].terminate()
                await door["process"].wait()


def kept_in(folder: Path, options: Any) -> Any:
    return msgspec.structs.replace(options, state=folder) if isinstance(options, BrokerOptions) else options


async def welcomed(point: Child, token: str) -> None:
    """Waits until an access point lets somebody in."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            async with User(point.door, token) as user:
                if user.welcome["op"] == "welcome":
                    return


async def refused(point: Child, token: str) -> None:
    """Waits until an access point has heard, from a broker that has read its disk, whom it is not to let in."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            async with User(point.door, token) as user:
                if user.welcome.get("code") == "token-revoked":
                    return


async def known(http: aiohttp.ClientSession, broker: Child, headers: dict[str, str]) -> None:
    """Waits until the broker of the other site has heard of the revocation."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            async with http.get(f"http://{broker.door}/v1/revocations", headers=headers) as answer:
                if (await answer.json())["revocations"]:
                    return


async def start(broker: Child, folder: Path) -> dict[str, Any]:
    """Starts a broker again that was killed. Returns its addresses and its process."""
    arguments = ["-m", "segue", "broker", "--config", str(folder / f"{broker.site}-{broker.node}.toml"), "--json", "--shared-ports"]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        return {**msgspec.json.decode(await process.stdout.readline()), "process": process}

"""A whole site of real processes over TLS, whose certificate is renewed by SIGHUP (DPS-23)."""

import asyncio
import json
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from infra.runtime.tls.contexts import client_context
from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import Shape
from segue.cluster.tokens import service_token, user_token
from segue.demo.until import until
from tests.e2e.test_storing_roles import item, run
from tests.support.tls_files import TestAuthority
from tests.support.user import User, feed

DEADLINE_S: Final = 60.0
SERVICES: Final = ("playlist", "social", "artist")
WITH_DOORS: Final = ("accesspoint", "broker", "notification", *SERVICES)


async def until_ready(http: aiohttp.ClientSession, child: Child) -> None:
    async def is_ready() -> bool:
        async with http.get(f"{child.admin}/readyz") as answer:
            return answer.status == 200

    assert await until(is_ready, DEADLINE_S)


async def shown_serial(context: ssl.SSLContext, address: str) -> int:
    """Returns the number of the certificate that is shown at an address."""
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    certificate: Any = writer.get_extra_info("ssl_object").getpeercert()
    writer.close()
    await writer.wait_closed()
    return int(certificate["serialNumber"], 16)


async def until_another(context: ssl.SSLContext, address: str, before: int) -> None:
    """Waits until another certificate is shown at an address than the one with the number `before`."""

    async def is_another() -> bool:
        return await shown_serial(context, address) != before

    assert await until(is_another, DEADLINE_S)


async def publish(http: aiohttp.ClientSession, broker: Child, secret: bytes, number: int) -> None:
    body = {"topic": feed("bob"), "kind": "play", "payload": {"n": number}}
    headers = {"Authorization": f"Bearer {service_token(secret, 'presence')}"}
    async with http.post(f"https://{broker.door}/v1/events", json=body, headers=headers) as answer:
        assert (answer.status, (await answer.json())["accepted"]) == (202, 1)


@pytest.mark.e2e
async def test_a_site_of_real_processes_over_tls_with_a_certificate_that_is_renewed(tmp_path: Path) -> None:
    """DPS-23: every door speaks TLS, services find each other over it, and SIGHUP renews it without a lost connection or event."""
    secret, authority = read_secret(ensure_secret(tmp_path)), TestAuthority(tmp_path)
    tls, context = authority.options(ca_file=authority.ca_file), client_context(authority.ca_file)
    shape = Shape(notification=1, services=SERVICES, state=tmp_path / "store", catalogue=str(tmp_path / "catalogue.jsonl"))
    (tmp_path / "catalogue.jsonl").touch()
    connector = aiohttp.TCPConnector(ssl=context)
    async with (
        aiohttp.ClientSession(connector=connector) as http,
        Fleet(list(shape.options()), tmp_path / "secret.key", tmp_path, tls) as fleet,
    ):
        for child in fleet.children:
            assert child.admin.startswith("https://")
            await until_ready(http, child)
        (point,), (broker,), (social,) = fleet.of("accesspoint"), fleet.of("broker"), fleet.of("social")
        await befriend(http, social, secret)
        async with User(point.door, user_token(secret, "alice"), tls=context) as alice:
            assert (await alice.follow("bob"))["op"] == "subscribed"
            before = await shown_serial(context, point.door)
            for number in range(20):
                if number == 10:
                    await renew(fleet, authority, tls, context, before)
                await publish(http, broker, secret, number)
            assert [event["payload"]["n"] for event in await alice.heard_of("bob", 20)] == list(range(20))
            assert alice.closed is None
        await tell_of_an_album(http, fleet, secret, tmp_path / "catalogue.jsonl", context)


async def befriend(http: aiohttp.ClientSession, social: Child, secret: bytes) -> None:
    for one, other in (("alice", "bob"), ("bob", "alice")):
        headers = {"Authorization": f"Bearer {user_token(secret, one)}"}
        async with http.put(f"https://{social.door}/v1/social/friends/{other}", headers=headers) as answer:
            assert answer.status in (200, 201, 204), await answer.text()


async def renew(fleet: Fleet, authority: TestAuthority, tls: Any, context: ssl.SSLContext, before: int) -> None:
    """Renews the certificate, and waits until every process shows it."""
    authority.renew(tls, authority.issue(days=60))
    for child in fleet.children:
        child.process.send_signal(signal.SIGHUP)
    for child in fleet.children:
        doors = [child.door] if child.role in WITH_DOORS else []
        for address in (*doors, child.admin.removeprefix("https://")):
            await until_another(context, address, before)
        assert child.process.returncode is None


def offer(catalogue: Path, *numbers: int) -> None:
    catalogue.write_text("".join(map(item, numbers)))


async def tell_of_an_album(http: aiohttp.ClientSession, fleet: Fleet, secret: bytes, catalogue: Path, context: ssl.SSLContext) -> None:
    """Checks the way from the artist service to the notification module, which goes from door to door."""
    artist = f"https://{fleet.of('artist')[0].door}/v1/artists"
    headers = {"Authorization": f"Bearer {user_token(secret, 'alice')}"}
    async with http.put(f"{artist}/bjork/follow", headers=headers) as answer:
        assert answer.status == 200
    offer(catalogue, 1)
    await run(http, artist, secret)
    offer(catalogue, 1, 2)
    assert (await run(http, artist, secret))["announced"] == 1
    async with User(fleet.of("accesspoint")[0].door, user_token(secret, "alice"), tls=context) as alice:
        items = (await alice.pull(since=0))["items"]
        assert sorted(item["class"] for item in items) == ["new-album", "new-follower"]


@pytest.mark.e2e
async def test_a_process_refuses_to_listen_in_plain_where_others_can_listen_in(tmp_path: Path) -> None:
    """DPS-23."""
    ensure_secret(tmp_path)
    file = tmp_path / "b1.toml"
    table = '[broker]\nsite = "sto"\nslot = "b1"\ndoor = "0.0.0.0:0"\nadmin = "127.0.0.1:0"\n[broker.sites.sto]\nb1 = "127.0.0.1:0"\n'
    file.write_text(f'[auth]\nsecret_file = "{tmp_path / "secret.key"}"\n{table}')
    code, words = await ended("broker", "--config", str(file))
    assert (code, "allow_plain = true" in words, "broker.door: 0.0.0.0:0" in words) == (2, True, True)
    code, words = await ended("up", "--port-base", "0", "--host", "0.0.0.0", "--state", str(tmp_path / "up"))
    assert (code, "give --tls-cert" in words) == (2, True)


async def ended(*arguments: str) -> tuple[int | None, str]:
    """Returns the exit code and the last words of a command."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "segue", *arguments, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(DEADLINE_S):
        _, words = await process.communicate()
    return process.returncode, words.decode()


@pytest.mark.e2e
async def test_segue_up_speaks_tls_at_all_doors_and_reloads_on_sighup(tmp_path: Path) -> None:
    """DPS-23."""
    authority = TestAuthority(tmp_path)
    tls, context = authority.options(), client_context(authority.ca_file)
    async for addresses, process in up(tmp_path, "--tls-cert", str(tls.certificate), "--tls-key", str(tls.key)):
        doors = [each for one in addresses.values() for each in ([one] if isinstance(one, str) else one) if "://" in each]
        assert {each.partition(":")[0] for each in doors} == {"https", "wss"}
        where = doors[0].split("/")[2]
        before = await shown_serial(context, where)
        authority.renew(tls, authority.issue(days=60))
        process.send_signal(signal.SIGHUP)
        await until_another(context, where, before)


async def up(folder: Path, *arguments: str) -> AsyncIterator[tuple[dict[str, Any], asyncio.subprocess.Process]]:
    """Yields the addresses of a `segue up` of its own, and its process. Ends it."""
    command = ("-m", "segue", "up", "--port-base", "0", "--state", str(folder / "state"), "--json", *arguments)
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            line = await process.stdout.readline()
        yield json.loads(line), process
    finally:
        process.terminate()
        await process.wait()

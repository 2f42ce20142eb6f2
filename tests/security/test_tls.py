"""TLS at the doors of a site: who gets in, who is turned away and how, and a certificate that is renewed under load (DPS-23).

The library is the real one, and so are the sockets.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec
import pytest

from infra.runtime.door_opener import DoorOpener
from infra.runtime.http.admin import Admin
from infra.runtime.link_auth import LinkAuth
from infra.runtime.tls.contexts import client_context
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import ConnectionLost, Misuse, Refused
from segue.sdk.publisher import Publisher, PublisherOptions
from services.intake_client import Audience, IntakeClient, OutgoingNotification
from tests.support.bystander import Watched
from tests.support.certificate_folder import CertificateFolder
from tests.support.cluster import Cluster
from tests.support.samples import service_token
from tests.support.tls_files import TestAuthority
from tests.support.user import User

EVENTS: Final = 60
HELLO_BEGUN: Final = b"\x16\x03\x01\x02\x00\x01\x00"
IMPATIENT: Final = ClientOptions(open_timeout_s=1.0)


@pytest.fixture
def authority(tmp_path: Path) -> TestAuthority:
    return TestAuthority(tmp_path)


@pytest.fixture
async def place(authority: TestAuthority) -> AsyncIterator[Watched]:
    """Yields a site with TLS, and a bystander there who must not notice anything."""
    async with Watched(opener=DoorOpener(authority.options())) as place:
        yield place


async def refused(place: Watched, options: ClientOptions, scheme: str = "wss") -> str:
    """Returns why the SDK does not get in."""
    with pytest.raises((ConnectionLost, Refused)) as lost:
        async with Client(f"{scheme}://{place.point.address}", place.token("eve"), options=options):
            pass
    return str(lost.value)


async def test_the_sdk_connects_with_the_authority_and_says_why_it_does_not_without(place: Watched, authority: TestAuthority) -> None:
    """DPS-23."""
    url, publish_at = f"wss://{place.point.address}", f"https://{place.door.address}"
    options = ClientOptions(ca_file=authority.ca_file)
    async with Client(url, place.token("eve"), options=options) as client:
        await client.subscribe("hm://presence/user/fay/", wait="all")
        async with Publisher(publish_at, service_token("presence"), options=PublisherOptions(ca_file=authority.ca_file)) as publisher:
            await publisher.publish("hm://presence/user/fay/", "play", {"n": 1})
        assert (await anext(client)).payload == {"n": 1}
    assert "its certificate is not believed" in await refused(place, IMPATIENT)
    async with Publisher(publish_at, service_token("presence"), options=PublisherOptions(tries=1)) as stranger:
        with pytest.raises(ConnectionLost, match="its certificate is not believed"):
            await stranger.publish("hm://presence/user/fay/", "play", {})


async def test_an_application_may_bring_a_context_of_its_own_but_not_both(authority: TestAuthority, place: Watched) -> None:
    async with Client(
        f"wss://{place.point.address}", place.token("eve"), options=ClientOptions(tls=client_context(authority.ca_file))
    ) as client:
        await client.ping()
    with pytest.raises(Misuse, match="either ca_file or tls"):
        PublisherOptions(ca_file="a.pem", tls=client_context(authority.ca_file))
    with pytest.raises(Misuse, match=r"ca_file: .*cannot be read"):
        async with Client(f"wss://{place.point.address}", place.token("eve"), options=ClientOptions(ca_file="nothing.pem")):
            pass


@pytest.mark.parametrize("wrong", ["expired", "foreign", "name"])
async def test_a_certificate_that_is_wrong_keeps_clients_away(wrong: str, authority: TestAuthority, tmp_path: Path) -> None:
    """DPS-23: expired, of a foreign authority, for another name."""
    pairs = {
        "expired": lambda: authority.issue(days=30, age_days=31),
        "foreign": lambda: TestAuthority(tmp_path, "Somebody else").issue(),
        "name": lambda: authority.issue(["elsewhere.example"]),
    }
    said = {"expired": "certificate has expired", "foreign": "unable to get local issuer certificate", "name": "IP address mismatch"}
    opener = DoorOpener(authority.options(pairs[wrong]()))
    if wrong == "expired":
        options = opener.options
        authority.renew(options, authority.issue())
        opener = DoorOpener(options)  # the site's own clients get in, then it is the expired one again
    async with Watched(opener=opener) as place:
        if wrong == "expired":
            authority.renew(opener.options, pairs[wrong]())
            opener.reload()
        assert said[wrong] in await refused(place, ClientOptions(open_timeout_s=1.0, ca_file=authority.ca_file))
        if wrong == "expired":
            authority.renew(opener.options, authority.issue())
            opener.reload()


async def test_tls_1_1_is_refused_and_nobody_else_notices(place: Watched, authority: TestAuthority) -> None:
    """DPS-23."""
    old = client_context(authority.ca_file)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    host, _, port = place.point.address.rpartition(":")
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        await asyncio.open_connection(host, int(port), ssl=old)
    await place.cluster.until(lambda: place.cluster.opener.outcomes["version"] == 1)


async def test_plain_words_at_a_tls_door_are_answered_with_a_reason(place: Watched) -> None:
    """DPS-23."""
    assert "HTTP 400; if the door speaks TLS, write wss://" in await refused(place, IMPATIENT, "ws")
    async with place.cluster.http.post(f"http://{place.door.address}/v1/events", json={}) as answer:
        assert (answer.status, (await answer.json())["code"]) == (400, "bad-request")
        assert "speaks TLS" in (await answer.json())["reason"]
    await place.cluster.until(lambda: place.cluster.opener.outcomes["plain"] == 2)


async def test_tls_at_a_plain_door_fails_at_once_with_a_reason() -> None:
    """DPS-23."""
    async with Watched() as place:
        assert "it does not speak TLS" in await refused(place, IMPATIENT, "wss")
        with pytest.raises(aiohttp.ClientConnectorSSLError):
            await place.cluster.http.post(f"https://{place.door.address}/v1/events", json={})


async def test_hundreds_of_unfinished_handshakes_disturb_nobody(place: Watched) -> None:
    """DPS-23, DPS-26."""
    host, _, port = place.point.address.rpartition(":")
    silent = [await asyncio.open_connection(host, int(port)) for _ in range(300)]
    for number, (_, writer) in enumerate(silent):
        writer.write((b"", b"\x16", HELLO_BEGUN)[number % 3])
    await place.undisturbed()
    async with place.cluster.user("eve") as user:
        assert (await user.ask("subscribe", topics=[], wait="all"))["op"] == "subscribed"
    for _, writer in silent:
        writer.transport.abort()
    await place.cluster.until(lambda: place.cluster.opener.outcomes["closed"] == len(silent))


async def test_a_certificate_is_renewed_under_load_without_a_lost_connection_or_event(place: Watched, authority: TestAuthority) -> None:
    """DPS-23."""
    opener = place.cluster.opener
    assert opener.tls is not None
    before = opener.tls.facts.serial
    async with User(place.point.address, place.token("eve"), tls=client_context(authority.ca_file)) as steady:
        await steady.follow("fay")
        for number in range(EVENTS):
            if number in (EVENTS // 3, EVENTS // 2):
                authority.renew(opener.options, authority.issue(days=40 + number))
                opener.reload()
            await place.cluster.play("fay", n=number)
            if number % 10 == 0:
                await newcomer(place, authority, opener.tls.facts.serial)
        events = await steady.heard(EVENTS)
        assert [event["payload"]["n"] for event in events] == list(range(EVENTS))
        assert steady.closed is None
        assert shown(steady) == before != opener.tls.facts.serial


async def newcomer(place: Watched, authority: TestAuthority, serial: int) -> None:
    """Checks that who connects now is shown the certificate of that number."""
    async with User(place.point.address, place.token("gil"), tls=client_context(authority.ca_file)) as new:
        assert new.welcome["op"] == "welcome"
        assert shown(new) == serial


def shown(user: User) -> int:
    certificate = user.ws.transport.get_extra_info("ssl_object").getpeercert()
    return int(certificate["serialNumber"], 16)


async def test_a_draining_access_point_says_goodbye_over_tls(authority: TestAuthority) -> None:
    """DPS-23: `going-away` gets through, though TLS has no half close."""
    async with Cluster(sites=1, opener=DoorOpener(authority.options())) as cluster, cluster.user("eve") as user:
        (point,) = cluster.of("accesspoint")
        await point.drain()
        assert (await user.answer(lambda message: message["op"] == "error"))["code"] == "going-away"
        await user.until(lambda: user.closed is not None)
        await cluster.leave("sto/ap1")


async def test_services_post_their_notices_over_https(authority: TestAuthority, tmp_path: Path) -> None:
    """DPS-23: the way between two doors of ours."""
    opener = DoorOpener(authority.options(ca_file=authority.ca_file))
    async with Cluster(sites=1, state=tmp_path / "state", opener=opener) as cluster:
        (module,) = cluster.of("notification")
        url = f"https://{module.address}"
        notifier = IntakeClient([url], lambda: service_token("artist"), context=opener.client_context)
        notice = OutgoingNotification("n1", "hm://notifications/feed/bjork%new-album/", "album", msgspec.Raw(b'{"album":"Post"}'), "bjork")
        assert (await notifier.notify(notice, one_page())).accepted == 2
        await notifier.close()


async def one_page() -> AsyncIterator[Audience]:
    yield Audience(["alice", "bob"])


async def test_the_admin_door_speaks_tls_and_shows_the_handshakes(authority: TestAuthority) -> None:
    """DPS-23."""
    context: Any = client_context(authority.ca_file)
    opener = DoorOpener(authority.options())
    async with Admin([], "127.0.0.1", 0, doors=opener) as admin, aiohttp.ClientSession() as http:
        assert admin.address.startswith("https://")
        async with http.get(f"{admin.address}/metrics", ssl=context) as answer:
            shown = await answer.text()
    lines = dict(line.rsplit(" ", 1) for line in shown.splitlines() if line.startswith("process_tls"))
    assert opener.tls is not None
    assert lines['process_tls_handshakes_total{outcome="done"}'] == "1.0"
    assert float(lines["process_tls_expires_seconds"]) == opener.tls.expires_s


async def test_the_admin_door_shows_when_the_certificate_of_links_ends() -> None:
    """DPS-24."""
    folder = CertificateFolder()
    links = LinkAuth(folder.options("sto", "broker", "b1"))
    async with Admin([], "127.0.0.1", 0, links=links) as admin, aiohttp.ClientSession() as http:
        async with http.get(f"{admin.address}/metrics") as answer:
            shown = await answer.text()
    lines = dict(line.rsplit(" ", 1) for line in shown.splitlines() if line.startswith("process_links"))
    assert links.tls is not None
    assert float(lines["process_links_tls_expires_seconds"]) == links.tls.expires_s
    assert lines["process_links_reloads_failed_total"] == "0.0"


async def test_an_admin_door_may_stay_in_plain_on_loopback(authority: TestAuthority) -> None:
    async with Admin([], "127.0.0.1", 0, doors=DoorOpener(authority.options(plain_admin=True))) as admin:
        async with aiohttp.ClientSession() as http, http.get(f"{admin.address}/healthz") as answer:
            assert (answer.status, admin.address[:7]) == (200, "http://")

"""What all logs of a busy cluster say, and what they never say: tokens, secrets, payloads."""

import io
import json
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.runtime.logs import configure
from infra.runtime.tokens import issue
from segue.cluster.role_spec import RoleOptions
from services.artist.options import ArtistOptions
from tests.support.cluster import SECRET, Cluster
from tests.support.samples import service_token
from tests.support.user import User, feed

PAYLOAD = "PAYLOAD-THAT-NOBODY-LOGS"
ALBUM = "hm://notifications/feed/bjork%new-album/"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Has every logger write all that it has into one text, but for the test's own client."""
    text = io.StringIO()
    configure("json", "debug", text)
    client = logging.getLogger("websockets")
    before = client.level
    client.setLevel(logging.WARNING)
    yield text
    client.setLevel(before)
    configure("console", "warning", sys.stderr)


def with_catalogue(folder: Path) -> Any:
    """Returns what gives the artist service a catalogue in `folder`."""
    path = folder / "catalogue.jsonl"
    path.write_text(json.dumps({"artist": "bjork", "type": "album", "id": "post", "title": PAYLOAD}) + "\n")

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, catalogue=str(path)) if isinstance(options, ArtistOptions) else options

    return change


async def be_busy(c: Cluster) -> list[str]:
    """Does a little of everything, right and wrong. Returns the tokens that were shown."""
    forged = issue(b"another secret, of thirty-two bytes!", user="ann", ttl_s=60, now_s=time.time())
    expired = issue(SECRET, user="ann", ttl_s=1, now_s=time.time() - 3600)
    token = c.token("bob")
    point = c.of("accesspoint")[0].address
    for wrong in (forged, expired, token[:-3], "PAYLOAD-IN-PLACE-OF-A-TOKEN"):
        async with User(point, wrong) as refused:
            assert refused.welcome["op"] == "error"
    async with User(point, token) as bob, c.user("ann", "lon") as ann:
        await ann.follow("bob")
        await bob.ask("act", kind="play", track=PAYLOAD)
        await bob.ws.send(f'{{"op":"{PAYLOAD}","text":"{PAYLOAD}"')
        await bob.ask("pull", since=0, limit=10)
        await c.post({"topic": feed("bob"), "kind": "play", "payload": {"text": PAYLOAD}})
        await c.post(f'[{{"topic":"{PAYLOAD}"'.encode())
        await c.post({"topic": feed("bob"), "kind": "play", "payload": {"text": PAYLOAD * 1000}})
        await c.notify({"id": "n1", "topic": ALBUM, "kind": "album", "payload": {"text": PAYLOAD}, "followers": ["ann"]})
        await c.notify(f'{{"id":"{PAYLOAD}'.encode())
        await c.request("bob", "PUT", "playlist", f"/v1/playlists/{PAYLOAD}", {"text": PAYLOAD})
        await c.operate("POST", "/v1/announcements", {"text": PAYLOAD, "data": {"text": PAYLOAD}})
        await c.operate("POST", "/v1/revocations", {"user": "ann"})
        await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 60})
        await c.operate("POST", "/v1/bans", {"user": PAYLOAD + " "})
        await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 60}, service="presence")
        await c.operate("GET", "/v1/bans", service="presence")
        await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 60}, service="monitor")
        await ann.ended()
        await bob.ended()
    await c.notify(None, service="operator", path="/v1/dead-letters/none/replay")
    for service in ("presence", "monitor"):
        await c.notify(None, service=service, path="/v1/dead-letters/none/replay")
    url = f"http://{c.of('artist')[0].address}/v1/artists/run"
    async with c.http.post(url, headers={"Authorization": f"Bearer {service_token('operator')}"}) as answer:
        assert answer.status == 202
    await c.crash("lon/b1")
    await c.restart("lon/b1")
    await c.settle()
    return [forged, expired, token, service_token("operator"), service_token("presence")]


async def test_no_log_of_a_busy_cluster_holds_a_token_a_secret_or_a_payload(tmp_path: Path, logged: io.StringIO) -> None:
    """Secrets and payloads never appear in any log; every change of an operator is a line of the audit log, at every door."""
    audit = tmp_path / "audit.jsonl"
    services = ("playlist", "social", "artist")
    async with Cluster(sites=2, state=tmp_path / "store", services=services, change=with_catalogue(tmp_path), audit=audit) as c:
        tokens = await be_busy(c)
    everything = logged.getvalue() + audit.read_text()
    assert "link up" in everything
    signatures = [part for token in tokens for part in token.split(".") if len(part) > 40]
    for secret in (*signatures, SECRET.decode(), PAYLOAD):
        where = everything.find(secret)
        assert where < 0, everything[max(0, where - 300) : where + 100]
    changes = [(line["who"], line["what"], line["on"], line["result"]) for line in map(json.loads, audit.read_text().splitlines())]
    assert changes == [
        ("operator", "announce", "everybody", "ok"),
        ("operator", "revoke", "user ann", "ok"),
        ("operator", "ban", "user bob", "ok"),
        ("operator", "ban", "-", "bad-field"),
        ("presence", "ban", "-", "forbidden"),
        ("monitor", "ban", "-", "forbidden"),
        ("operator", "replay of a dead letter", "none", "not-found"),
        ("presence", "replay of a dead letter", "none", "forbidden"),
        ("monitor", "replay of a dead letter", "none", "forbidden"),
        ("operator", "artist run", "-", "ok"),
    ]

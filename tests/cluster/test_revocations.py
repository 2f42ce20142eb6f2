"""Revocations and bans in whole clusters: who is sent away, who is kept out, and what a restart or a cut forgets (DPS-28)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from accesspoint.session import SessionState
from broker.options import BrokerOptions
from infra.runtime.address import Address
from infra.runtime.revocation_book import RevocationBook
from infra.runtime.tokens import Identity, issue
from segue.cluster.role_spec import RoleOptions
from tests.support.bystander import points
from tests.support.cluster import SECRET, Cluster
from tests.support.samples import service_token
from tests.support.user import User
from tests.support.web_place import RawHttp

TOKEN_REVOKED, BANNED = 4205, 4206
DEADLINE_S = 30.0


def kept_in(folder: Path) -> Callable[[RoleOptions], RoleOptions]:
    """Returns what has brokers keep what was revoked."""

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, state=folder) if isinstance(options, BrokerOptions) else options

    return change


async def revoke(c: Cluster, site: str = "sto", broker: int = 0, **body: Any) -> dict[str, Any]:
    """Revokes what `body` names, tokens of the next minute included: a test makes its tokens when it needs them."""
    body = {"issued_before": time.time() + 60} | body
    status, answer = await c.operate("POST", "/v1/revocations", body, site=site, broker=broker)
    assert status == 200, answer
    return dict(answer)


def knows(c: Cluster, kind: str, name: str, *roles: str) -> bool:
    """Returns whether every node of `roles` knows of a revocation or a ban."""
    return all(name in names_of(node, kind) for role in roles for node in c.of(role))


def keeps_out(node: Any, user: str) -> bool:
    return book_of(node).refusal(Identity(user, expires_s=2**40, issued_s=2**40)) is not None


def book_of(node: Any) -> RevocationBook:
    book: RevocationBook = {"broker": lambda: node.keeper.book, "accesspoint": lambda: node.upstream.revocations}[node.role]()
    return book


def names_of(node: Any, kind: str) -> set[str]:
    known = book_of(node).known
    return {each.user for each in known.bans()} if kind == "ban" else {each.name for each in known.revocations()}


@asynccontextmanager
async def streaming(c: Cluster, service: str) -> AsyncIterator[RawHttp]:
    """Gives a connection on which `service` has begun to publish, line by line, in chunks."""
    host, port = Address.parse(c.of("broker")[0].address)
    head = f"Host: b1\r\nAuthorization: Bearer {service_token(service)}\r\nContent-Type: application/x-ndjson"
    async with RawHttp(host, port) as connection:
        connection.send(f"POST /v1/events HTTP/1.1\r\n{head}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        yield connection


def line(user: str, n: int) -> bytes:
    """Returns the chunk that is a line with an event of `user`."""
    said = json.dumps({"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": n}}).encode() + b"\n"
    return b"%x\r\n%b\r\n" % (len(said), said)


async def test_sessions_of_a_user_end_at_every_site_and_the_token_is_not_taken_again(tcp: bool) -> None:
    """DPS-28: one request at one broker; every access point of every site closes with token-revoked, and refuses the token."""
    async with Cluster(sites=2, brokers=2, accesspoints=2, tcp=tcp) as c:
        anns = [c.user("ann", site, point) for site in c.sites for point in (0, 1)]
        async with anns[0], anns[1], anns[2], anns[3], c.user("bob", "lon") as bob:
            begun_s = time.monotonic()
            answer = await revoke(c, user="ann")
            assert answer["revocation"]["kind"] == "user"
            for ann in anns:
                await ann.ended()
                assert ann.closed is not None
                assert ann.closed[0] == TOKEN_REVOKED
            assert time.monotonic() - begun_s < 2
            async with c.user("ann", "lon") as again:
                assert again.welcome["code"] == "token-revoked"
            await bob.fence()
            assert bob.closed is None


async def test_one_token_is_revoked_by_its_id_and_others_of_the_same_user_are_not() -> None:
    """DPS-28: by `jti`."""
    async with Cluster(sites=1) as c:
        stolen = issue(SECRET, user="ann", ttl_s=3600, now_s=time.time(), token_id="stolen")
        async with User(c.of("accesspoint")[0].address, stolen) as thief, c.user("ann") as ann:
            await revoke(c, jti="stolen")
            await thief.ended()
            await ann.fence()
            assert ann.closed is None


async def test_a_service_whose_tokens_are_revoked_publishes_no_more() -> None:
    """DPS-28: every HTTP door asks, also for tokens that it remembers."""
    async with Cluster(sites=2) as c:
        await c.play("ann")
        await revoke(c, service="presence")
        await c.until(lambda: knows(c, "service", "presence", "broker"))
        for site in c.sites:
            status, answer = await c.post([], site=site)
            assert (status, answer["code"]) == (401, "token-revoked")


async def test_a_stream_of_a_revoked_service_ends_with_the_revocation_and_nothing_of_it_is_published_any_more() -> None:
    """DPS-28: the client is told, though it says nothing; what it had sent before is there. Streams of others go on."""
    async with Cluster(sites=1) as c, c.user("ann") as ann, AsyncExitStack() as stack:
        await ann.follow("bob", "cid")
        thief, other = [await stack.enter_async_context(streaming(c, service)) for service in ("presence", "playlist")]
        thief.send(line("bob", 1))
        await ann.heard(1)
        await revoke(c, service="presence")
        async with asyncio.timeout(DEADLINE_S):
            status, headers, body = await thief.answer()
        assert (status, headers["connection"], json.loads(body)["code"]) == (401, "close", "token-revoked")
        thief.send(line("cid", 2))
        other.send(line("eve", 3) + b"0\r\n\r\n")
        assert (await other.answer())[0] == 202
        await ann.fence()
        assert [event["payload"]["n"] for event in ann.events] == [1]


async def test_a_token_that_was_shown_a_moment_ago_is_not_taken_after_its_revocation() -> None:
    """DPS-28: what a broker remembers of heads is forgotten."""
    async with Cluster(sites=1) as c:
        headers = {"Authorization": f"Bearer {service_token('presence')}"}
        assert (await c.post([], headers=headers))[0] == 202
        await revoke(c, service="presence")
        status, answer = await c.post([], headers=headers)
        assert (status, answer["code"]) == (401, "token-revoked")


async def test_whoever_was_away_hears_of_it_when_they_are_back(tcp: bool) -> None:
    """DPS-28: a broker that was down, an access point that is new, and a site that was cut off learn all of it."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c:
        await c.crash("sto/b2")
        c.partition("sto", "lon")
        await c.settle()
        await revoke(c, "sto", user="ann")
        await revoke(c, "lon", user="bob")
        assert not knows(c, "user", "ann", "broker")
        await c.crash("lon/ap1")
        await c.restart("sto/b2")
        await c.restart("lon/ap1")
        c.heal()
        await c.settle()
        await c.until(lambda: knows(c, "user", "ann", "broker") and knows(c, "user", "bob", "broker"))
        for site in c.sites:
            for user in ("ann", "bob"):
                async with c.user(user, site) as refused:
                    assert refused.welcome["code"] == "token-revoked"


async def test_an_access_point_lets_nobody_in_before_it_has_heard_who_is_revoked(tcp: bool) -> None:
    """DPS-28: it was restarted while no aggregator was there. Hellos wait, and are answered as soon as a broker has told."""
    async with Cluster(sites=1, tcp=tcp) as c:
        await revoke(c, user="ann")
        await c.crash("sto/a1")
        await c.crash("sto/ap1")
        await c.restart("sto/ap1")
        (point,) = c.of("accesspoint")
        async with asyncio.TaskGroup() as group:
            hellos = [group.create_task(c.user(user).__aenter__()) for user in ("ann", "bob")]
            await c.until(lambda: [each.state for each in point.core.sessions] == [SessionState.ASKING] * 2)
            assert not any(hello.done() for hello in hellos)
            assert point.ready() == "no link to an aggregator"
            await c.restart("sto/a1")
        ann, bob = (hello.result() for hello in hellos)
        assert (ann.welcome["code"], bob.welcome["op"]) == ("token-revoked", "welcome")
        assert point.ready() is None
        for user in (ann, bob):
            await user.__aexit__()


async def test_who_waits_in_vain_for_an_access_point_to_hear_is_told_to_come_back() -> None:
    """DPS-28: an access point that can hear from nobody refuses for a while what it cannot know."""
    async with Cluster(sites=1, change=points(hello_s=0.1)) as c:
        await c.crash("sto/a1")
        await c.crash("sto/ap1")
        await c.restart("sto/ap1")
        async with c.user("bob") as bob:
            assert bob.welcome["code"] == "unavailable"


async def test_a_restart_of_all_brokers_forgets_none(tmp_path: Path) -> None:
    """DPS-28: kept on every broker's disk, also on that of a broker that has only heard of it."""
    async with Cluster(sites=2, change=kept_in(tmp_path)) as c:
        assert (await revoke(c, user="ann"))["kept"] == "disk"
        assert (await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 600}))[0] == 200
        await c.until(lambda: knows(c, "user", "ann", "broker") and knows(c, "ban", "bob", "broker"))
        for name in ("sto/b1", "lon/b1"):
            await c.leave(name)
    async with Cluster(sites=2, change=kept_in(tmp_path)) as c:
        assert knows(c, "user", "ann", "broker")
        await c.until(lambda: knows(c, "user", "ann", "accesspoint") and knows(c, "ban", "bob", "accesspoint"))
        async with c.user("ann", "lon") as ann, c.user("bob", "lon") as bob:
            assert (ann.welcome["code"], bob.welcome["code"]) == ("token-revoked", "banned")


async def test_without_a_folder_the_operator_is_told_that_memory_forgets() -> None:
    """DPS-28: told loudly, not refused."""
    async with Cluster(sites=1) as c:
        assert (await revoke(c, user="ann"))["kept"] == "memory"
        assert c.of("broker")[0].counters()["broker_revocations_kept"] == 0


async def test_a_ban_keeps_a_user_out_until_it_is_lifted_at_any_site() -> None:
    async with Cluster(sites=2) as c, c.user("ann", "lon") as ann:
        status, made = await c.operate("POST", "/v1/bans", {"user": "ann", "seconds": 60})
        assert (status, made["ban"]["user"]) == (200, "ann")
        await ann.ended()
        assert ann.closed is not None
        assert ann.closed[0] == BANNED
        async with c.user("ann", "sto") as refused:
            assert refused.welcome["code"] == "banned"
        await c.until(lambda: knows(c, "ban", "ann", "broker"))
        assert [each["user"] for each in (await c.operate("GET", "/v1/bans", site="lon"))[1]["bans"]] == ["ann"]
        assert await c.operate("POST", "/v1/bans/lift", {"user": "ann"}, site="lon") == (200, {"ban": None, "kept": "memory"})
        await c.until(lambda: not any(keeps_out(point, "ann") for point in c.of("accesspoint")))
        async with c.user("ann", "sto") as back:
            assert back.welcome["op"] == "welcome"
        assert (await c.operate("GET", "/v1/bans"))[1] == {"bans": [], "more": False}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "bad-field"),
        ({"user": "ann", "jti": "t"}, "bad-field"),
        ({"user": "no name"}, "bad-field"),
        ({"user": "ann", "until": 1}, "bad-field"),
        ({"user": "ann", "other": 1}, "bad-field"),
    ],
)
async def test_a_revocation_that_makes_no_sense_is_refused(body: dict[str, Any], code: str) -> None:
    async with Cluster(sites=1) as c:
        status, answer = await c.operate("POST", "/v1/revocations", body)
        assert (status, answer["code"]) == (400, code)
        assert (await c.operate("GET", "/v1/revocations"))[1] == {"revocations": [], "more": False}


async def test_only_operators_are_let_in() -> None:
    """A service that may publish may not send anybody away."""
    async with Cluster(sites=1) as c:
        for request in (
            partial(c.operate, "GET", "/v1/sessions?user=ann"),
            partial(c.operate, "GET", "/v1/bans"),
            partial(c.operate, "GET", "/v1/revocations"),
            partial(c.operate, "POST", "/v1/revocations", {"user": "ann"}),
            partial(c.operate, "POST", "/v1/announcements", {"text": "x"}),
        ):
            status, answer = await request(service="presence")
            assert (status, answer["code"]) == (403, "forbidden")


async def test_every_http_door_of_a_service_refuses_a_revoked_token_and_a_banned_user(tmp_path: Path) -> None:
    """DPS-28: playlist, social, artist and notification hear of it from brokers."""
    paths = {
        "playlist": "/v1/playlists/ann/none",
        "social": "/v1/social/friends",
        "artist": "/v1/artists/followed",
        "notification": "/v1/me/notifications",
    }
    async with Cluster(sites=1, state=tmp_path, services=("playlist", "social", "artist")) as c:
        await revoke(c, user="ann")
        await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 60})
        for user, code in (("ann", "token-revoked"), ("bob", "banned")):
            for role, path in paths.items():
                async with asyncio.timeout(DEADLINE_S):
                    while (answer := await c.request(user, "GET", role, path))[1].get("code") != code:
                        assert answer[0] in (200, 404), (role, answer)


async def test_a_service_that_starts_again_opens_its_door_when_it_knows_who_is_revoked(tmp_path: Path) -> None:
    """DPS-28: the very first request of somebody whose tokens are revoked is refused, also after a restart beside a slow broker."""
    paths = {"sto/playlist1": ("playlist", "/v1/playlists/ann/none"), "sto/n1": ("notification", "/v1/me/notifications")}
    async with Cluster(sites=1, state=tmp_path, services=("playlist",)) as c:
        await revoke(c, user="ann")
        for name, (role, path) in paths.items():
            await c.leave(name)
            c.plan.hold("sto/b1", name)
            starting = asyncio.create_task(c.restart(name))
            await c.until(lambda name=name: bool(c.plan.held["sto/b1", name]))  # type: ignore[misc]
            assert c.roles[name].address.endswith(":0"), "its door is open"
            c.plan.release("sto/b1", name)
            await starting
            status, answer = await c.request("ann", "GET", role, path)
            assert (status, answer.get("code")) == (401, "token-revoked"), name

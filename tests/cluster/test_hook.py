"""The policy `hook`: a server of the operator says who may come in and who may see what, in a whole cluster."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

import segue
from accesspoint.authorization.hook_options import HookOptions
from accesspoint.options import AccessPointOptions
from infra.runtime.outgoing.options import OutgoingOptions
from tests.support.cluster import Cluster
from tests.support.hook_backend import HookBackend, hook_backend
from tests.support.user import feed

HERE = OutgoingOptions(private=["127.0.0.1"])
SECRET = "a-secret-of-the-backend-0123456789"


@asynccontextmanager
async def hooked(outgoing: OutgoingOptions = HERE, *, connects: bool = True, **settings: Any) -> AsyncIterator[tuple[Cluster, HookBackend]]:
    """Gives a cluster of one site whose access point asks a server, and that server."""
    async with hook_backend() as backend:

        def change(options: Any) -> Any:
            if not isinstance(options, AccessPointOptions):
                return options
            connect = f"{backend.url}/connect" if connects else ""
            hook = HookOptions(subscribe=f"{backend.url}/subscribe", connect=connect, **settings)
            made = msgspec.structs.replace(options, hook=hook)
            made.check()
            return made

        async with Cluster(sites=1, policy="hook", change=change, outgoing=outgoing) as c:
            yield c, backend


async def test_the_hook_says_who_may_see_what_and_is_told_who_asks_it(tmp_path: Path) -> None:
    """AUTH-10: what it does not allow is refused, with its reason."""
    path = tmp_path / "hook.key"
    path.write_text(SECRET)
    path.chmod(0o600)
    async with hooked(secret_file=path) as (c, backend):
        backend.allowed = {("ann", feed("bob"))}
        async with c.user("ann") as ann, c.user("bob") as bob:
            answer = await ann.ask("subscribe", topics=[feed("bob"), feed("eve"), feed("ann")])
            assert answer["rejected"] == [{"topic": feed("eve"), "code": "forbidden", "number": 4204, "reason": "not for you"}]
            assert backend.headers["Authorization"] == f"Bearer {SECRET}"
            assert backend.of("/subscribe") == [{"user": "ann", "topics": [feed("bob"), feed("eve")], "site": "sto", "node": "ap1"}]
            assert (await bob.ask("act", kind="play", track="1"))["op"] == "ok"
            await ann.heard(1)
            assert (await bob.follow("ann"))["rejected"] != []


async def test_an_answer_is_remembered_for_the_next_session_of_the_user() -> None:
    async with hooked() as (c, backend):
        backend.allowed = {("ann", feed("bob"))}
        for _ in range(2):
            async with c.user("ann") as ann:
                (rejected,) = (await ann.follow("bob", "eve"))["rejected"]
                assert rejected["topic"] == feed("eve")
        assert (len(backend.of("/subscribe")), len(backend.of("/connect"))) == (1, 2)
        counters = c.of("accesspoint")[0].counters()
        assert counters["accesspoint_hook_asked_total"] == {"connect": 2, "subscribe": 1}
        assert (counters["accesspoint_hook_from_cache_total"], counters["accesspoint_hook_cached"]) == (2, 2)


async def test_whom_the_hook_does_not_let_in_is_told_why_and_never_welcomed() -> None:
    async with hooked() as (c, backend):
        backend.banned = {"eve"}
        async with c.user("eve") as eve:
            assert (eve.welcome["code"], eve.welcome["reason"]) == ("forbidden", "not for you")
            await eve.ended()
            assert eve.closed == (4204, "not for you")
        async with c.user("ann") as ann:
            assert ann.welcome["op"] == "welcome"
            assert backend.of("/connect")[-1] == {"user": "ann", "client": "test", "device": "desktop", "site": "sto", "node": "ap1"}
        assert c.of("accesspoint")[0].counters()["accesspoint_disconnects_total"]["forbidden"] == 1


async def test_what_a_client_says_behind_its_hello_waits_for_the_answer_in_order() -> None:
    """A large message, too: the bound of strangers is over when the answer is in."""
    async with hooked() as (c, backend):
        backend.mood, url = "slow", f"ws://{c.of('accesspoint')[0].address}/v1/connect"
        async with connect(url, subprotocols=[Subprotocol("segue.v1")], compression=None) as ws:
            await ws.send(json.dumps({"op": "hello", "token": c.token("ann")}))
            await ws.send(json.dumps({"op": "ping", "id": "first", "pad": "x" * 100_000}))
            await backend.arrived.wait()
            await ws.send(json.dumps({"op": "ping", "id": "second"}))
            assert c.of("accesspoint")[0].core.said["ping"] == 0
            backend.go_on.set()
            assert [json.loads(await ws.recv())["op"] for _ in range(3)] == ["welcome", "pong", "pong"]


async def test_who_leaves_while_the_hook_is_asked_leaves_nothing_behind() -> None:
    async with hooked() as (c, backend):
        backend.mood, point = "slow", c.of("accesspoint")[0]
        async with connect(f"ws://{point.address}/v1/connect", subprotocols=[Subprotocol("segue.v1")]) as ws:
            await ws.send(json.dumps({"op": "hello", "token": c.token("ann")}))
            await backend.arrived.wait()
            ws.transport.abort()
        await c.until(lambda: not point.core.sessions)
        backend.go_on.set()
        await c.until(lambda: point.counters()["accesspoint_hook_open"] == 0)
        assert (len(point.core.users), len(point.core.arrivals.strangers)) == (0, 0)


@pytest.mark.parametrize("mood", ["500", "401", "404", "nonsense", "huge", "redirect"])
async def test_an_answer_that_cannot_be_believed_allows_nothing(mood: str) -> None:
    """AUTH-10, DPS-26: neither does what a redirect leads to, for nobody follows it."""
    async with hooked() as (c, backend), c.user("ann") as ann:
        backend.allowed, backend.mood = {("ann", feed("bob"))}, mood
        (rejected,) = (await ann.follow("bob"))["rejected"]
        assert rejected["code"] == "unavailable"
        assert "127.0.0.1" not in rejected["reason"]
        async with c.user("bob") as bob:
            assert bob.welcome["code"] == "unavailable"
        assert backend.of("/elsewhere") == []
        failed = c.of("accesspoint")[0].counters()["accesspoint_hook_failed_total"]
        assert failed == {"connect": 1, "subscribe": 2}  # a question is asked once more
        backend.mood = "good"
        assert (await ann.follow("bob"))["rejected"] == []


async def test_a_status_of_403_forbids_all_that_was_asked() -> None:
    async with hooked() as (c, backend), c.user("ann") as ann:
        backend.mood = "403"
        assert {each["code"] for each in (await ann.follow("bob", "eve"))["rejected"]} == {"forbidden"}
        async with c.user("eve") as eve:
            assert eve.welcome["code"] == "forbidden"


async def test_a_slow_server_is_waited_for_no_longer_than_the_option_says() -> None:
    async with hooked(timeout_s=0.05) as (c, backend), c.user("ann") as ann:
        backend.allowed, backend.mood = {("ann", feed("bob"))}, "slow"
        assert [each["code"] for each in (await ann.follow("bob"))["rejected"]] == ["unavailable"]
        async with c.user("bob") as bob:
            assert bob.welcome["code"] == "unavailable"


async def test_more_questions_than_may_wait_are_not_asked() -> None:
    async with hooked(max_open=1, max_waiting=1) as (c, backend), c.user("ann") as ann:
        backend.mood = "slow"
        for user in ("bob", "cid"):
            await ann.ws.send(json.dumps({"op": "subscribe", "id": user, "topics": [feed(user)]}))
        answer = await ann.ask("subscribe", topics=[feed("eve")])
        assert [each["code"] for each in answer["rejected"]] == ["unavailable"]
        assert "no more are asked" in answer["rejected"][0]["reason"]
        backend.go_on.set()
        assert (await ann.answer(lambda message: message.get("id") == "cid"))["op"] == "subscribed"
        assert [question["topics"] for question in backend.of("/subscribe")] == [[feed("bob")], [feed("cid")]]


async def test_an_address_that_is_not_listed_is_not_called() -> None:
    """DPS-26."""
    async with hooked(OutgoingOptions()) as (c, backend), c.user("ann") as ann:
        assert ann.welcome["code"] == "unavailable"
        assert backend.asked == []


async def test_without_a_url_for_connect_whoever_has_a_good_token_may_come_in() -> None:
    async with hooked(connects=False) as (c, backend), c.user("ann") as ann:
        assert (ann.welcome["op"], backend.asked) == ("welcome", [])


async def test_the_sdk_comes_back_when_the_hook_answers_again_and_not_when_it_says_no() -> None:
    async with hooked() as (c, backend):
        url = f"ws://{c.of('accesspoint')[0].address}/v1/connect"
        backend.banned, backend.mood = {"eve"}, "500"
        states: list[str] = []

        def told(state: segue.State) -> None:
            states.append(state.reason)
            if state.phase is segue.Phase.WAITING:
                backend.mood = "good"

        async with asyncio.timeout(30), segue.Client(url, c.token("ann"), on_state=told) as ann:
            assert (await ann.subscribe(feed("ann"))) is not None
        assert any("500" in reason for reason in states)
        with pytest.raises(segue.Refused, match="not for you"):
            async with asyncio.timeout(30), segue.Client(url, c.token("eve")):
                pass


async def test_what_the_hook_takes_back_ends_by_itself_and_a_new_secret_is_shown_after_a_hang_up(tmp_path: Path) -> None:
    """AUTH-10."""
    path = tmp_path / "hook.key"
    path.write_text(SECRET)
    path.chmod(0o600)
    async with hooked(secret_file=path, recheck_s=0.5) as (c, backend):
        backend.allowed = {("ann", feed("bob")), ("ann", feed("cid"))}
        async with c.user("ann") as ann:
            assert (await ann.follow("bob", "cid"))["rejected"] == []
            path.write_text(SECRET[::-1])
            renew = c.of("accesspoint")[0].on_hang_up
            assert renew is not None
            renew()
            backend.allowed = {("ann", feed("cid"))}
            ended = await ann.answer(lambda message: message["op"] == "ended")
            assert [(each["topic"], each["code"], each["reason"]) for each in ended["topics"]] == [
                (feed("bob"), "forbidden", "not for you")
            ]
            assert backend.headers["Authorization"] == f"Bearer {SECRET[::-1]}"
            assert c.of("accesspoint")[0].counters()["accesspoint_hook_asked_total"]["again"] >= 1

"""The client against a server that plays a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import segue
from tests.support.scripted_server import DEADLINE_S, TIME_MS, Message, ScriptedServer, error, event, subscribed, welcome

BOB = "hm://presence/user/bob/"
EVE = "hm://presence/user/eve/"
FAST = segue.ClientOptions(backoff=segue.Backoff(base_s=0.001, cap_s=0.002), open_timeout_s=DEADLINE_S)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        yield running


class States:
    """Hears every state and lets a test wait for the next one of a phase."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[segue.State] = asyncio.Queue()

    def __call__(self, state: segue.State) -> None:
        self._heard.put_nowait(state)

    async def next(self, phase: segue.Phase) -> segue.State:
        async with asyncio.timeout(DEADLINE_S):
            while (state := await self._heard.get()).phase is not phase:
                pass
            return state


def connect(server: ScriptedServer, token: Any = None, **kwargs: Any) -> segue.Client:
    return segue.Client(server.url, token or "secret", **({"options": FAST} | kwargs))


async def take(client: segue.Client) -> segue.Event:
    async with asyncio.timeout(DEADLINE_S):
        return await anext(client)


def rejecting(code: str) -> Callable[[Message], Message]:
    return lambda message: (
        subscribed(message) | {"rejected": [{"topic": topic, "code": code} for topic in message["topics"] if topic == EVE]}
    )


async def test_the_first_message_is_a_hello_with_the_token(server: ScriptedServer) -> None:
    async with connect(server, client="phone-1", device="mobile", user="alice"):
        peer = await server.next_peer()
    assert peer.hello == {"op": "hello", "token": "secret", "client": "phone-1", "device": "mobile", "user": "alice"}


async def test_an_event_arrives_as_a_typed_frozen_value(server: ScriptedServer) -> None:
    async with connect(server) as client:
        await client.subscribe(BOB)
        await (await server.next_peer()).send(event(BOB, 1))
        got = await take(client)
    assert got == segue.Event(topic=BOB, site="sto", epoch=7, seq=1, ts_ms=TIME_MS, id="e1", kind="play", payload={"artist": "Björk"})
    assert (got.gap, got.skipped) == (0, 0)
    with pytest.raises(AttributeError):
        got.seq = 2  # type: ignore[misc]


async def test_subscribe_says_how_far_the_subscription_got(server: ScriptedServer) -> None:
    server.answers["subscribe"] = lambda message: subscribed(message) | {"installed": "partial", "missing_sites": ["lon", "ash"]}
    async with connect(server) as client:
        installed = await client.subscribe([BOB, EVE], wait="all")
        asked = await (await server.next_peer()).heard("subscribe")
    assert (asked["topics"], asked["wait"]) == ([BOB, EVE], "all")
    assert (installed.installed, installed.missing_sites) == ("partial", ("ash", "lon"))


async def test_many_topics_are_sent_in_messages_that_the_server_takes(server: ScriptedServer) -> None:
    topics = [f"hm://presence/user/u{number}/" for number in range(7)]
    async with connect(server) as client:
        installed = await client.subscribe(topics)
        peer = await server.next_peer()
        sent = [(await peer.heard("subscribe"))["topics"] for _ in range(3)]
    assert sent == [topics[:3], topics[3:6], topics[6:]]
    assert installed.installed == "local"


async def test_missing_numbers_show_as_a_gap_and_skipped_ones_do_not(server: ScriptedServer) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        for message in (event(BOB, 5), event(BOB, 8), event(BOB, 11, skipped=2), event(BOB, 12)):
            await peer.send(message)
        assert [(await take(client)).gap for _ in range(4)] == [0, 2, 0, 0]


async def test_a_lost_connection_comes_back_with_all_topics(server: ScriptedServer) -> None:
    """SB-60: the client of an access point that died subscribes everything again elsewhere."""
    async with connect(server) as client:
        await client.subscribe([BOB, EVE])
        (await server.next_peer()).drop()
        peer = await server.next_peer()
        assert (await peer.heard("subscribe"))["topics"] == [BOB, EVE]
        await peer.send(event(BOB, 900))
        assert (await take(client)).gap is None  # what was published meanwhile is unknown, not counted


WINDOW = {"user": {"keep": "latest", "seconds": 120}}


def keeping(server: ScriptedServer) -> None:
    """Makes `server` one that recovers; the test answers what comes after the first subscribe."""
    first = {"recovered": False, "lost": [{"topic": BOB, "reason": "expired"}], "replayed": 0, "point": "p1"}
    server.answers["hello"] = lambda message: welcome(message) | {"window": WINDOW}

    def subscribe(message: Message) -> Message | None:
        return None if "point" in message or "since" in message else subscribed(message) | first

    server.answers["subscribe"] = subscribe


async def test_who_was_away_gets_what_was_missed_once_and_hears_that_it_was_all(server: ScriptedServer) -> None:
    """DPS-5, DPS-6: the numbers go on over connections, and what had come is not handed out again."""
    keeping(server)
    states, missed = States(), list[segue.Gap]()
    async with connect(server, on_state=states, on_gap=missed.append) as client:
        assert (await client.subscribe(BOB)).recovered is None
        assert (await states.next(segue.Phase.CONNECTED)).installed == segue.Installed(installed="all")
        peer = await server.next_peer()
        await peer.send(event(BOB, 5))
        await take(client)
        peer.drop()
        peer = await server.next_peer()
        asked = await peer.heard("subscribe")
        assert (asked["recover"], asked["point"], asked["since"]) == (True, "p1", {BOB: {"sto": [7, 5]}})
        for message in (event(BOB, 5), event(BOB, 7, skipped=1)):
            await peer.send(message)
        await peer.send(subscribed(asked) | {"recovered": True, "lost": [], "replayed": 1, "point": "p2"})
        await peer.send(event(BOB, 8))
        installed = (await states.next(segue.Phase.CONNECTED)).installed
        assert installed is not None
        assert (installed.recovered, installed.lost, installed.replayed) == (True, (), 1)
        assert [(each.seq, each.gap, each.replayed) for each in (await take(client), await take(client))] == [(7, 0, True), (8, 0, False)]
    assert missed == []


async def test_what_is_lost_is_told_and_recovery_goes_on_from_what_came_after(server: ScriptedServer) -> None:
    keeping(server)
    states, missed = States(), list[segue.Gap]()
    async with connect(server, on_state=states, on_gap=missed.append) as client:
        await client.subscribe(BOB)
        await states.next(segue.Phase.CONNECTED)
        peer = await server.next_peer()
        await peer.send(event(BOB, 5))
        await take(client)
        peer.drop()
        peer = await server.next_peer()
        lost = {"recovered": False, "lost": [{"topic": BOB, "reason": "owner-lost"}], "replayed": 0, "point": "p2"}
        await peer.send(subscribed(await peer.heard("subscribe")) | lost)
        await peer.send(event(BOB, 1, epoch=8))
        installed = (await states.next(segue.Phase.CONNECTED)).installed
        assert installed is not None
        assert (installed.recovered, installed.lost) == (False, (segue.LostTopic(BOB, "owner-lost"),))
        assert (await take(client)).gap is None
        await peer.send({"op": "gap", "topics": [BOB], "reason": "split", "point": "p3"})
        await peer.send(event(BOB, 2, epoch=8))
        assert (await take(client)).gap is None
        await peer.fail("going-away", 4000, reconnect_in_ms=1, point="p4")
        asked = await (await server.next_peer()).heard("subscribe")
        assert (asked["point"], asked["since"]) == ("p4", {BOB: {"sto": [8, 2]}})
    assert [(gap.topics, gap.reason) for gap in missed] == [((BOB,), "owner-lost"), ((BOB,), "split")]


async def test_nobody_is_told_of_a_gap_by_an_exception_of_theirs(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: segue.Gap) -> None:
        raise LookupError

    for on_gap in (fail, None):
        async with connect(server, on_gap=on_gap) as client:
            peer = await server.next_peer()
            await peer.send({"op": "gap", "topics": [BOB], "reason": "split", "point": None})
            await peer.send(event(BOB, 1))
            await take(client)
    assert "on_gap failed" in caplog.text
    assert f"something of {BOB} may be missing (split)" in caplog.text


async def test_an_event_that_waited_for_room_when_the_connection_broke_is_asked_for_again(server: ScriptedServer) -> None:
    """A position never moves past an event that nobody gets."""
    keeping(server)
    narrow = segue.ClientOptions(backoff=FAST.backoff, open_timeout_s=DEADLINE_S, inbox_bytes=1, heartbeat_s=0.05)
    states = States()
    async with connect(server, options=narrow, on_state=states) as client:
        await client.subscribe(BOB)
        peer = await server.next_peer()
        for seq in (1, 2):
            await peer.send(event(BOB, seq))
        with pytest.raises(segue.Stalled):
            await client.ping()
        peer.drop()
        await states.next(segue.Phase.WAITING)
        asked = await (await server.next_peer()).heard("subscribe")
        assert asked["since"] == {BOB: {"sto": [7, 1]}}


async def test_no_more_subscribes_wait_than_a_server_takes(server: ScriptedServer) -> None:
    keeping(server)
    server.answers["subscribe"] = lambda _: None
    async with connect(server) as client:
        asking = [asyncio.create_task(client.subscribe(f"hm://presence/user/u{n}/")) for n in range(10)]
        peer = await server.next_peer()
        asked = [await peer.heard("subscribe") for _ in range(8)]
        await client.ping()
        assert peer.ops.count("subscribe") == 8
        for message in asked:
            await peer.send(subscribed(message))
        for message in [await peer.heard("subscribe") for _ in range(2)]:
            await peer.send(subscribed(message))
        await asyncio.gather(*asking)


async def test_no_part_of_a_subscribe_that_is_refused_is_asked_for_behind_its_unsubscribe(server: ScriptedServer) -> None:
    """Its events would come, though nobody follows its topics."""
    keeping(server)
    topics = [f"hm://presence/user/u{n}/" for n in range(30)]
    server.answers["subscribe"] = lambda _: None
    async with connect(server) as client:
        subscribing = asyncio.create_task(client.subscribe(topics))
        peer = await server.next_peer()
        await peer.send(error("too-many-topics", 4108, id=(await peer.heard("subscribe"))["id"]))
        await client.ping()  # the refusal has come
        for _ in range(9):
            await peer.send(subscribed(await peer.heard("subscribe")))
        with pytest.raises(segue.Refused):
            await subscribing
        assert peer.ops == ["subscribe"] * 10 + ["unsubscribe"] * 10
        assert client.topics == frozenset()


async def test_a_ping_asks_for_a_point_where_the_server_gives_them(server: ScriptedServer) -> None:
    """DPS-9."""
    keeping(server)
    server.answers["ping"] = lambda message: {"op": "pong", "time_ms": TIME_MS, "point": "p9" if message.get("point") else None}
    async with connect(server) as client:
        await client.subscribe(BOB)
        await client.ping()
        (await server.next_peer()).drop()
        assert (await (await server.next_peer()).heard("subscribe"))["point"] == "p9"


async def test_a_position_that_the_server_does_not_take_does_not_end_the_client(server: ScriptedServer) -> None:
    keeping(server)
    states = States()
    async with connect(server, on_state=states, on_gap=lambda _: None) as client:
        await client.subscribe(BOB)
        await states.next(segue.Phase.CONNECTED)
        (await server.next_peer()).drop()
        peer = await server.next_peer()
        await peer.send(error("bad-field", 4105, id=(await peer.heard("subscribe"))["id"]))
        installed = (await states.next(segue.Phase.CONNECTED)).installed
        assert installed is not None
        assert installed.lost == (segue.LostTopic(BOB, "expired"),)


async def test_the_next_process_goes_on_where_the_application_was(server: ScriptedServer, tmp_path: Path) -> None:
    keeping(server)
    path = tmp_path / "alice.positions"
    async with connect(server, position_file=segue.PositionFile(path)) as client:
        await client.subscribe(BOB)
        peer = await server.next_peer()
        for seq in (5, 6):
            await peer.send(event(BOB, seq))
        assert (await take(client)).seq == 5
        await client.ping()  # the other one has arrived, and is not taken
    async with connect(server, position_file=segue.PositionFile(path)) as client:
        subscribing = asyncio.create_task(client.subscribe(BOB))
        peer = await server.next_peer()
        asked = await peer.heard("subscribe")
        assert (asked["point"], asked["since"]) == ("p1", {BOB: {"sto": [7, 5]}})
        await peer.send(event(BOB, 6))
        await peer.send(subscribed(asked) | {"recovered": True, "lost": [], "replayed": 1, "point": "p2"})
        assert (await subscribing).recovered
        assert [(each.seq, each.replayed) for each in (await take(client),)] == [(6, True)]
    server.answers["hello"] = lambda message: welcome(message) | {"user": "eve"}
    with pytest.raises(segue.Misuse, match="positions of alice, and this client is eve"):
        async with connect(server, position_file=segue.PositionFile(path)):
            pass


async def test_the_next_process_knows_nothing_of_what_was_unsubscribed_before_its_last_event_was_taken(
    server: ScriptedServer, tmp_path: Path
) -> None:
    """Following a topic again begins anew."""
    keeping(server)
    path = tmp_path / "alice.positions"
    async with connect(server, position_file=segue.PositionFile(path)) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        for topic in (BOB, EVE):
            await peer.send(event(topic, 5))
        await client.unsubscribe(BOB)  # both have arrived, and are not taken
        assert [(await take(client)).topic for _ in range(2)] == [BOB, EVE]
    assert set(segue.PositionFile(path).load()[1]) == {EVE}


async def test_the_next_address_is_tried_after_a_failure(server: ScriptedServer) -> None:
    """SB-60: clients of a crashed access point reconnect elsewhere."""
    async with ScriptedServer() as first, segue.Client([first.url, server.url], "secret", options=FAST) as client:
        await client.subscribe(BOB)
        (await first.next_peer()).drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [BOB]


async def test_an_unsubscribed_topic_stays_away_after_a_reconnect(server: ScriptedServer) -> None:
    async with connect(server) as client:
        await client.subscribe([BOB, EVE])
        await client.unsubscribe(BOB)
        peer = await server.next_peer()
        assert (await peer.heard("unsubscribe"))["topics"] == [BOB]
        peer.drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [EVE]


async def test_unsubscribing_while_away_needs_no_server(server: ScriptedServer) -> None:
    states = States()
    slow = segue.ClientOptions(backoff=segue.Backoff(base_s=60, cap_s=60))
    async with connect(server, on_state=states, options=slow) as client:
        await client.subscribe(BOB)
        (await server.next_peer()).drop()
        await states.next(segue.Phase.WAITING)
        await client.unsubscribe(BOB)


async def test_what_is_given_up_while_a_call_waits_for_a_connection_is_not_asked_for_then(server: ScriptedServer) -> None:
    """None of its events arrives after `unsubscribe` and `unfollow` have returned."""
    states = States()
    async with connect(server, on_state=states) as client:
        server.refuse_with = 503
        (await server.next_peer()).drop()
        await states.next(segue.Phase.WAITING)
        subscribing, following = asyncio.create_task(client.subscribe([BOB, EVE])), asyncio.create_task(client.follow("friends"))
        await asyncio.sleep(0)  # both have begun
        await client.unsubscribe(BOB)
        await client.unfollow("friends")
        server.refuse_with = None
        peer = await server.next_peer()
        await asyncio.gather(subscribing, following)
        await client.ping()
        said = [await peer.next() for op in peer.ops if op not in ("hello", "ping")]
        assert {(message["op"], *message["topics"], message.get("follow")) for message in said} == {("subscribe", EVE, None)}
        assert client.topics == {EVE}


async def test_a_rejected_topic_is_reported_and_not_asked_for_again(server: ScriptedServer) -> None:
    server.answers["subscribe"] = rejecting("bad-topic")
    async with connect(server) as client:
        installed = await client.subscribe([BOB, EVE])
        assert installed.rejected == (segue.RejectedTopic(EVE, "bad-topic"),)
        (await server.next_peer()).drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [BOB]


@pytest.mark.parametrize(("code", "kept"), [("forbidden", [BOB]), ("unavailable", [BOB, EVE])])
async def test_a_topic_rejected_at_a_reconnect_is_kept_if_asking_again_can_help(server: ScriptedServer, code: str, kept: list[str]) -> None:
    states = States()
    async with connect(server, on_state=states) as client:
        await client.subscribe([BOB, EVE])
        await states.next(segue.Phase.CONNECTED)
        server.answers["subscribe"] = rejecting(code)
        (await server.next_peer()).drop()
        installed = (await states.next(segue.Phase.CONNECTED)).installed
        assert installed is not None
        assert installed.rejected == (segue.RejectedTopic(EVE, code),)
        (await server.next_peer()).drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == kept


async def test_a_subscribe_cut_off_by_a_lost_connection_is_asked_again(server: ScriptedServer) -> None:
    server.answers["subscribe"] = lambda _: None
    async with connect(server) as client, asyncio.TaskGroup() as group:
        subscribing = group.create_task(client.subscribe(BOB, wait="all"))
        peer = await server.next_peer()
        await peer.heard("subscribe")
        server.answers["subscribe"] = subscribed
        peer.drop()
        assert (await subscribing).installed == "all"


async def test_an_act_cut_off_by_a_lost_connection_fails_and_is_not_repeated(server: ScriptedServer) -> None:
    """SB-46: nothing on the real-time path is retried."""
    server.answers["act"] = lambda _: None
    async with connect(server) as client:
        peer = await server.next_peer()
        acting = asyncio.create_task(client.act("play", artist="Björk"))
        asked = await peer.heard("act")
        assert (asked["kind"], asked["artist"]) == ("play", "Björk")
        peer.drop()
        with pytest.raises(segue.ConnectionLost):
            await acting
        peer = await server.next_peer()
        await client.subscribe(BOB)
        await peer.heard("subscribe")
        assert "act" not in peer.ops


async def test_an_act_while_away_fails_at_once(server: ScriptedServer) -> None:
    states = States()
    slow = segue.ClientOptions(backoff=segue.Backoff(base_s=60, cap_s=60))
    async with connect(server, on_state=states, options=slow) as client:
        (await server.next_peer()).drop()
        await states.next(segue.Phase.WAITING)
        with pytest.raises(segue.ConnectionLost, match="not connected at the moment"):
            await client.act("play")


async def test_a_refused_act_raises_its_code_and_the_connection_goes_on(server: ScriptedServer) -> None:
    server.answers["act"] = lambda message: error("bad-field", 4105, id=message["id"])
    async with connect(server) as client:
        with pytest.raises(segue.Refused, match="bad-field: because of bad-field"):
            await client.act("play")
        assert await client.ping() == TIME_MS


async def test_an_act_cannot_use_the_names_of_the_protocol(server: ScriptedServer) -> None:
    async with connect(server) as client:
        with pytest.raises(segue.Misuse, match="id, op"):
            await client.act("play", op="hello", id=1)


async def test_a_refused_subscribe_leaves_nothing_followed(server: ScriptedServer) -> None:
    server.answers["subscribe"] = lambda message: error("rate-limited", 4110, id=message["id"])
    async with connect(server) as client:
        with pytest.raises(segue.Refused, match="rate-limited"):
            await client.subscribe(BOB)
        server.answers["subscribe"] = subscribed
        await client.subscribe(EVE)
        (await server.next_peer()).drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [EVE]


async def test_draining_is_followed_by_the_delay_that_the_server_asked_for(server: ScriptedServer) -> None:
    states = States()
    async with connect(server, on_state=states):
        await (await server.next_peer()).fail("going-away", 4000, reconnect_in_ms=17)
        waiting = await states.next(segue.Phase.WAITING)
        assert waiting.retry_in_s == pytest.approx(0.017)
        assert "going-away" in waiting.reason
        await server.next_peer()


@pytest.mark.parametrize("says_why", [True, False])
async def test_a_code_that_forbids_reconnecting_is_raised_to_everybody_who_waits(server: ScriptedServer, says_why: bool) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        await peer.send(event(BOB, 1))
        await (peer.fail("bad-token", 4200) if says_why else peer.close(4200))
        assert (await take(client)).seq == 1  # what has arrived is not lost
        for _ in range(2):
            with pytest.raises(segue.Refused, match="bad-token"):
                await take(client)
        with pytest.raises(segue.Refused, match="bad-token"):
            await client.subscribe(BOB)


async def test_a_token_that_is_refused_at_hello_is_raised_by_entering(server: ScriptedServer) -> None:
    server.answers["hello"] = lambda _: error("bad-token", 4200)
    with pytest.raises(segue.Refused) as refused:
        async with connect(server):
            pass
    assert refused.value.code.name == "bad-token"


async def test_a_token_function_is_asked_at_every_connect_and_renews_an_expired_token(server: ScriptedServer) -> None:
    tokens = iter(["first", "second"])

    async def fetch() -> str:
        return next(tokens)

    async with connect(server, fetch):
        peer = await server.next_peer()
        assert peer.hello["token"] == "first"
        await peer.fail("token-expired", 4201)
        assert (await server.next_peer()).hello["token"] == "second"


async def test_an_expired_token_that_cannot_be_renewed_ends_the_client(server: ScriptedServer) -> None:
    async with connect(server) as client:
        await (await server.next_peer()).fail("token-expired", 4201)
        with pytest.raises(segue.Refused, match="token-expired"):
            await take(client)


async def test_an_error_of_the_token_function_reaches_the_application(server: ScriptedServer) -> None:
    def broken() -> str:
        raise KeyError("no such user")

    with pytest.raises(KeyError, match="no such user"):
        async with connect(server, broken):
            pass


@pytest.mark.parametrize("code", ["slow-consumer", "overloaded", "heartbeat-timeout"])
async def test_a_code_that_allows_it_leads_to_a_reconnect(server: ScriptedServer, code: str) -> None:
    numbers = {"slow-consumer": 4001, "overloaded": 4004, "heartbeat-timeout": 4003}
    async with connect(server):
        await (await server.next_peer()).fail(code, numbers[code])
        await server.next_peer()


async def test_a_server_that_refuses_the_handshake_for_good_is_not_tried_again(server: ScriptedServer) -> None:
    server.refuse_with = 404
    with pytest.raises(segue.Refused, match="HTTP 404"):
        async with connect(server):
            pass


async def test_a_server_that_is_busy_is_tried_again(server: ScriptedServer) -> None:
    states = States()
    server.refuse_with, server.refuse_headers = 503, {"Retry-After": "1"}
    client = connect(server, on_state=states)
    entering = asyncio.create_task(client.__aenter__())
    waiting = await states.next(segue.Phase.WAITING)
    assert "HTTP 503" in waiting.reason
    assert waiting.retry_in_s >= 1.0
    server.refuse_with = None
    await entering
    await client.close()


async def test_something_else_at_the_address_is_refused(server: ScriptedServer) -> None:
    server.protocols = ()
    with pytest.raises(segue.Refused, match="does not speak segue"):
        async with connect(server):
            pass


async def test_entering_gives_up_in_time_and_says_why(unused_url: str) -> None:
    options = segue.ClientOptions(open_timeout_s=0.05, backoff=FAST.backoff)
    with pytest.raises(segue.ConnectionLost, match="cannot connect"):
        async with segue.Client(unused_url, "secret", options=options):
            pass


@pytest.fixture
async def unused_url() -> str:
    """Returns an address where nobody listens any more."""
    async with ScriptedServer() as gone:
        return gone.url


async def test_a_server_that_never_welcomes_is_left(server: ScriptedServer) -> None:
    server.answers["hello"] = lambda _: None
    options = segue.ClientOptions(answer_timeout_s=0.02, open_timeout_s=0.2, backoff=FAST.backoff)
    with pytest.raises(segue.ConnectionLost, match="did not welcome us"):
        async with connect(server, options=options):
            pass


async def test_a_silent_server_is_left(server: ScriptedServer) -> None:
    server.answers["ping"] = lambda _: None
    states = States()
    options = segue.ClientOptions(heartbeat_s=0.05, backoff=FAST.backoff)
    async with connect(server, on_state=states, options=options):
        assert "nothing was heard" in (await states.next(segue.Phase.WAITING)).reason


async def test_a_quiet_server_that_answers_pings_is_kept(server: ScriptedServer) -> None:
    pings = asyncio.Semaphore(0)

    def pong(_: Message) -> Message:
        pings.release()
        return {"op": "pong", "time_ms": TIME_MS}

    server.answers["ping"] = pong
    async with connect(server, options=segue.ClientOptions(heartbeat_s=0.02)) as client:
        peer = await server.next_peer()
        async with asyncio.timeout(DEADLINE_S):
            for _ in range(5):
                await pings.acquire()
        await peer.send(event(BOB, 1))
        assert (await take(client)).seq == 1


async def test_ping_gives_the_clock_of_the_server(server: ScriptedServer) -> None:
    """SB-13: clients work with the access point's clock."""
    async with connect(server) as client:
        assert await client.ping() == TIME_MS


async def test_what_a_newer_server_adds_is_passed_over(server: ScriptedServer) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        await peer.send({"op": "confetti", "id": 1})
        await peer.send(event(BOB, 1, mood="new field"))
        assert (await take(client)).seq == 1


async def test_an_event_that_python_cannot_hold_shows_as_a_gap(server: ScriptedServer) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        await peer.send(event(BOB, 1))
        await peer.send(json.dumps(event(BOB, 2, payload={"n": "?"})).replace('"?"', "1e999"))
        await peer.send(event(BOB, 3))
        assert [(event.seq, event.gap) for event in (await take(client), await take(client))] == [(1, 0), (3, 1)]


@pytest.mark.parametrize("nonsense", [b"binary", '{"op":"ok"}', "[1]", '{"op":"welcome","session":1,"site":"","user":"","time_ms":1}'])
async def test_a_server_that_breaks_the_protocol_is_left(server: ScriptedServer, nonsense: str | bytes) -> None:
    async with connect(server):
        await (await server.next_peer()).send(nonsense)
        await server.next_peer()


async def test_a_client_that_is_not_read_stops_reading_and_loses_nothing(server: ScriptedServer) -> None:
    """Design 5.3: the bound is the client's inbox, then the socket; the access point's outbox decides what is shed."""
    async with connect(server, options=segue.ClientOptions(inbox_bytes=10_000)) as client:
        peer = await server.next_peer()
        sent = 0
        payload = {"text": "x" * 200_000}
        while peer.unsent_bytes == 0:
            sent += 1
            sending = asyncio.create_task(peer.send(event(BOB, sent, payload=payload)))
            await asyncio.wait([sending], timeout=0.05)
            assert sent < 1000, "the client reads on"
        assert [(await take(client)).seq for _ in range(sent)] == list(range(1, sent + 1))
        await sending


async def test_a_call_whose_answer_stands_behind_unread_events_is_told_so(server: ScriptedServer) -> None:
    options = segue.ClientOptions(inbox_bytes=1, heartbeat_s=0.05)
    async with connect(server, options=options) as client:
        peer = await server.next_peer()
        for seq in (1, 2):
            await peer.send(event(BOB, seq))
        with pytest.raises(segue.Stalled, match="iterate over the client in a task of its own"):
            await client.subscribe(BOB)
        assert [(await take(client)).seq for _ in range(2)] == [1, 2]


async def test_a_connection_that_breaks_is_noticed_even_if_nobody_reads(server: ScriptedServer) -> None:
    states = States()
    options = segue.ClientOptions(inbox_bytes=1, heartbeat_s=0.05, backoff=FAST.backoff)
    async with connect(server, options=options, on_state=states) as client:
        peer = await server.next_peer()
        for seq in (1, 2):
            await peer.send(event(BOB, seq))
        peer.drop()
        await states.next(segue.Phase.WAITING)
        assert (await client.subscribe(BOB)).installed == "local"


async def test_a_second_reader_at_the_same_time_is_refused(server: ScriptedServer) -> None:
    async with connect(server) as client:
        reading = asyncio.create_task(anext(client))
        await asyncio.sleep(0)
        with pytest.raises(segue.Misuse, match="two tasks iterate"):
            await anext(client)
        await (await server.next_peer()).send(event(BOB, 1))
        assert (await reading).seq == 1


async def test_iteration_can_be_left_and_taken_up_again(server: ScriptedServer) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        for seq in range(1, 5):
            await peer.send(event(BOB, seq))
        seen = []
        async for got in client:
            seen.append(got.seq)
            if got.seq == 2:
                break
        async for got in client:
            seen.append(got.seq)
            if got.seq == 4:
                break
    assert seen == [1, 2, 3, 4]


async def test_cancelling_a_read_takes_no_event(server: ScriptedServer) -> None:
    async with connect(server) as client:
        reading = asyncio.create_task(anext(client))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        await (await server.next_peer()).send(event(BOB, 1))
        assert (await take(client)).seq == 1


async def test_cancelling_a_subscribe_stops_the_waiting_only(server: ScriptedServer) -> None:
    server.answers["subscribe"] = lambda _: None
    async with connect(server) as client:
        subscribing = asyncio.create_task(client.subscribe(BOB))
        peer = await server.next_peer()
        await peer.heard("subscribe")
        subscribing.cancel()
        await asyncio.wait([subscribing])
        server.answers["subscribe"] = subscribed
        peer.drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [BOB]


async def test_closing_ends_the_iteration_after_what_has_arrived(server: ScriptedServer) -> None:
    async with connect(server) as client:
        await (await server.next_peer()).send(event(BOB, 1))
        assert await client.ping() == TIME_MS  # the event stands before the pong
        await client.close()
        assert [got.seq async for got in client] == [1]
        with pytest.raises(segue.Misuse, match="the client is closed"):
            await client.subscribe(BOB)


async def test_closing_leaves_no_task_behind(server: ScriptedServer) -> None:
    before = asyncio.all_tasks()
    async with connect(server) as client:
        peer = await server.next_peer()
        waiting = asyncio.create_task(anext(client, None))
        await asyncio.sleep(0)
    assert await waiting is None
    peer.drop()
    left = asyncio.all_tasks() - before
    assert not left or not (await asyncio.wait(left, timeout=DEADLINE_S))[1]  # the server's own


async def test_the_states_tell_the_life_of_a_client(server: ScriptedServer) -> None:
    states: list[segue.State] = []
    async with connect(server, on_state=states.append) as client:
        await client.subscribe(BOB)
        (await server.next_peer()).drop()
        await (await server.next_peer()).heard("subscribe")
        await client.subscribe(EVE)
    assert [state.phase.value for state in states] == ["connecting", "connected", "waiting", "connecting", "connected", "closed"]
    assert states[1].site == "sto"


async def test_a_failing_state_callback_is_logged_and_disturbs_nothing(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    def broken(state: segue.State) -> None:
        raise ZeroDivisionError(state.phase)

    async with connect(server, on_state=broken) as client:
        assert await client.ping() == TIME_MS
    assert "on_state failed" in caplog.text


async def test_a_client_outside_its_block_says_what_to_write(server: ScriptedServer) -> None:
    client = connect(server)
    for call in (client.subscribe(BOB), client.ping(), client.act("play"), anext(client)):
        with pytest.raises(segue.Misuse, match="async with"):
            await call
    async with client:
        pass
    with pytest.raises(segue.Misuse, match="entered once"):
        await client.__aenter__()


@pytest.mark.parametrize("urls", ["http://127.0.0.1:1", "127.0.0.1:7700", "ws://", []])
def test_an_address_that_cannot_work_is_refused_at_once(urls: str | list[str]) -> None:
    with pytest.raises(segue.Misuse, match="ws://127"):
        segue.Client(urls, "secret")


@pytest.mark.parametrize("name", ["open_timeout_s", "heartbeat_s", "inbox_bytes"])
def test_an_option_that_cannot_work_is_refused_at_once(name: str) -> None:
    with pytest.raises(segue.Misuse, match=name):
        segue.ClientOptions(**{name: 0})  # type: ignore[arg-type]


def offloaded(epoch: int, left: list[str], back: list[str] | None = None, every_ms: int = 0) -> Message:
    return {"op": "offloaded", "epoch": epoch, "left": left, "back": back or [], "every_ms": every_ms}


class News:
    """Hears what leaves real time and comes back, and lets a test wait for it."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[segue.Offloaded] = asyncio.Queue()

    def __call__(self, news: segue.Offloaded) -> None:
        self._heard.put_nowait(news)

    async def next(self) -> segue.Offloaded:
        async with asyncio.timeout(DEADLINE_S):
            return await self._heard.get()


async def test_topics_that_leave_real_time_and_come_back_are_told_and_known(server: ScriptedServer) -> None:
    """The application need not take its events for it."""
    news = News()
    async with connect(server, on_offloaded=news) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(offloaded(1, [BOB, EVE], every_ms=500))
        assert await news.next() == segue.Offloaded(epoch=1, left=(BOB, EVE), every_ms=500)
        assert client.offloaded == {BOB, EVE}
        await peer.send(offloaded(2, [], [EVE]))
        assert (await news.next()).back == (EVE,)
        assert client.offloaded == {BOB}
    assert client.offloaded == set()


async def test_what_is_not_followed_any_more_is_not_offloaded(server: ScriptedServer) -> None:
    """Whatever is on its way when the topic is left."""
    news = News()
    async with connect(server, on_offloaded=news) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(offloaded(1, [BOB]))
        await news.next()
        await client.unsubscribe([BOB, EVE])
        assert client.offloaded == set()
        await peer.send(offloaded(2, [EVE]))
        await news.next()
        assert client.offloaded == set()


async def test_a_new_connection_begins_with_nothing_offloaded_and_is_told_again(server: ScriptedServer) -> None:
    news, states = News(), States()
    async with connect(server, on_offloaded=news, on_state=states) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(offloaded(1, [BOB, EVE]))
        await news.next()
        peer.drop()
        await states.next(segue.Phase.WAITING)
        assert client.offloaded == set()
        await (await server.next_peer()).send(offloaded(2, [EVE]))
        assert (await news.next()).epoch == 2
        assert client.offloaded == {EVE}


async def test_what_on_offloaded_raises_harms_nothing(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    def raising(_: segue.Offloaded) -> None:
        raise ValueError("a defect of the application")

    async with connect(server, on_offloaded=raising) as client:
        await client.subscribe(BOB)
        peer = await server.next_peer()
        await peer.send(offloaded(1, [BOB]))
        await peer.send(event(BOB, 1))
        await take(client)
        assert client.offloaded == {BOB}
    assert "on_offloaded failed" in caplog.text


def ended(*topics: str) -> Message:
    return {"op": "ended", "topics": [{"topic": topic, "code": "forbidden", "number": 4204, "reason": "because"} for topic in topics]}


async def test_topics_that_the_user_may_not_see_any_more_are_told_and_not_asked_for_again(server: ScriptedServer) -> None:
    """AUTH-5: also after a reconnect."""
    heard: asyncio.Queue[segue.Ended] = asyncio.Queue()
    async with connect(server, on_ended=heard.put_nowait) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(offloaded(1, [BOB]))
        await peer.send(ended(BOB))
        async with asyncio.timeout(DEADLINE_S):
            assert [each.topic for each in (await heard.get()).topics] == [BOB]
        assert client.offloaded == set()
        peer.drop()
        assert (await (await server.next_peer()).heard("subscribe"))["topics"] == [EVE]


async def test_ended_topics_are_a_warning_where_nobody_wants_to_hear_of_them(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(server) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(ended(BOB))
        await peer.send(event(EVE, 1))
        await take(client)
    assert f"{BOB} is followed no longer (forbidden: because)" in caplog.text


async def test_what_on_ended_raises_harms_nothing(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    def raising(_: segue.Ended) -> None:
        raise ValueError("a defect of the application")

    async with connect(server, on_ended=raising) as client:
        await client.subscribe([BOB, EVE])
        peer = await server.next_peer()
        await peer.send(ended(BOB))
        await peer.send(event(EVE, 1))
        await take(client)
    assert "on_ended failed" in caplog.text


async def test_a_topic_that_nobody_could_allow_at_the_reconnect_is_asked_for_until_somebody_can(server: ScriptedServer) -> None:
    """AUTH-10: the social service is away for a moment; the application need not do anything."""
    answers = iter([[], [BOB], [BOB], []])

    def answer(message: Message) -> Message:
        rejected = [{"topic": topic, "code": "unavailable", "number": 4300, "reason": "later"} for topic in next(answers)]
        return subscribed(message) | {"rejected": rejected}

    server.answers["subscribe"] = answer
    async with connect(server) as client:
        await client.subscribe([BOB, EVE])
        (await server.next_peer()).drop()
        peer = await server.next_peer()
        assert [(await peer.heard("subscribe"))["topics"] for _ in range(3)] == [[BOB, EVE], [BOB], [BOB]]


async def test_an_error_of_the_token_function_reaches_the_application_also_where_a_topic_is_asked_for_again(server: ScriptedServer) -> None:
    """AUTH-10: nobody would ask any more, and nobody would know why."""
    fetched: list[Sequence[str]] = []

    async def fetch(topics: Sequence[str]) -> list[str]:
        fetched.append(topics)
        if len(fetched) == 3:
            raise ValueError("nobody is logged in")
        return []

    later = [{"topic": BOB, "code": "unavailable", "number": 4300, "reason": "later"}]
    answers = iter([[], later])
    server.answers["subscribe"] = lambda message: subscribed(message) | {"rejected": next(answers)}
    async with connect(server, subscription_tokens=fetch) as client:
        await client.subscribe(BOB)
        (await server.next_peer()).drop()
        with pytest.raises(ValueError, match="nobody is logged in"):
            await take(client)
    assert fetched == [[BOB]] * 3


async def test_a_private_session_is_said_in_hello_or_for_some_hours(server: ScriptedServer) -> None:
    """AUTH-8."""
    server.answers["private"] = lambda message: {"op": "private", "id": message["id"], "on": message["on"], "until_ms": 7}
    async with connect(server, private=True) as client:
        peer = await server.next_peer()
        assert peer.hello["private"] is True
        assert await client.set_private(True, hours=2) == 7
        assert (await peer.heard("private"))["hours"] == 2
        await client.set_private(False)
        assert "hours" not in await peer.heard("private")


async def test_subscription_tokens_are_fetched_for_each_message_also_after_a_reconnect(server: ScriptedServer) -> None:
    async def fetch(topics: Sequence[str]) -> list[str]:
        return [f"for {topic}" for topic in topics]

    async with connect(server, subscription_tokens=fetch) as client:
        await client.subscribe(BOB)
        peer = await server.next_peer()
        assert (await peer.heard("subscribe"))["tokens"] == [f"for {BOB}"]
        peer.drop()
        assert (await (await server.next_peer()).heard("subscribe"))["tokens"] == [f"for {BOB}"]

"""One connection, byte by byte: what it says last, and what waits while its client does not read."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count, pairwise
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from accesspoint.connection import Connection
from accesspoint.options import AccessPointOptions
from accesspoint.point import write_point
from accesspoint.recent_answer import RecentAnswer
from accesspoint.server import LEAVE_COST, TICK_S, TOPIC_COST, AccessPoint
from accesspoint.session import SessionState
from accesspoint.timeouts import GOODBYE_S
from infra.kernel.codes import ALL, Code
from infra.kernel.errors import Refused
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import Keeps, View
from infra.kernel.shares import SHARE, WHOLE
from infra.kernel.topics import parse_topic
from infra.kernel.websocket import text_frame
from infra.kernel.websocket_reader import FRAME_COST
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import Identity
from infra.runtime.wire.memory import MemoryNetwork
from tests.support.bare_core import KeptFrames, install
from tests.support.client_frames import client_frame
from tests.support.recording_transport import RecordingTransport

OPTIONS = AccessPointOptions(
    site="sto", node="ap1", policy="open", aggregators=["sto/a1"], write_buffer_bytes=1000, outbox_bytes=3000, max_messages_per_s=10_000
)
FEED, PLAYLIST = "hm://presence/user/dan/", "hm://playlist/user/dan/playlist/mix/"
HELLO = client_frame(1, b'{"op":"hello","token":"eve"}')


class SlowTransport(RecordingTransport):
    """A transport: while it is `stuck` what is written waits, and over the high-water mark the protocol is paused, as asyncio does."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        self.stuck = self.is_paused = False
        self.waiting_bytes = self.high = 0
        super().__init__(protocol)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high or 0

    def write(self, data: Any) -> None:
        super().write(data)
        if self.stuck:
            self.waiting_bytes += len(data)
            if self.waiting_bytes > self.high and not self.is_paused:
                self.is_paused = True
                self.protocol.pause_writing()

    def catch_up(self, stuck: bool = False) -> None:
        """Lets the client read everything; if it is `stuck` then, it reads no more."""
        self.waiting_bytes, self.stuck = 0, stuck
        if self.is_paused:
            self.is_paused = False
            self.protocol.resume_writing()

    @property
    def frames(self) -> list[Frame]:
        """All that was written, as an independent client understands it."""
        client = ClientProtocol(parse_uri("ws://localhost/"), state=OPEN)
        client.receive_data(self.written)
        return [event for event in client.events_received() if isinstance(event, Frame)]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(bytes(frame.data)) for frame in self.frames if frame.opcode is Opcode.TEXT]


def access_point(options: AccessPointOptions = OPTIONS, now: Callable[[], float] = time.monotonic) -> AccessPoint:
    """Returns one that is not started: it has no sockets, and its upstream is not dialled."""
    log = get_logger("accesspoint", "ap1", "sto")
    context = Context(network=MemoryNetwork(), log=log, rng=random.Random(1), now=now)
    return AccessPoint(options, context, lambda token, now: Identity(token, 1e12))


async def turns(number: int = 50) -> None:
    """Lets so many turns of the loop pass."""
    for _ in range(number):
        await asyncio.sleep(0)


class Client:
    """A connection that was welcomed, its transport, and events for it that were numbered by one owner."""

    def __init__(self, point: AccessPoint) -> None:
        self.point = point
        self.connection = Connection(point)
        self.transport = SlowTransport(self.connection)
        self.connection.data_received(HELLO)
        self.seqs = {uri: count(1) for uri in (FEED, PLAYLIST)}
        self.ids = count()

    def subscribe(self) -> None:
        self.send({"op": "subscribe", "topics": [FEED, PLAYLIST]})

    def send(self, *messages: dict[str, Any]) -> None:
        self.connection.data_received(b"".join(client_frame(1, json.dumps(message).encode()) for message in messages))

    def ask(self, number: int) -> None:
        """Makes so many requests at once."""
        self.send(*({"op": "unsubscribe", "topics": [], "id": next(self.ids)} for _ in range(number)))

    def publish(self, uri: str, number: int = 1, size_bytes: int = 100) -> None:
        """Publishes `number` events of `size_bytes` on `uri` at once, and flushes them."""
        tail = encode_tail(uri, 0, "e", "play", b'{"x":"%b"}' % (b"x" * size_bytes))
        bodies = [b"%b%d,%b" % (numbering("sto", 1), next(self.seqs[uri]), tail) for _ in range(number)]
        handle = self.point.core.hub.topics[parse_topic(uri)].handle
        self.point.core.hub.deliver([handle] * number, bodies)

    def flush(self) -> None:
        self.point.core.hub.flush()

    def events(self, uri: str) -> list[dict[str, Any]]:
        return [message for message in self.transport.messages if message.get("topic") == uri]

    def answered(self) -> list[int]:
        return [message["id"] for message in self.transport.messages if message["op"] == "unsubscribed"]


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Returns a client that is welcomed and subscribed to a feed and a playlist."""
    point = access_point()
    made = Client(point)
    made.subscribe()
    yield made
    await point.close()


@pytest.mark.parametrize("code", [code for code in ALL if code.fatal], ids=lambda code: code.name)
async def test_every_fatal_code_is_an_error_then_a_close_with_its_number_then_the_end(code: Code, client: Client) -> None:
    client.connection.end(Refused(code.name, "because " + "é" * 100), 250)
    error, close = client.transport.messages[-1], client.transport.frames[-1]
    assert (error["op"], error["code"], error["number"], error["reconnect_in_ms"]) == ("error", code.name, code.number, 250)
    assert (close.opcode, bytes(close.data)[:2]) == (Opcode.CLOSE, code.number.to_bytes(2))
    assert bytes(close.data)[2:].decode() == "because " + "é" * 57  # as much as a close frame may hold
    assert (client.connection.state, client.transport.half_closed) == (SessionState.ENDED, True)
    assert client.transport.reading == (code.name != "flooding")  # what a flooder goes on sending costs nothing
    assert client.point.core.disconnects == {code.name: 1}


async def test_one_that_has_reset_its_connection_is_sent_away_without_a_sound(client: Client) -> None:
    """Whoever sends away goes on with the next one."""
    client.transport.is_reset = True
    client.connection.end(Refused("going-away"))
    assert (client.connection.state, client.transport.done) == (SessionState.ENDED, "abort")
    assert client.point.core.disconnects == {"going-away": 1}


async def test_one_that_is_sent_away_while_it_does_not_read_is_listened_to_until_it_closes(client: Client) -> None:
    client.transport.stuck = True
    client.publish(FEED, 20)
    client.flush()
    assert not client.transport.reading
    client.connection.end(Refused("going-away"))
    assert (client.transport.reading, client.point.core.slow.paused) == (True, 0)
    client.transport.catch_up()
    assert client.transport.messages[-1]["code"] == "going-away"


async def test_after_the_goodbye_nothing_is_said_whatever_comes(client: Client) -> None:
    client.publish(FEED)
    client.connection.end(Refused("going-away"))
    written = client.transport.written
    client.flush()
    client.ask(1)
    client.connection.data_received(client_frame(9, b"ping") + b"garbage")
    client.connection.end(Refused("bad-frame"))
    client.transport.catch_up()
    assert client.transport.written == written
    assert client.point.core.hub.subscriptions == 0


async def test_what_was_read_before_the_client_stopped_reading_waits_with_its_answers(client: Client) -> None:
    client.transport.stuck = True
    client.ask(100)
    await turns()
    portion_bytes = SHARE // FRAME_COST * len(text_frame(b'{"op":"unsubscribed","id":99}'))
    assert client.transport.waiting_bytes < OPTIONS.write_buffer_bytes + portion_bytes
    assert not client.transport.reading
    client.ask(10)  # had left the socket already
    client.connection.data_received(client_frame(2, b""))
    answered = len(client.answered())
    client.transport.catch_up(stuck=True)
    await turns()
    assert 0 < answered < len(client.answered()) <= 3 * answered
    client.transport.catch_up()
    await turns()
    assert client.answered() == list(range(110))
    assert client.transport.messages[-1]["code"] == "bad-frame"


async def test_events_that_were_about_to_be_written_when_an_answer_filled_the_buffers_are_not_lost(client: Client) -> None:
    client.transport.stuck = True
    client.publish(FEED, 3)
    client.ask(100)
    await turns()
    client.publish(FEED, 2)
    client.flush()
    client.transport.catch_up()
    assert [(event["seq"], event.get("skipped", 0)) for event in client.events(FEED)] == [(1, 0), (2, 0), (3, 0), (5, 1)]


async def test_what_is_said_comes_behind_the_events_that_wait_for_the_end_of_the_turn(client: Client) -> None:
    client.publish(FEED, 2)
    client.ask(1)
    client.flush()
    assert [message["op"] for message in client.transport.messages[-3:]] == ["event", "event", "unsubscribed"]


async def test_what_was_missed_comes_behind_the_welcome_that_one_read_brings_about(client: Client) -> None:
    """DPS-6: it was answered to others already, so it comes at once."""
    core, point = client.point.core, write_point("sto", {1: 1})
    link = KeptFrames()
    core.announcer.set_view(View(1, ("a1",)))
    core.announcer.node_up("a1", link)
    install(core, link, {"sto": 0})
    core.keeping.learn(Keeps({"user": ("latest", 120.0)}))
    core.recoveries.note({1: 9})
    missed = b"%b1,%b" % (numbering("sto", 1), encode_tail(FEED, 0, "e", "play", b"{}"))
    core.hub.topics[parse_topic(FEED)].answer = RecentAnswer(1, 5, {1: 1}, [missed])
    connection = Connection(client.point)
    transport = SlowTransport(connection)
    ask = {"op": "subscribe", "id": 1, "topics": [FEED], "recover": True, "point": point}
    connection.data_received(HELLO + client_frame(1, json.dumps(ask).encode()))
    assert [message["op"] for message in transport.messages] == ["welcome", "event", "subscribed"]


async def test_one_that_reads_again_when_its_outbox_is_over_full_is_closed_rather_than_shown_a_gap(client: Client) -> None:
    client.transport.stuck = True
    client.publish(PLAYLIST, 20)
    client.flush()
    client.publish(PLAYLIST, 100)
    client.flush()
    assert client.connection.outbox is not None
    assert client.connection.outbox.size_bytes < OPTIONS.outbox_bytes + 300
    client.transport.catch_up()
    assert [event["seq"] for event in client.events(PLAYLIST)] == list(range(1, 21))
    assert client.transport.messages[-1]["code"] == "slow-consumer"
    assert client.point.core.slow.evictions == 1


async def test_one_that_is_lost_while_it_does_not_read_leaves_nothing_in_the_figures(client: Client) -> None:
    client.transport.stuck = True
    client.publish(FEED, 20)
    client.flush()
    client.publish(FEED, 5)
    client.connection.connection_lost(None)
    counters = client.point.counters()
    assert {name: counters[name] for name in ("accesspoint_connections", "accesspoint_outbox_bytes", "accesspoint_paused_connections")} == {
        "accesspoint_connections": 0,
        "accesspoint_outbox_bytes": 0,
        "accesspoint_paused_connections": 0,
    }
    assert counters["accesspoint_skipped_total"] == 4


async def test_it_is_pinged_once_in_a_silence_and_its_own_pings_are_answered(client: Client) -> None:
    before = len(client.transport.frames)
    client.connection.ping()
    client.connection.ping()
    client.connection.data_received(client_frame(9, b"are you there?"))
    client.connection.ping()
    frames = client.transport.frames[before:]
    assert [(frame.opcode, bytes(frame.data)) for frame in frames] == [
        (Opcode.PING, b""),
        (Opcode.PONG, b"are you there?"),
        (Opcode.PING, b""),
    ]


# Floods. All that one sends has left its socket at once, as a quarter of a megabyte does with uvloop.

PINGS = client_frame(9, b"") * 43_000
STRICT = msgspec.structs.replace(OPTIONS, max_messages_per_s=200, write_buffer_bytes=64 << 10, flooding_s=5.0)


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Flooded:
    """An access point on which time is the test's."""

    def __init__(self, **changes: Any) -> None:
        self.clock = Clock()
        self.point = access_point(msgspec.structs.replace(STRICT, **changes), self.clock)

    async def turn(self) -> None:
        """Lets a turn of the loop pass, and the transports read on that were told to."""
        await asyncio.sleep(0)

    async def for_s(self, seconds: float) -> None:
        """Lets time pass, as the access point measures it, with many turns in each tick."""
        for _ in range(round(seconds / TICK_S)):
            self.clock.now_s += TICK_S
            self.point.sweep(self.clock.now_s)
            await turns()


@pytest.mark.parametrize("welcome", [False, True])
async def test_of_a_million_pings_a_turn_answers_a_share_in_one_write(welcome: bool) -> None:
    """DPS-26: a stranger without a token sent 1.3 million pings, and everybody waited for seconds."""
    site = Flooded()
    connection = Connection(site.point)
    transport = SlowTransport(connection)
    if welcome:
        connection.data_received(HELLO)
    before = len(transport.frames)
    writes = len(transport.writes)
    connection.data_received(PINGS)
    if not welcome:  # nobody sends so much before a hello
        assert len(transport.frames) - before <= SHARE // FRAME_COST + 3
        assert len(transport.writes) - writes <= SHARE // FRAME_COST + 3
        assert (transport.messages[-1]["code"], transport.reading) == ("flooding", False)
        return
    for turn in range(1, 6):
        assert len(transport.frames) - before <= turn * (SHARE // FRAME_COST + 1)
        assert len(transport.writes) - writes <= turn
        assert not transport.reading
        await site.turn()
    await turns()
    assert len(transport.frames) - before <= 2 * 200 + SHARE // FRAME_COST + 1  # what may come at once after a pause, and no more
    assert (transport.reading, site.point.core.pace.rests) == (False, 1)
    await site.point.close()


@pytest.mark.parametrize(
    "said",
    [client_frame(9, b""), client_frame(1, b'{"op":"ping"}'), client_frame(10, b"x"), client_frame(1, b"[")],
    ids=["ping", "message", "pong", "no JSON"],
)
async def test_one_that_floods_is_not_read_then_closed_and_its_answers_are_as_few_as_the_limit_says(said: bytes) -> None:
    """DPS-26: the rate limit parsed and answered every message that was too many."""
    site = Flooded()
    connection = Connection(site.point)
    transport = SlowTransport(connection)
    connection.data_received(HELLO)
    seconds = 0
    while connection.state is SessionState.READY:
        if transport.reading:
            connection.data_received(said * 2000)
        await site.for_s(1)
        seconds += 1
        assert seconds < 20
    assert STRICT.flooding_s <= seconds <= 2 * STRICT.flooding_s
    assert len(transport.frames) <= 200 * (seconds + 2) + 100
    assert transport.messages[-1]["code"] == "flooding"
    assert site.point.core.disconnects == site.point.core.refusals - Counter({"bad-json": 10**6}) == {"flooding": 1}
    assert (transport.reading, transport.half_closed) == (False, True)  # what it goes on sending costs nothing
    await site.for_s(GOODBYE_S + 1)
    assert transport.done == "abort"
    await site.point.close()


async def test_while_a_hundred_flood_one_who_asks_is_answered_in_the_same_turn_or_the_next() -> None:
    """DPS-26: one connection never takes more than its share of a turn, and all together no more than a whole."""
    site = Flooded(max_messages_per_s=1_000_000, max_bytes_per_s=1 << 30, max_connections_per_user=1000)
    flooders = [SlowTransport(Connection(site.point)) for _ in range(100)]
    modest = SlowTransport(asker := Connection(site.point))
    for transport in [*flooders, modest]:
        cast(Connection, transport.protocol).data_received(HELLO)
    await turns(100)
    for transport in flooders:
        cast(Connection, transport.protocol).data_received(PINGS)
    rounds = -(-len(flooders) * SHARE // WHOLE)
    for _ in range(20):
        answered = len(modest.frames)
        asker.data_received(client_frame(1, b'{"op":"ping"}'))
        waited = 0
        while len(modest.frames) == answered:
            waited += 1
            before = sum(len(transport.writes) for transport in flooders)
            await site.turn()
            assert sum(len(transport.writes) for transport in flooders) - before <= WHOLE // SHARE + 1
        assert waited <= rounds + 1
    await site.point.close()


async def test_of_a_thousand_that_are_lost_at_once_a_share_is_forgotten_in_each_turn() -> None:
    """DPS-26: ten thousand clients of 60 topics that went together held up everybody else for half a second."""
    site = Flooded(max_connections_per_user=2000)
    topics = [f"hm://presence/user/u{number}/" for number in range(60)]
    clients = [Client(site.point) for _ in range(1000)]
    await turns(200)
    for client in clients:
        client.send({"op": "subscribe", "topics": topics})
    await turns(200)
    core = site.point.core
    assert (len(core.sessions), core.hub.subscriptions) == (1000, 60_000)
    at_once = WHOLE // (LEAVE_COST + TOPIC_COST * 60) + 1
    for client in clients:
        client.connection.connection_lost(None)
    lengths = [len(core.sessions)]
    while core.sessions:
        await site.turn()
        lengths.append(len(core.sessions))
    assert lengths[0] >= 1000 - at_once
    assert all(0 < before - after <= at_once for before, after in pairwise(lengths))
    assert core.hub.subscriptions == 0
    await site.point.close()


async def test_long_messages_take_a_turn_each() -> None:
    """DPS-26: four users with messages of 240 KB."""
    site = Flooded()
    transport = SlowTransport(connection := Connection(site.point))
    connection.data_received(HELLO)
    long_one = client_frame(1, b'{"op":"ping","x":"%b"}' % (b"x" * 240_000))
    before = len(transport.frames)
    connection.data_received(long_one * 20)
    for turn in range(1, 6):
        assert len(transport.frames) - before <= turn
        await site.turn()
    await turns()
    assert len(transport.frames) - before <= 2 * STRICT.max_bytes_per_s // 240_000 + 1
    await site.point.close()


async def test_a_stranger_holds_as_little_as_a_hello_and_a_guest_as_much_as_a_message() -> None:
    """DPS-26: 400 strangers with 260 KB of a first message held 100 MB."""
    site = Flooded()
    transport = SlowTransport(stranger := Connection(site.point))
    stranger.data_received(client_frame(1, b"x" * 260_000)[:250_000])
    assert transport.messages[-1]["code"] == "too-large"
    await turns()
    fragments = SlowTransport(stranger := Connection(site.point))
    stranger.data_received(client_frame(1, b"x" * 10_000, final=False) + client_frame(0, b"x" * 10_000, final=False))
    assert fragments.messages[-1]["code"] == "too-large"
    guest = SlowTransport(connection := Connection(site.point))
    connection.data_received(HELLO + client_frame(1, b'{"op":"ping","x":"%b"}' % (b"x" * 200_000)))
    assert [message["op"] for message in guest.messages] == ["welcome", "pong"]
    await site.point.close()


async def test_answers_to_one_that_does_not_read_count_against_the_bound_of_what_waits_for_it(client: Client) -> None:
    """DPS-26: 190 pulls on two connections that never read took 600 MB for 21 KB of questions."""
    client.transport.stuck = True
    for _ in range(1000):
        client.connection.say(b"x" * 1000)
    outbox = client.connection.outbox
    assert outbox is not None
    assert OPTIONS.outbox_bytes < outbox.size_bytes <= OPTIONS.outbox_bytes + 1000
    assert client.transport.waiting_bytes <= OPTIONS.write_buffer_bytes + 1004
    client.point.sweep(client.point.now())
    assert client.point.core.disconnects == {"slow-consumer": 1}


async def test_answers_that_waited_come_in_order_when_the_client_reads_again(client: Client) -> None:
    client.transport.stuck = True
    client.publish(PLAYLIST, 10)
    client.flush()
    for n in range(3):
        client.connection.say(b'{"op":"unsubscribed","id":%d}' % n)
        client.publish(PLAYLIST, 1)
        client.flush()
    client.transport.catch_up()
    assert client.answered() == [0, 1, 2]
    assert [message.get("seq", "answer") for message in client.transport.messages[-6:]] == ["answer", 11, "answer", 12, "answer", 13]


STEPS = ["publish feed", "publish playlist", "ask", "flush", "stick", "catch up", "catch up a little"]


@given(st.lists(st.sampled_from(STEPS) | st.integers(1, 12), max_size=60))
@settings(max_examples=80)
def test_however_it_stops_and_reads_again_every_number_is_explained_and_every_request_answered(steps: Sequence[str | int]) -> None:
    """Design 5.3: of a feed the newest, with the number of those it replaced; of a playlist all; and in order."""

    async def run() -> None:
        point = access_point()
        client = Client(point)
        client.subscribe()
        number = 1
        for step in [*steps, "flush", "catch up"]:
            match step:
                case int():
                    number = step
                case "publish feed":
                    client.publish(FEED, number)
                case "publish playlist":
                    client.publish(PLAYLIST, 1)
                case "ask":
                    client.ask(number)
                case "flush":
                    client.flush()
                case "stick":
                    client.transport.stuck = True
                case _:
                    client.transport.catch_up(stuck=step == "catch up a little")
            await asyncio.sleep(0)
        await turns()
        assert client.answered() == list(range(next(client.ids)))
        if client.connection.state is SessionState.READY:
            assert [event["seq"] for event in client.events(PLAYLIST)] == list(range(1, next(client.seqs[PLAYLIST])))
            feed = client.events(FEED)
            assert (feed[-1]["seq"] if feed else 0) == next(client.seqs[FEED]) - 1
            for before, after in pairwise([{"seq": 0}, *feed]):
                assert after["seq"] == before["seq"] + 1 + after.get("skipped", 0)
            assert (point.core.slow.paused, point.core.slow.skipped) == (0, sum(event.get("skipped", 0) for event in feed))
        await point.close()

    asyncio.run(run())

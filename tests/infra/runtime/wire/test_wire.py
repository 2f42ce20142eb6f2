"""One contract for all wires: in memory, on TCP, and on TCP under uvloop. Then what only bytes can do wrong."""

import asyncio
import random
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.frames import Bye, Deliver, Heartbeat, Published, View
from infra.runtime.link_auth import LinkAuth
from infra.runtime.wire import tcp as wire_tcp
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Listener, Network, Wire
from tests.support.certificate_folder import CertificateFolder
from tests.support.wire_end import DEADLINE_S, End

PLACE = CertificateFolder()
HEARTBEAT = Heartbeat(View(1, ("b1",)))


class Door:
    """A listener and the ends that came in."""

    def __init__(self) -> None:
        self.listener: Listener
        self.ends: asyncio.Queue[End] = asyncio.Queue()
        self.every: list[End] = []

    async def open(self, network: Network) -> None:
        self.listener = await network.listen("127.0.0.1:0", self._accept)

    def _accept(self, wire: Wire) -> None:
        self.every.append(End(wire))
        self.ends.put_nowait(self.every[-1])


async def with_door(network: Network, scenario: "Scenario") -> None:
    """Runs a scenario, ends all wires that came in and sees that it is the end of all that was started."""
    door = Door()
    await door.open(network)
    try:
        await scenario(network, door)
    finally:
        await door.listener.close()
        for end in door.every:
            end.wire.abort()
    for end in door.every:
        await (end if end.is_started else end.start()).until_lost()
    assert asyncio.all_tasks() == {asyncio.current_task()}


Scenario = Callable[[Network, Door], Coroutine[Any, Any, None]]


def tls_network() -> TcpNetwork:
    """Returns a network whose wires are encrypted; both ends show the same certificate."""
    return TcpNetwork(auth=LinkAuth(PLACE.options("sto", "broker", "b1")))


MEMORY = pytest.param(MemoryNetwork, asyncio.new_event_loop, id="memory")
TCP = [pytest.param(TcpNetwork, asyncio.new_event_loop, id="tcp"), pytest.param(TcpNetwork, uvloop.new_event_loop, id="tcp on uvloop")]


def on(wires: list[Any]) -> Callable[[Scenario], Callable[[Any, Any], None]]:
    """Makes a test of each kind of wire, on its kind of loop."""

    def decorate(scenario: Scenario) -> Callable[[Any, Any], None]:
        @pytest.mark.parametrize(("network", "loop"), wires)
        def test(network: Callable[[], Network], loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
            with asyncio.Runner(loop_factory=loop) as runner:
                runner.run(with_door(network(), scenario))

        test.__doc__ = scenario.__doc__
        return test

    return decorate


TLS = [pytest.param(tls_network, asyncio.new_event_loop, id="tls"), pytest.param(tls_network, uvloop.new_event_loop, id="tls on uvloop")]
on_every_wire = on([MEMORY, *TCP, *TLS])
on_tls = on(TLS)
on_tcp = on(TCP)


async def pair(network: Network, door: Door, *, started: bool = True) -> tuple[End, End]:
    """Returns both ends of a new wire: who dialled, and who was called."""
    here = End(await network.dial(door.listener.address))
    async with asyncio.timeout(DEADLINE_S):
        there = await door.ends.get()
    return (here.start(), there.start()) if started else (here, there)


@on_every_wire
async def test_frames_arrive_in_order_however_they_are_sent(network: Network, door: Door) -> None:
    here, there = await pair(network, door)
    rng, sent = random.Random(1), [Published(n) for n in range(3000)]
    for end in (here, there):
        start = 0
        while start < len(sent):
            size = rng.choice((1, 1, 2, 50))
            end.wire.send(sent[start : start + size])
            start += size
            if rng.random() < 0.1:
                await asyncio.sleep(0)
    assert await there.until_heard(len(sent)) == sent
    assert await here.until_heard(len(sent)) == sent


@on_every_wire
async def test_what_came_before_the_start_is_not_lost_and_nobody_is_called_inside_of_it(network: Network, door: Door) -> None:
    here, there = await pair(network, door, started=False)
    here.start()
    here.wire.send([HEARTBEAT])
    there.wire.send([HEARTBEAT])
    await here.until_heard(1)
    there.start()
    assert there.frames == []
    here.wire.send([Published(2)])
    assert await there.until_heard(2) == [HEARTBEAT, Published(2)]


@on_every_wire
async def test_a_wire_that_ends_before_the_start_is_told_after_it(network: Network, door: Door) -> None:
    """A dialler that waits for an answer would wait for ever."""
    here, there = await pair(network, door, started=False)
    here.start().wire.send([HEARTBEAT])
    here.wire.close()
    there.start()
    assert there.lost == []
    await there.until_lost()
    assert there.frames == [HEARTBEAT]
    here, there = await pair(network, door, started=False)
    here.start().wire.abort()
    await here.until_lost()
    await there.start().until_lost()
    assert there.frames == []


@on_every_wire
async def test_a_closed_wire_carries_what_was_sent_before_and_tells_both_sides_once(network: Network, door: Door) -> None:
    here, there = await pair(network, door)
    sent = [Deliver([n], [b"x" * 4000]) for n in range(1000)]
    here.wire.send(sent)
    here.wire.close()
    here.wire.close()
    here.wire.send([HEARTBEAT])
    await there.until_lost()
    assert there.frames == sent
    await here.until_lost()
    there.wire.send([HEARTBEAT])
    there.wire.close()
    there.wire.abort()
    assert (len(here.lost), len(there.lost), here.frames) == (1, 1, [])


@on([MEMORY, *TCP, TLS[1]])
async def test_a_closed_wire_carries_what_was_sent_before_even_if_the_peer_is_still_talking(network: Network, door: Door) -> None:
    """A socket that is closed with input unread is reset, and what is on its way from it may be lost.

    On plain asyncio TLS does just that: it takes what comes behind its goodbye for an error. Uvloop, on which processes run, does not.
    """
    here, there = await pair(network, door)
    sent = [Deliver([n], [b"x" * 4000]) for n in range(1000)]
    there.react = lambda: there.wire.send([Deliver([0], [b"y" * 4000])] * 20)
    here.wire.send(sent)
    here.wire.close()
    await there.until_lost()
    assert there.frames == sent
    assert here.frames == []


@on_every_wire
async def test_who_ends_a_wire_hears_nothing_more(network: Network, door: Door) -> None:
    """Not even what had arrived already."""
    for ending in ("close", "abort"):
        here, there = await pair(network, door)

        def hear_more_and_end(here: End = here, there: End = there, ending: str = ending) -> None:
            there.wire.send([Published(2)])
            getattr(here.wire, ending)()

        here.react = hear_more_and_end
        there.wire.send([Published(1)])
        await here.until_heard(1)
        there.wire.send([Published(3)])
        await here.until_lost()
        await there.until_lost()
        assert here.frames == [Published(1)]


@on_every_wire
async def test_two_ends_that_answer_each_other_take_turns(network: Network, door: Door) -> None:
    """Nobody is called inside of its own call, and no answer overtakes another."""
    here, there = await pair(network, door)
    here.react = lambda: here.wire.send([Published(len(here.frames)), Published(len(here.frames))]) if len(here.frames) < 100 else None
    there.react = lambda: there.wire.send([Published(len(there.frames))])
    here.wire.send([Published(0)])
    heard = [frame.n for frame in await here.until_heard(100) if isinstance(frame, Published)]
    assert heard == sorted(heard)


@on_every_wire
async def test_an_aborted_wire_is_over_at_once_for_both(network: Network, door: Door) -> None:
    here, there = await pair(network, door)
    here.wire.send([HEARTBEAT])
    await there.until_heard(1)
    there.wire.abort()
    there.wire.abort()
    there.wire.close()
    await here.until_lost()
    await there.until_lost()
    here.wire.send([HEARTBEAT])
    assert there.frames == [HEARTBEAT]


@on_every_wire
async def test_sending_never_blocks_and_nothing_is_lost_however_much_it_is(network: Network, door: Door) -> None:
    here, there = await pair(network, door, started=False)
    here.start()
    sent = [Deliver([n], [b"x" * 100_000]) for n in range(300)]
    for frame in sent:
        here.wire.send([frame])
    queued = here.wire.queued_bytes
    there.start()
    assert await there.until_heard(len(sent)) == sent
    if isinstance(network, TcpNetwork):
        assert queued > 10_000_000
    assert here.wire.queued_bytes == 0


@on_every_wire
async def test_an_address_is_taken_once_and_port_0_is_replaced(network: Network, door: Door) -> None:
    assert not door.listener.address.endswith(":0")
    with pytest.raises(OSError, match=r"taken|in use"):
        await network.listen(door.listener.address, lambda wire: None)


@on_every_wire
async def test_a_door_that_is_closed_takes_nobody_and_leaves_alone_who_is_in(network: Network, door: Door) -> None:
    here, there = await pair(network, door)
    await door.listener.close()
    with pytest.raises(OSError, match=r"nobody listens|refused|Connect call failed"):
        await network.dial(door.listener.address)
    here.wire.send([HEARTBEAT])
    assert await there.until_heard(1) == [HEARTBEAT]


@on_every_wire
async def test_dialling_that_is_cancelled_leaves_no_wire_behind(network: Network, door: Door) -> None:
    for turns in range(5):
        dialling = asyncio.ensure_future(network.dial(door.listener.address))
        for _ in range(turns):
            await asyncio.sleep(0)
        if not dialling.cancel():
            dialling.result().abort()
        await asyncio.wait([dialling])
    here = End(await network.dial(door.listener.address)).start()
    here.wire.send([HEARTBEAT])
    while not await (await door.ends.get()).start().until_told():
        pass  # that was one of those, and it knows that it is lost


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cuts nobody off while a test runs."""
    monkeypatch.setattr(wire_tcp, "GOODBYE_S", 10 * DEADLINE_S)


GARBAGE = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"\x00\x00\x00\x01\xc1",
    b"\xff\xff\xff\xff",
    b"\x16\x03\x01\x02\x00\x01\x00",
    encode(HEARTBEAT) + b"\x00" * 8,
]


@pytest.mark.usefixtures("patient")
@on_tcp
async def test_garbage_gets_a_goodbye_with_a_reason_and_disturbs_nobody_else(network: Network, door: Door) -> None:
    """Whole or byte by byte: the peer reads why, our log says why, the wire is over, other wires of the door go on."""
    here, there = await pair(network, door)
    for garbage in GARBAGE:
        for portions in ([garbage], [bytes([byte]) for byte in garbage]):
            said, reason = await answer_to(portions, door)
            assert said.number == 4400
            assert reason == f"bad-link-frame: {said.reason}"
    here.wire.send([HEARTBEAT])
    assert await there.until_heard(1) == [HEARTBEAT]


async def answer_to(portions: list[bytes], door: Door) -> tuple[Bye, str]:
    """Returns what a peer reads that sends bytes, and what our side says of the end."""
    reader, writer, victim = await connect(door)
    for portion in portions:
        writer.write(portion)
        await asyncio.sleep(0)
    reason = await victim.until_lost()  # at once, and not when the peer closes
    async with asyncio.timeout(DEADLINE_S):
        (said,) = FrameDecoder().feed(await reader.read())
    victim.wire.send([HEARTBEAT])
    writer.close()
    await writer.wait_closed()
    assert isinstance(said, Bye)
    return said, reason


async def connect(door: Door) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, End]:
    """Returns a peer made of bytes, and our end."""
    reader, writer = await asyncio.open_connection(*door.listener.address.split(":"))
    return reader, writer, (await door.ends.get()).start()


@on_tcp
async def test_who_floods_us_with_garbage_can_still_read_why(network: Network, door: Door) -> None:
    """The connection is not reset under the goodbye."""
    _, reason = await answer_to([b"\xff" * 20_000_000], door)
    assert "over the limit" in reason


@on_tcp
async def test_a_peer_that_does_not_close_when_we_do_is_cut_off(network: Network, door: Door) -> None:
    """Half-open connections do not pile up."""
    reader, writer, victim = await connect(door)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire_tcp, "GOODBYE_S", 0.02)
        victim.wire.close()
    await victim.until_lost()
    async with asyncio.timeout(DEADLINE_S):
        assert await reader.read() == b""
    writer.close()


@on_tcp
async def test_closing_what_the_peer_has_reset_is_quiet_and_ends_it(network: Network, door: Door) -> None:
    """The reset has arrived, and the loop has not looked yet."""
    host, port = door.listener.address.split(":")
    with socket.create_connection((host, int(port))) as peer:
        victim = (await door.ends.get()).start()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    victim.wire.close()
    await victim.until_lost()


@on_tcp
async def test_a_peer_that_reads_nothing_shows_in_what_is_queued(network: Network, door: Door) -> None:
    reader, writer, victim = await connect(door)
    assert victim.wire.queued_bytes == 0
    victim.wire.send([Deliver([0], [b"x" * 8_000_000])])
    victim.wire.send([Deliver([0], [b"x" * 8_000_000])])
    full = victim.wire.queued_bytes
    assert full > 8_000_000
    async with asyncio.timeout(DEADLINE_S):
        while victim.wire.queued_bytes:
            await reader.read(1 << 20)
    writer.close()
    await writer.wait_closed()


async def test_all_addresses_of_a_name_are_tried_before_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = await TcpNetwork().listen("127.0.0.1:0", lambda wire: None)
    port = int(listener.address.rpartition(":")[2])
    known = {"both": ["127.0.0.2", "127.0.0.1"], "neither": ["127.0.0.2", "127.0.0.3"]}

    async def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in known[host]]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    (await TcpNetwork().dial(f"both:{port}")).abort()
    with pytest.raises(OSError, match=r"refused|Connect call failed"):
        await TcpNetwork().dial(f"neither:{port}")
    await listener.close()

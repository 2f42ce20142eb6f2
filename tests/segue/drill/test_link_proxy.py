"""The proxy between real processes: what is cut waits, and nobody is told."""

import asyncio
import gc
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import pytest

from infra.kernel.frames import AnyFrame, Bye
from infra.runtime.link_auth import LinkAuth
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Wire
from segue.cluster.ports import Ports
from segue.drill.link_proxy import LinkProxy
from tests.support.both_loops import on_both_loops
from tests.support.certificate_folder import CertificateFolder
from tests.support.eventually import eventually

HERE, THERE = "sto/a", "lon/b"
CERTIFICATES = CertificateFolder()


class Heard:
    """An end of a wire, and the words that it hears; "lost" in the end."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.words: list[str] = []
        wire.start(self._take, lambda reason: self.words.append("lost"))

    def _take(self, frames: list[AnyFrame]) -> None:
        self.words.extend(frame.reason for frame in frames if isinstance(frame, Bye))

    def say(self, word: str) -> None:
        self.wire.send([Bye(1, word)])


class Joined(NamedTuple):
    """A proxy, its address, whom it calls, the network that calls it, and the ends of those who were called."""

    proxy: LinkProxy
    address: str
    target: str
    network: TcpNetwork
    called: list[Heard]

    async def call(self) -> Heard:
        return Heard(await self.network.dial(self.address))


def network(node: str, has_tls: bool) -> TcpNetwork:
    site, _, name = node.partition("/")
    return TcpNetwork(auth=LinkAuth(CERTIFICATES.options(site, "broker", name)) if has_tls else None)


@asynccontextmanager
async def joined(has_tls: bool = False) -> AsyncIterator[Joined]:
    called: list[Heard] = []
    listener = await network(THERE, has_tls).listen("127.0.0.1:0", lambda wire: called.append(Heard(wire)))
    try:
        async with LinkProxy() as proxy:
            address = await proxy.way(HERE, THERE, listener.address)
            assert address == await proxy.way(HERE, THERE, listener.address)
            yield Joined(proxy, address, listener.address, network(HERE, has_tls), called)
    finally:
        await listener.close()


async def hears(end: Heard, *words: str) -> None:
    await eventually(lambda: end.words == list(words), lambda: f"{end.words} for {words}")


@pytest.mark.parametrize("has_tls", [False, True])
async def test_what_is_sent_during_a_cut_arrives_after_it_in_order_and_encrypted_alike(has_tls: bool) -> None:
    async with joined(has_tls) as all_of_it:
        here = await all_of_it.call()
        here.say("before")
        await eventually(lambda: all_of_it.called)
        (there,) = all_of_it.called
        await hears(there, "before")
        all_of_it.proxy.cut("lon", "sto")
        here.say("during")
        there.say("back")
        # Somebody else's way is open: what was sent before it has passed by now, if it could.
        other = Heard(await all_of_it.network.dial(await all_of_it.proxy.way("ash/c", THERE, all_of_it.target)))
        other.say("by another way")
        await eventually(lambda: len(all_of_it.called) == 2)
        await hears(all_of_it.called[1], "by another way")
        assert (there.words, here.words) == (["before"], [])
        all_of_it.proxy.heal()
        await hears(there, "before", "during")
        await hears(here, "back")


async def test_one_who_calls_during_a_cut_hears_nothing_and_only_the_last_try_is_kept() -> None:
    async with joined() as all_of_it:
        all_of_it.proxy.cut(HERE, THERE)
        first = await all_of_it.call()
        second = await all_of_it.call()
        await hears(first, "lost")
        assert second.words == []
        assert all_of_it.called == []
        second.say("still here")
        all_of_it.proxy.heal()
        await eventually(lambda: all_of_it.called)
        await hears(all_of_it.called[0], "still here")


async def test_an_end_that_breaks_or_closes_is_passed_on_when_nothing_is_cut() -> None:
    async with joined() as all_of_it:
        here = await all_of_it.call()
        await eventually(lambda: all_of_it.called)
        all_of_it.proxy.cut(HERE, THERE)
        here.wire.abort()
        all_of_it.proxy.heal()
        await hears(all_of_it.called[0], "lost")
        again = await all_of_it.call()
        await eventually(lambda: len(all_of_it.called) == 2)
        all_of_it.called[1].say("goodbye")
        all_of_it.called[1].wire.close()
        await hears(again, "goodbye", "lost")


@on_both_loops
async def test_bytes_that_waited_for_an_end_that_broke_are_dropped_with_their_connection_and_nothing_is_logged() -> None:
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(f"{said['message']}: {said.get('exception')!r}"))
    called: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    async with await asyncio.start_server(lambda *ends: called.append(ends), "127.0.0.1", 0) as server, LinkProxy() as proxy:
        target = "127.0.0.1:{1}".format(*server.sockets[0].getsockname()[:2])
        here, writer = await _call(await proxy.way(HERE, THERE, target))
        writer.write(b"before")
        await eventually(lambda: called)
        assert await called[0][0].readexactly(6) == b"before"
        proxy.cut(HERE, THERE)
        # By another way, which is open, some round trips go by: the proxy has heard of what was said and done before.
        far, other = await _call(await proxy.way("ash/c", THERE, target))
        await eventually(lambda: len(called) == 2)

        async def round_trips() -> None:
            for _ in range(5):
                other.write(b"round")
                assert await called[1][0].readexactly(5) == b"round"
                called[1][1].write(b"trip")
                assert await far.readexactly(4) == b"trip"

        for end in (writer, called[0][1]):
            end.write(b"during")
        await round_trips()
        called[0][1].get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no goodbye
        called[0][1].transport.abort()
        await round_trips()
        proxy.heal()
        with suppress(ConnectionResetError):
            await here.read()
        for each in (writer, other, called[1][1]):
            each.transport.abort()
    gc.collect()  # a task whose exception nobody has fetched says so when it goes
    await asyncio.sleep(0)
    assert complaints == []


async def _call(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def test_where_nobody_listens_the_caller_is_told() -> None:
    with Ports() as ports:  # what it takes is bound, and never listened on
        async with LinkProxy() as proxy:
            address = await proxy.way(HERE, THERE, ports.take())
            await hears(Heard(await TcpNetwork().dial(address)), "lost")

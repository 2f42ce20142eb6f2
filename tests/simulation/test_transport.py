"""Connections of the simulated network."""

import asyncio
from typing import Any

import pytest

from .network import SimulatedInternet
from .process import SimulatedProcess
from .transport import SimulatedTransport
from .world import SimulatedWorld


class Heard(asyncio.Protocol):
    """A protocol that remembers."""

    def __init__(self) -> None:
        self.data, self.ended, self.lost = b"", False, list[BaseException | None]()
        self.paused = 0

    def data_received(self, data: bytes) -> None:
        self.data += data

    def eof_received(self) -> bool:
        self.ended = True
        return True

    def connection_lost(self, exc: BaseException | None) -> None:
        self.lost.append(exc)

    def pause_writing(self) -> None:
        self.paused += 1

    def resume_writing(self) -> None:
        self.paused -= 1


class Pair:
    """Two processes at two sites, and a connection from the first to the second."""

    def __init__(self, seed: int = 1) -> None:
        self.world = SimulatedWorld(seed)
        self.one, self.other = self.world.process("sto/one"), self.world.process("lon/other")
        self.here, self.there = Heard(), Heard()

    async def connect(self) -> tuple[SimulatedTransport, SimulatedTransport]:
        internet: SimulatedInternet = self.world.internet
        accepted = list[SimulatedTransport]()

        def accept(transport: SimulatedTransport) -> None:
            accepted.append(transport)
            transport.begin(self.there)

        internet.doors["there:1"] = self.other, accept
        mine = await self.world.within(self.one, lambda: internet.connect(self.one, "there:1"))
        mine.begin(self.here)
        await asyncio.sleep(0.1)
        return mine, accepted[0]

    def run(self, work: Any) -> None:
        self.world.loop.run_until_complete(work)
        self.world.close()


@pytest.fixture(params=range(5))
def pair(request: pytest.FixtureRequest) -> Pair:
    return Pair(request.param)


def test_bytes_arrive_in_order_and_the_end_behind_them(pair: Pair) -> None:
    async def work() -> None:
        mine, _ = await pair.connect()
        for n in range(100):
            mine.write(b"%03d," % n)
        mine.close()
        await asyncio.sleep(1)
        assert pair.there.data == b"".join(b"%03d," % n for n in range(100))
        assert pair.there.ended
        assert pair.here.lost == [None]

    pair.run(work())


def test_a_cut_holds_everything_back_until_it_is_healed(pair: Pair) -> None:
    async def work() -> None:
        mine, theirs = await pair.connect()
        pair.world.internet.cut("sto", "lon")
        mine.write(b"late")
        theirs.write(b"in time")
        await asyncio.sleep(100)
        assert (pair.there.data, pair.here.data) == (b"", b"in time")
        pair.world.internet.heal()
        await asyncio.sleep(1)
        assert pair.there.data == b"late"

    pair.run(work())


def test_a_connection_that_breaks_tells_both_and_loses_what_was_on_its_way(pair: Pair) -> None:
    async def work() -> None:
        mine, _ = await pair.connect()
        mine.write(b"x" * 1000)
        mine.snap()
        await asyncio.sleep(1)
        assert len(pair.there.data) < 1000
        for end in (pair.here, pair.there):
            assert [type(error) for error in end.lost] == [ConnectionResetError]

    pair.run(work())


def test_what_an_end_writes_that_does_not_know_of_the_break_does_not_come_behind_the_hole() -> None:
    async def work(pair: Pair) -> None:
        mine, _ = await pair.connect()
        mine.write(b"x")
        mine.snap()
        mine.write(b"y")
        await asyncio.sleep(1)
        assert b"y" not in pair.there.data

    for seed in range(20):
        pair = Pair(seed)
        pair.run(work(pair))


def test_a_connection_that_breaks_behind_a_cut_is_known_to_be_broken_after_it(pair: Pair) -> None:
    async def work() -> None:
        mine, theirs = await pair.connect()
        for way in (("sto", "lon"), ("lon", "sto")):
            pair.world.internet.cut(*way)
        mine.snap()
        theirs.write(b"into the void")
        await asyncio.sleep(10)
        assert (pair.here.lost, pair.there.lost) == ([], [])
        pair.world.internet.heal()
        await asyncio.sleep(1)
        assert pair.here.data == b""
        assert len(pair.here.lost) == len(pair.there.lost) == 1

    pair.run(work())


def test_who_does_not_read_stops_the_writer(pair: Pair) -> None:
    async def work() -> None:
        mine, theirs = await pair.connect()
        theirs.pause_reading()
        for _ in range(20):
            mine.write(b"x" * 10_000)
        await asyncio.sleep(1)
        assert pair.here.paused == 1
        assert mine.get_write_buffer_size() > 0
        theirs.resume_reading()
        await asyncio.sleep(1)
        assert (pair.here.paused, len(pair.there.data), mine.get_write_buffer_size()) == (0, 200_000, 0)

    pair.run(work())


def test_nobody_at_an_address_refuses_and_an_address_behind_a_cut_is_silent(pair: Pair) -> None:
    async def work() -> None:
        internet, one = pair.world.internet, pair.one
        await pair.connect()
        with pytest.raises(ConnectionRefusedError):
            await pair.world.within(one, lambda: internet.connect(one, "nobody:1"))
        internet.cut("lon", "sto")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await pair.world.within(one, lambda: internet.connect(one, "there:1"))

    pair.run(work())


def test_a_killed_process_resets_its_connections_and_one_without_power_says_nothing() -> None:
    for power, told in ((False, [ConnectionResetError]), (True, [])):
        pair = Pair()

        async def work(pair: Pair = pair, power: bool = power, told: list[type[ConnectionResetError]] = told) -> None:
            await pair.connect()
            process: SimulatedProcess = pair.other
            pair.world.processes["lon/other"] = process
            pair.world.roles["lon/other"] = None
            pair.world.kill("lon/other", power=power)
            await asyncio.sleep(1)
            assert [type(error) for error in pair.here.lost] == told

        pair.run(work())

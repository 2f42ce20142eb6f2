"""The network of a simulated world: who listens where, who can reach whom, and how long bytes take."""

import asyncio
import random
from collections.abc import Callable
from functools import cache
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.places import NOWHERE
from infra.runtime.door_opener import DoorOpener, OpenDoor
from infra.runtime.entrance import Entrance
from infra.runtime.wire.tcp import TcpWire
from infra.runtime.wire.wire import Listener, Wire

from .loop import SimulatedLoop
from .process import SimulatedProcess
from .transport import BUFFER_BYTES, Pieces, SimulatedSocket, SimulatedTransport

# One way, within a site and between two.
NEAR_S: Final = (0.0001, 0.002)
FAR_S: Final = (0.02, 0.08)
# So much longer it takes where a link is slow. What was sent there comes as late also when the link is not slow any more.
SLOW: Final = 50.0
SLOWEST_S: Final = SLOW * FAR_S[1]
# A call to somebody who cannot be reached is given up by the machine only after minutes.
UNREACHABLE_S: Final = 120.0

Accept = Callable[[SimulatedTransport], None]


@cache
def site_of(name: str) -> str:
    """Returns the site of a node or client that is named "site/name"."""
    return name.partition("/")[0]


class SimulatedInternet:
    """The wires between all processes.

    - `cuts`: (from, to): sites or nodes of which the first does not reach the second. Nobody is told.
    - `slow`: how much longer everything takes, by (from, to): sites or nodes.
    - `doors`: who listens where, and what they do with a caller.
    """

    def __init__(self, loop: SimulatedLoop, rng: random.Random, buffer_bytes: int = BUFFER_BYTES) -> None:
        self.cuts: set[tuple[str, str]] = set()
        self.slow: dict[tuple[str, str], float] = {}
        self.doors: dict[str, tuple[SimulatedProcess, Accept]] = {}
        self._loop, self._rng = loop, rng
        self._port = 20_000
        self._how = Pieces(self.delay_s, self.is_cut, buffer_bytes)

    def delay_s(self, source: str, target: str) -> float:
        """Returns how long what is sent now takes."""
        low, high = NEAR_S if site_of(source) == site_of(target) else FAR_S
        delay_s = low + (high - low) * self._rng.random()
        return delay_s * self._slowness(source, target) if self.slow else delay_s

    def _slowness(self, source: str, target: str) -> float:
        sites = site_of(source), site_of(target)
        return max(self.slow.get((source, target), 1.0), self.slow.get(sites, 1.0))

    def is_cut(self, source: str, target: str) -> bool:
        """Returns whether nothing gets from one process to another."""
        if not self.cuts:
            return False
        return (source, target) in self.cuts or (site_of(source), site_of(target)) in self.cuts

    def cut(self, source: str, target: str) -> None:
        """Lets nothing pass from a site or node to another one from now on."""
        self.cuts.add((source, target))

    def heal(self) -> None:
        """Lets everybody reach everybody. What waited goes on."""
        self.cuts.clear()
        self.slow.clear()
        for process in self._loop.processes:
            for transport in list(process.transports):
                transport.resume()

    def new_port(self) -> int:
        """Returns a port that nobody had before."""
        self._port += 1
        return self._port

    async def connect(self, process: SimulatedProcess, address: str) -> SimulatedTransport:
        """Returns the caller's end of a new connection, which has no protocol yet. Raises OSError where nobody answers."""
        found = self.doors.get(address)
        there = found[0].name if found is not None else address
        await asyncio.sleep(self.delay_s(process.name, there) + self.delay_s(there, process.name))
        if self.is_cut(process.name, there) or self.is_cut(there, process.name):
            await asyncio.sleep(UNREACHABLE_S)
            raise TimeoutError(f"{address} cannot be reached")
        found = self.doors.get(address)
        if found is None or not found[0].is_alive:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        called, accept = found
        here = SimulatedTransport(self._loop, process, self._how, self._rng, self.new_port())
        other = SimulatedTransport(self._loop, called, self._how, self._rng, here.get_extra_info("socket").getsockname()[1])
        here.peer, other.peer = other, here
        self._loop.call_soon(accept, other, context=called.context)
        return here


class SimulatedListener:
    """An entry in the table of who listens where."""

    def __init__(self, internet: SimulatedInternet, address: str) -> None:
        self.address = address
        self._internet = internet

    async def close(self) -> None:
        """See `Listener`."""
        self._internet.doors.pop(self.address, None)


class SimulatedNetwork:
    """The links of one process: real wires of TCP on simulated transports. Addresses are names, such as "sto/b1"."""

    def __init__(self, internet: SimulatedInternet, process: SimulatedProcess) -> None:
        self._internet, self._process = internet, process

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        """See `Network`."""
        if address in self._internet.doors:
            raise OSError(f"{address} is taken")
        self._internet.doors[address] = self._process, lambda transport: transport.begin(TcpWire(on_wire, NOWHERE))
        return SimulatedListener(self._internet, address)

    async def dial(self, address: str) -> Wire:
        """See `Network`."""
        transport = await self._internet.connect(self._process, address)
        wire = TcpWire()
        transport.begin(wire)
        return wire


class _SimulatedDoor:
    """A door that is open."""

    def __init__(self, internet: SimulatedInternet, port: int) -> None:
        self.sockets = (SimulatedSocket(("127.0.0.1", port)),)
        self._internet, self._address = internet, f"127.0.0.1:{port}"

    def close(self) -> None:
        """See `OpenDoor`."""
        self._internet.doors.pop(self._address, None)


class SimulatedOpener(DoorOpener):
    """The opener of the doors of one process: whoever calls gets a place, and the door's own protocol."""

    def __init__(self, internet: SimulatedInternet, process: SimulatedProcess) -> None:
        super().__init__()
        self._internet, self._process = internet, process

    async def open(self, option: str, address: str, entrance: Entrance, **_: object) -> OpenDoor:
        """See `DoorOpener`."""
        port = self._internet.new_port()

        def accept(transport: SimulatedTransport) -> None:
            try:
                place = entrance.places.take("127.0.0.1", asyncio.get_running_loop().time())
            except Refused as refused:
                transport.write(entrance.refusal(refused))
                transport.close()
            else:
                transport.begin(entrance.make(place))

        self._internet.doors[f"127.0.0.1:{port}"] = self._process, accept
        return _SimulatedDoor(self._internet, port)  # type: ignore[return-value]

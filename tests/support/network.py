"""A network whose connections can be cut, for the memory and the TCP adapter alike."""

from collections.abc import Callable, Sequence

from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Frame
from infra.runtime.wire import Listener, Network, OnFrames, OnLost, Wire
from infra.runtime.wire_tcp import TcpNetwork


class NamedTcpNetwork:
    """Real TCP on loopback under names: a name is bound to a free port when it is listened on, and asked for by dialling."""

    def __init__(self) -> None:
        self._tcp = TcpNetwork()
        self._book: dict[str, str] = {}

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        if address in self._book:
            raise OSError(f"{address} is taken")
        listener = await self._tcp.listen("127.0.0.1:0", on_wire)
        self._book[address] = listener.address
        close = listener.close

        async def forget() -> None:
            self._book.pop(address, None)
            await close()

        listener.close = forget  # type: ignore[method-assign]
        return listener

    async def dial(self, address: str) -> Wire:
        if address not in self._book:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        return await self._tcp.dial(self._book[address])


class _FaultyWire:
    """The dialler's end; while its pair is cut, nothing passes in either direction and nobody is told."""

    def __init__(self, wire: Wire, is_cut: Callable[[], bool]) -> None:
        self._wire, self._is_cut = wire, is_cut

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        def pass_on(frames: list[AnyFrame]) -> None:
            if not self._is_cut():
                on_frames(frames)

        self._wire.start(pass_on, on_lost)

    def send(self, frames: Sequence[Frame]) -> None:
        if not self._is_cut():
            self._wire.send(frames)

    def close(self) -> None:
        self._wire.close()

    def abort(self) -> None:
        self._wire.abort()

    @property
    def queued_bytes(self) -> int:
        return self._wire.queued_bytes


class FaultPlan:
    """Which sites cannot reach each other now, and every wire that was dialled, by who dialled it."""

    def __init__(self) -> None:
        self.cuts: set[frozenset[str]] = set()
        self.wires: dict[str, list[Wire]] = {}


class FaultyNetwork:
    """One node's view of a network. `me` is "site/node"; addresses are "site/node" too."""

    def __init__(self, inner: Network, me: str, plan: FaultPlan) -> None:
        self._inner, self._me, self._plan = inner, me, plan

    def _is_cut(self, address: str) -> bool:
        pair = frozenset({self._me.partition("/")[0], address.partition("/")[0]})
        return pair in self._plan.cuts

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        def keep(wire: Wire) -> None:
            self._plan.wires.setdefault(self._me, []).append(wire)
            on_wire(wire)

        return await self._inner.listen(address, keep)

    async def dial(self, address: str) -> Wire:
        if self._is_cut(address):
            raise OSError(f"{address} cannot be reached")
        wire = _FaultyWire(await self._inner.dial(address), lambda: self._is_cut(address))
        self._plan.wires.setdefault(self._me, []).append(wire)
        return wire

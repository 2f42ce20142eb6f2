"""Links between nodes of one process, which can be cut without a word. What is sent meanwhile waits, as it would in TCP."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from infra.kernel.codec import encode
from infra.kernel.frames import AnyFrame, Frame
from infra.runtime.wire.wire import Listener, Network, OnFrames, OnLost, Wire, WireEnd

from .cuts import Cuts

F = TypeVar("F", bound=Frame)


class CutLinks:
    """The links of all nodes over a `network`, in which addresses are names of nodes: "site/node".

    - `cuts`: who does not reach whom. Nobody is told. What they send arrives after `heal`, unless the wire was given up by then.
    - `wires`: every wire, by the node that has it.
    """

    def __init__(self, network: Network) -> None:
        self.cuts = Cuts()
        self.wires: dict[str, list[Wire]] = {}
        self.inner = network
        self._waiting: list[Callable[[], None]] = []

    def of(self, name: str) -> Network:
        """Returns the network as the node `name` sees it."""
        return _NodeNetwork(self, name)

    def is_cut(self, one: str, other: str) -> bool:
        """Returns whether two nodes do not reach each other."""
        return self.cuts.between(one, other)

    def is_stopped(self, source: str, target: str) -> bool:
        """Returns whether what `source` sends to `target` waits."""
        return self.is_cut(source, target)

    def heal(self) -> None:
        """Lets everybody reach everybody. What waits arrives, where its link still stands."""
        self.cuts.clear()
        waiting, self._waiting = self._waiting, []
        for go in waiting:
            go()

    def keep(self, name: str, wire: Wire) -> None:
        """Notes that a node has a wire."""
        self.wires.setdefault(name, []).append(wire)

    def abort(self, name: str) -> None:
        """Breaks all wires of a node, without a goodbye."""
        for wire in self.wires.pop(name, []):
            wire.abort()

    def carry(self, source: str, target: str, frames: list[F], go: Callable[[list[F]], None]) -> None:
        """Calls `go` with what `source` sends to `target`: now, or when they reach each other again.

        - `frames`: what is sent. `go`: hands it over.
        """
        if self.is_cut(source, target):
            self._waiting.append(lambda: go(frames))
        else:
            go(frames)


class _NodeNetwork:
    """The network of one node."""

    def __init__(self, links: CutLinks, name: str) -> None:
        self._links, self._name = links, name

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        """See `Network`."""

        def accept(wire: Wire) -> None:
            self._links.keep(self._name, wire)
            on_wire(wire)

        return await self._links.inner.listen(address, accept)

    async def dial(self, address: str) -> Wire:
        """See `Network`."""
        if self._links.is_cut(self._name, address):
            raise OSError(f"{address} cannot be reached")
        wire = _CutWire(await self._links.inner.dial(address), self._name, address, self._links)
        self._links.keep(self._name, wire)
        return wire


class _CutWire:
    """The caller's end of a wire, through which both directions pass."""

    def __init__(self, wire: Wire, me: str, peer: str, links: CutLinks) -> None:
        self._wire, self._me, self._peer, self._links = wire, me, peer, links
        self._waiting_bytes = 0

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """See `Wire`."""

        def pass_on(frames: list[AnyFrame]) -> None:
            self._links.carry(self._peer, self._me, frames, on_frames)

        self._wire.start(pass_on, on_lost)

    def send(self, frames: Sequence[Frame]) -> None:
        """See `Wire`."""
        is_stopped = self._links.is_stopped(self._me, self._peer)
        size_bytes = sum(len(encode(frame)) for frame in frames) if is_stopped else 0
        self._waiting_bytes += size_bytes

        def go(left: list[Frame]) -> None:
            self._waiting_bytes -= size_bytes
            self._wire.send(left)

        self._links.carry(self._me, self._peer, list(frames), go)

    @property
    def queued_bytes(self) -> int:
        """See `Wire`."""
        return self._wire.queued_bytes + self._waiting_bytes

    @property
    def far_end(self) -> WireEnd:
        """See `Wire`."""
        return self._wire.far_end

    def trust(self) -> None:
        """See `Wire`."""
        self._wire.trust()

    def close(self) -> None:
        """See `Wire`."""
        self._wire.close()

    def abort(self) -> None:
        """See `Wire`."""
        self._wire.abort()

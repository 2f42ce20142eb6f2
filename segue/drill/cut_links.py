"""Links in memory between nodes of one process, which can be cut without a word. What is sent meanwhile waits, as it would in TCP."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from infra.kernel.codec import encode
from infra.kernel.frames import AnyFrame, Frame
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.wire import Listener, Network, OnFrames, OnLost, Wire, WireEnd


class CutLinks:
    """The links of all nodes. `cuts`: pairs of nodes or of sites that do not reach each other."""

    def __init__(self) -> None:
        self.cuts: set[frozenset[str]] = set()
        self._memory = MemoryNetwork()
        self._wires: defaultdict[str, list[Wire]] = defaultdict(list)
        self._waiting: list[Callable[[], None]] = []

    def of(self, name: str) -> Network:
        """Returns the network as the node `name` sees it."""
        return _NodeNetwork(self, name, self._memory)

    def is_cut(self, one: str, other: str) -> bool:
        """Returns whether two nodes do not reach each other."""
        sites = frozenset({one.partition("/")[0], other.partition("/")[0]})
        return frozenset({one, other}) in self.cuts or (len(sites) == 2 and sites in self.cuts)

    def heal(self) -> None:
        """Lets everybody reach everybody. What waits arrives, where its link still stands."""
        self.cuts.clear()
        waiting, self._waiting = self._waiting, []
        for go in waiting:
            go()

    def keep(self, name: str, wire: Wire) -> None:
        """Notes that a node has a wire."""
        self._wires[name].append(wire)

    def abort(self, name: str) -> None:
        """Breaks all wires of a node, without a goodbye."""
        for wire in self._wires.pop(name, []):
            wire.abort()

    def carry(self, one: str, other: str, go: Callable[[], None]) -> None:
        """Calls `go` now, or when two nodes reach each other again."""
        if self.is_cut(one, other):
            self._waiting.append(go)
        else:
            go()


class _NodeNetwork:
    """The network of one node. Addresses are names of nodes."""

    def __init__(self, links: CutLinks, name: str, memory: MemoryNetwork) -> None:
        self._links, self._name, self._memory = links, name, memory

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        """See `Network`."""

        def accept(wire: Wire) -> None:
            self._links.keep(self._name, wire)
            on_wire(wire)

        return await self._memory.listen(address, accept)

    async def dial(self, address: str) -> Wire:
        """See `Network`."""
        if self._links.is_cut(self._name, address):
            raise OSError(f"{address} cannot be reached")
        wire = _CutWire(await self._memory.dial(address), self._name, address, self._links)
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
            self._links.carry(self._me, self._peer, lambda: on_frames(frames))

        self._wire.start(pass_on, on_lost)

    def send(self, frames: Sequence[Frame]) -> None:
        """See `Wire`."""
        if not self._links.is_cut(self._me, self._peer):
            self._wire.send(frames)
            return
        size_bytes = sum(len(encode(frame)) for frame in frames)
        self._waiting_bytes += size_bytes

        def go() -> None:
            self._waiting_bytes -= size_bytes
            self._wire.send(frames)

        self._links.carry(self._me, self._peer, go)

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

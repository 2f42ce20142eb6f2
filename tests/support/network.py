"""A network whose connections can be cut, held back and listened to, for the memory and the TCP adapter alike."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from infra.kernel.codec import encode
from infra.kernel.frames import AnyFrame, Call, Deliver, Frame, Publish, Reply
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Listener, Network, OnFrames, OnLost, Wire, WireEnd

F = TypeVar("F", bound=Frame)
# What may be lost without a connection that ends.
LOSABLE = (Call, Deliver, Publish, Reply)


class NamedTcpNetwork:
    """Real TCP on loopback under names: a name is bound to a free port when it is listened on, and asked for by dialling.

    `addresses` are those of nodes that run elsewhere; `book` has these and its own.
    """

    def __init__(self, addresses: Mapping[str, str] = {}) -> None:
        self._tcp = TcpNetwork()
        self.book = dict(addresses)

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        if address in self.book:
            raise OSError(f"{address} is taken")
        listener = await self._tcp.listen("127.0.0.1:0", on_wire)
        self.book[address] = listener.address
        close = listener.close

        async def forget() -> None:
            self.book.pop(address, None)
            await close()

        listener.close = forget  # type: ignore[method-assign]
        return listener

    async def dial(self, address: str) -> Wire:
        if address not in self.book:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        return await self._tcp.dial(self.book[address])


class Crossing(NamedTuple):
    """One frame on its way from one node to another; nodes are named "site/node"."""

    source: str
    target: str
    frame: Frame


class FaultPlan:
    """The faults of a network, and what happens on it.

    - `cuts`: pairs of sites or of nodes that cannot reach each other. Nobody is told. What they send waits, as it would in TCP: it arrives
      after `heal`, unless the wire was given up by then.
    - `held`: (source, target) nodes whose frames wait until `release`.
    - `wires`: every wire by the node that has it.
    - `log`: every frame that crossed a link.
    - `lost`: how many frames `lose` has lost.
    """

    def __init__(self) -> None:
        self.cuts: set[frozenset[str]] = set()
        self.held: dict[tuple[str, str], list[Callable[[], None]]] = {}
        self.stuck: list[Callable[[], None]] = []
        self.wires: dict[str, list[Wire]] = {}
        self.log: list[Crossing] = []
        self.lost = 0
        self._loss = 0.0
        self._is_doomed: Callable[[Frame], bool] = lambda frame: False
        self._rng = random.Random(0)

    def is_cut(self, one: str, other: str) -> bool:
        """Returns whether two nodes cannot reach each other."""
        return not self.cuts.isdisjoint((frozenset({one, other}), frozenset({_site(one), _site(other)})))

    def is_stopped(self, source: str, target: str) -> bool:
        """Returns whether what `source` sends to `target` waits."""
        return (source, target) in self.held or self.is_cut(source, target)

    def lose(self, share: float, seed: int = 0) -> None:
        """Loses this `share` of the frames with events, calls and replies, from now on and on every link; `seed` chooses them.

        The other frames are numbered and acknowledged: on a stream they arrive, or the stream ends.
        """
        self._loss, self._rng = share, random.Random(seed)

    def lose_if(self, is_doomed: Callable[[Frame], bool]) -> None:
        """Loses frames of which `is_doomed` is true, from now on and on every link; the same frames as `lose` may be lost."""
        self._is_doomed = is_doomed

    def survivors(self, frames: Sequence[F]) -> list[F]:
        """Returns what is left of `frames`."""
        left = [frame for frame in frames if not (isinstance(frame, LOSABLE) and self._is_lost(frame))]
        self.lost += len(frames) - len(left)
        return left

    def _is_lost(self, frame: Frame) -> bool:
        return self._is_doomed(frame) or self._rng.random() < self._loss

    def carry(self, source: str, target: str, frames: Sequence[Frame], go: Callable[[], None]) -> None:
        """Lets `frames` go from `source` to `target` by calling `go`, at once or when nothing stops them any more."""
        if self.is_cut(source, target):
            self.stuck.append(go)
            return
        self.log.extend(Crossing(source, target, frame) for frame in frames)
        if (source, target) in self.held:
            self.held[source, target].append(go)
        else:
            go()

    def heal(self) -> None:
        """Lets everybody reach everybody again."""
        self.cuts.clear()
        stuck, self.stuck = self.stuck, []
        for go in stuck:
            go()

    def hold(self, source: str, target: str) -> None:
        """Lets frames from `source` to `target` wait from now on."""
        self.held.setdefault((source, target), [])

    def release(self, source: str, target: str) -> None:
        """Lets go what waited, in order, and holds nothing back any more."""
        for go in self.held.pop((source, target)):
            go()


def _site(node: str) -> str:
    return node.partition("/")[0]


class _FaultyWire:
    """The dialler's end of a wire, where both directions pass."""

    def __init__(self, wire: Wire, me: str, peer: str, plan: FaultPlan) -> None:
        self._wire, self._me, self._peer, self._plan = wire, me, peer, plan
        self._waiting_bytes = 0

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        def pass_on(frames: list[AnyFrame]) -> None:
            left = self._plan.survivors(frames)
            self._plan.carry(self._peer, self._me, left, lambda: on_frames(left))

        self._wire.start(pass_on, on_lost)

    def send(self, frames: Sequence[Frame]) -> None:
        left = self._plan.survivors(frames)
        size_bytes = sum(len(encode(frame)) for frame in left) if self._plan.is_stopped(self._me, self._peer) else 0
        self._waiting_bytes += size_bytes

        def go() -> None:
            self._waiting_bytes -= size_bytes
            self._wire.send(left)

        self._plan.carry(self._me, self._peer, left, go)

    @property
    def far_end(self) -> WireEnd:
        return self._wire.far_end

    def trust(self) -> None:
        self._wire.trust()

    def close(self) -> None:
        self._wire.close()

    def abort(self) -> None:
        self._wire.abort()

    @property
    def queued_bytes(self) -> int:
        return self._wire.queued_bytes + self._waiting_bytes


class FaultyNetwork:
    """One node's view of a network. `me` is "site/node"; addresses are "site/node" too."""

    def __init__(self, inner: Network, me: str, plan: FaultPlan) -> None:
        self._inner, self._me, self._plan = inner, me, plan

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Listener:
        def keep(wire: Wire) -> None:
            self._plan.wires.setdefault(self._me, []).append(wire)
            on_wire(wire)

        return await self._inner.listen(address, keep)

    async def dial(self, address: str) -> Wire:
        if self._plan.is_cut(self._me, address):
            raise OSError(f"{address} cannot be reached")
        wire = _FaultyWire(await self._inner.dial(address), self._me, address, self._plan)
        self._plan.wires.setdefault(self._me, []).append(wire)
        return wire

"""A network whose connections can be cut, held back and listened to, for the memory and the TCP adapter alike."""

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from infra.kernel.frames import Call, Deliver, Frame, Publish, Reply
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Listener, Network, Wire
from segue.drill.cut_links import CutLinks

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


class FaultPlan(CutLinks):
    """The faults of a network, and what happens on it: links are cut as in a drill (`CutLinks`), and more.

    - `held`: (source, target) nodes whose frames wait until `release`.
    - `log`: every frame that crossed a link.
    - `lost`: how many frames `lose` has lost.
    """

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.held: dict[tuple[str, str], list[Callable[[], None]]] = {}
        self.log: list[Crossing] = []
        self.lost = 0
        self._loss = 0.0
        self._is_doomed: Callable[[Frame], bool] = lambda frame: False
        self._rng = random.Random(0)

    def is_stopped(self, source: str, target: str) -> bool:
        """Returns whether what `source` sends to `target` waits."""
        return (source, target) in self.held or super().is_stopped(source, target)

    def lose(self, share: float, seed: int = 0) -> None:
        """Loses this `share` of the frames with events, calls and replies, from now on and on every link; `seed` chooses them.

        The other frames are numbered and acknowledged: on a stream they arrive, or the stream ends.
        """
        self._loss, self._rng = share, random.Random(seed)

    def lose_if(self, is_doomed: Callable[[Frame], bool]) -> None:
        """Loses frames of which `is_doomed` is true, from now on and on every link; the same frames as `lose` may be lost."""
        self._is_doomed = is_doomed

    def carry(self, source: str, target: str, frames: list[F], go: Callable[[list[F]], None]) -> None:
        """Lets what is not lost of `frames` go from `source` to `target`, at once or when nothing stops them any more."""
        left = [frame for frame in frames if not (isinstance(frame, LOSABLE) and self._is_lost(frame))]
        self.lost += len(frames) - len(left)
        if self.is_cut(source, target):
            super().carry(source, target, left, go)
            return
        self.log.extend(Crossing(source, target, frame) for frame in left)
        if (source, target) in self.held:
            self.held[source, target].append(lambda: go(left))
        else:
            go(left)

    def _is_lost(self, frame: Frame) -> bool:
        return self._is_doomed(frame) or self._rng.random() < self._loss

    def hold(self, source: str, target: str) -> None:
        """Lets frames from `source` to `target` wait from now on."""
        self.held.setdefault((source, target), [])

    def release(self, source: str, target: str) -> None:
        """Lets go what waited, in order, and holds nothing back any more."""
        for go in self.held.pop((source, target)):
            go()

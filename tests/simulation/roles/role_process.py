"""A process with one role: its links come and go, and it is told of time."""

import random
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from infra.kernel.errors import Refused
from infra.kernel.link_handshake import LinkHandshake
from infra.runtime.context import Context

from ..loop import BORN_S
from ..oracle import Violated
from .frame_wire import FrameConnection
from .role_node import CALLS_S, GIVES_UP_S, RoleNode
from .timeline import RoleLoop

if TYPE_CHECKING:
    from .world import RoleWorld

# A heartbeat comes so much too early or too late, as a share of the time between two.
JITTER = 0.05


class _OpenHandshake(LinkHandshake):
    """The handshake of two who need no proof: it is done at once."""

    takes_time = False

    def __init__(self) -> None:
        pass


_OPEN = _OpenHandshake()


class RoleLog:
    """The log of a process, which a story is made of. What production did not expect violates the life."""

    def __init__(self, world: "RoleWorld", name: str) -> None:
        self._world, self._name = world, name

    def debug(self, what: str, /, **_: Any) -> None:
        """Passes over what is of no interest."""

    def info(self, what: str, /, **fields: Any) -> None:
        """Tells what happened."""
        self._world.tell(self._name, f"{what} {fields}")

    warning = error = info

    def exception(self, what: str, /, **fields: Any) -> None:
        """Raises Violated."""
        raise Violated(f"{self._name}: {what} {fields}: {traceback.format_exc()}")


class RoleProcess:
    """A process that has made its `role` by `make(context, loop)`. `address`: where others call it. `node`: its links."""

    node: RoleNode

    def __init__(self, world: "RoleWorld", address: str, make: Callable[[Context, RoleLoop], Any]) -> None:
        self.name = self.address = address
        self._world, self._rng = world, world.born_stream(address)
        self.loop = RoleLoop(world.timeline, world.stream(f"turns of {address}"), world.turn_s)
        self.loop.owner = self
        context = Context(
            network=None,  # type: ignore[arg-type]  # it calls by its node alone
            log=RoleLog(world, address),
            rng=random.Random(self._rng.getrandbits(60)),
            wall=lambda: BORN_S + world.now_s,
            now=lambda: world.now_s,
        )
        self.role = self.loop.within(make, context, self.loop)
        world.timeline.at(world.now_s + self._rng.random() * self.node.timing.heartbeat_s, self._beat)

    @property
    def is_dead(self) -> bool:
        """Whether it was killed."""
        return self.loop.is_dead

    def does(self, work: Callable[..., Any], *args: Any) -> None:
        """Has the process do something, and sends what it said."""
        self.loop.within(self._do, work, *args)

    def _do(self, work: Callable[..., Any], *args: Any) -> None:
        work(*args)
        self.node.flush()

    def _beat(self) -> None:
        if not self.is_dead:
            self.does(self._tick)
            beat_s = self.node.timing.heartbeat_s * (1 + JITTER * (2 * self._rng.random() - 1))
            self._world.timeline.at(self._world.now_s + beat_s, self._beat)

    def _tick(self) -> None:
        standing = self.node.standing
        standing.now_s += self.node.timing.heartbeat_s
        self.role.tick(standing.now_s)
        standing.beat()
        self.node.flush()
        for address in list(self.node.dials):
            self._call(address)

    def call_soon(self, address: str) -> None:
        """Calls an address in a moment."""
        self._world.timeline.at(self._world.now_s + self._rng.random() * CALLS_S, self.loop.within, self._call, address)

    def _call(self, address: str) -> None:
        if address not in self.node.dials or self._is_calling(self.node.dials[address]):
            return
        there = self._world.processes.get(address)
        if there is not None and not there.is_dead and not self._world.is_cut(self.name, there.name):
            connection = self.node.dials[address] = FrameConnection(self._world, self, there, address)
            connection.push(0, "hello", self.node.hello())

    def _is_calling(self, last: FrameConnection | None) -> bool:
        """Tells whether a connection stands, or may still come about."""
        if last is None:
            return False
        is_waiting = last.links[0] is None and not last.has_failed and self._world.now_s - last.begun_s < GIVES_UP_S
        return is_waiting or last.links[0] in self.node.links

    def take(self, connection: FrameConnection, side: int, kind: str, what: Any) -> None:
        """Takes what has come on a connection."""
        if kind == "frames":
            if connection.links[side] is not None:
                self.node.standing.received(connection.links[side], what)
        elif kind == "end":
            self._lost(connection, side)
        elif side == 1:
            self._called(connection, what)
        elif self.node.dials.get(connection.address) is connection:
            self._up(connection, 0, what)
        else:
            connection.has_failed = True
            connection.wires[0].close()
        self.node.flush()

    def _called(self, connection: FrameConnection, hello: Any) -> None:
        try:
            self.role.admit(hello)
            self.node.standing.refuse_duplicate(hello)
        except Refused:
            connection.push(1, "end", None)
        else:
            connection.push(1, "hello", self.node.hello())
            self._up(connection, 1, hello)

    def _up(self, connection: FrameConnection, side: int, hello: Any) -> None:
        wire, dialled = connection.wires[side], connection.address if side == 0 else None
        try:
            connection.links[side] = self.node.standing.up(wire, hello, dialled, _OPEN)
        except Refused as refused:
            self._world.tell(self.name, f"refuses a link: {refused}")
            connection.has_failed = True
            wire.close()

    def _lost(self, connection: FrameConnection, side: int) -> None:
        connection.has_failed = True
        if (link := connection.links[side]) is not None:
            connection.wires[side].is_closed = True
            self.node.standing.lost(link, "the connection is gone")
        elif side == 0 and self.node.dials.get(connection.address) is connection:
            self.node.dials[connection.address] = None

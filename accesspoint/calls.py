"""Calls: client requests that a service answers (see `SERVICE_OF`), and what follows from a subscribe, relayed over a link. Pure."""

from collections import defaultdict
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Reply
from infra.kernel.live_nodes import LiveNodes
from infra.kernel.open_calls import OpenCalls, Then
from infra.kernel.outlet import Outlet

SERVICE_OF: Final = {
    "act": "presence",
    "last": "presence",
    "pull": "notification",
    "list": "notification",
    "seen": "notification",
    "read": "notification",
    "change": "notification",
    "history": "notification",
}


class Calls:
    """Open calls: at most `max_calls`, with bodies of at most `max_bytes` in all. A user's calls go to one node of the service, by the
    ring over those that can be reached."""

    def __init__(self, max_calls: int, max_bytes: int, timeout_s: float) -> None:
        self._open: OpenCalls[str] = OpenCalls(max_calls, max_bytes, timeout_s)
        self._nodes: defaultdict[str, LiveNodes[Outlet]] = defaultdict(LiveNodes)

    @property
    def open_bytes(self) -> int:
        """The bytes of all bodies whose calls are open."""
        return self._open.open_bytes

    def node_up(self, service: str, address: str, outlet: Outlet) -> None:
        """Notes that a node of `service` can be reached at `address`, by way of `outlet`."""
        self._nodes[service].up(address, outlet)

    def node_down(self, service: str, address: str) -> None:
        """Notes that a node of `service` is lost, and with it the answers that it owes."""
        self._nodes[service].down(address)
        self._open.lost(address, Refused("unavailable", f"the {service} service went away before it answered"))

    def has(self, service: str) -> bool:
        """Returns whether any node of `service` can be reached."""
        return bool(self._nodes[service])

    def count(self, service: str) -> int:
        """Returns how many nodes of `service` can be reached."""
        return len(self._nodes[service])

    def call(self, service: str, op: str, user: str, client: str, body: bytes, now_s: float, then: Then) -> None:
        """Relays the request `op` of a user's client to a node of `service`, as `body` says it. `then` is called with its reply.

        Raises `Refused("unavailable")` when nobody can answer it.
        """
        node = self._nodes[service].of(user)
        if node is None:
            raise Refused("unavailable", f"no {service} service can be reached now")
        n = self._open.open(node.address, len(body), now_s, then)
        node.link.send(Call(n, user, client, op, body))

    def reply(self, address: str, reply: Reply) -> None:
        """Notes what the node at `address` has answered."""
        self._open.reply(address, reply)

    def tick(self, now_s: float) -> None:
        """Gives up on calls that have waited too long. Raises what went wrong with some when all are answered."""
        self._open.tick(now_s)

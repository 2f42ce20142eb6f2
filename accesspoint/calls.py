"""Calls: client requests that a service answers (see `SERVICE_OF`), and what follows from a subscribe, relayed over a link."""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from infra.kernel.announcer import Outlet
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import Call, Reply
from infra.kernel.ring import Ring

SERVICE_OF: Final = {
    "act": "presence",
    "last": "presence",
    "pull": "notification",
    "seen": "notification",
    "read": "notification",
    "history": "notification",
}

# Called once with the reply, or with why there is none.
Then = Callable[[Reply | Refused], None]


class _Open(NamedTuple):
    address: str
    size_bytes: int
    then: Then


class Calls:
    """Open calls: at most `max_calls`, with bodies of at most `max_bytes` in all. A user's calls go to one node of the service, by the
    ring over those that can be reached."""

    def __init__(self, max_calls: int, max_bytes: int, timeout_s: float) -> None:
        self.open_bytes = 0
        self._max_calls, self._max_bytes = max_calls, max_bytes
        self._timeout_s = timeout_s
        self._nodes: dict[str, dict[str, Outlet]] = {}
        self._rings: dict[str, Ring] = {}
        self._open: dict[int, _Open] = {}
        self._deadlines: deque[tuple[float, int]] = deque()
        self._n = 0

    def node_up(self, service: str, address: str, outlet: Outlet) -> None:
        """A node of `service` can be reached."""
        self._nodes.setdefault(service, {})[address] = outlet
        self._rings[service] = Ring(self._nodes[service])

    def node_down(self, service: str, address: str) -> None:
        """A node of `service` is lost, and with it the answers it owes."""
        nodes = self._nodes.get(service, {})
        nodes.pop(address, None)
        self._rings[service] = Ring(nodes)
        gone = Refused("unavailable", f"the {service} service went away before it answered")
        for_every_one(partial(self._end, n, gone) for n, call in list(self._open.items()) if call.address == address)

    def has(self, service: str) -> bool:
        """Whether any node of `service` can be reached."""
        return bool(self._nodes.get(service))

    def call(self, service: str, op: str, user: str, client: str, body: bytes, now_s: float, then: Then) -> None:
        """Relay a request. Raises `Refused("unavailable")` if nobody can answer it."""
        address = self._rings[service].owner(user.encode()) if service in self._rings else None
        if address is None:
            raise Refused("unavailable", f"no {service} service can be reached now")
        if len(self._open) >= self._max_calls or self.open_bytes + len(body) > self._max_bytes:
            raise Refused("unavailable", "too many requests are waiting for an answer")
        self._n += 1
        self._open[self._n] = _Open(address, len(body), then)
        self.open_bytes += len(body)
        self._deadlines.append((now_s + self._timeout_s, self._n))
        self._nodes[service][address].send(Call(self._n, user, client, op, body))

    def reply(self, reply: Reply) -> None:
        """A service answered."""
        self._end(reply.n, reply)

    def tick(self, now_s: float) -> None:
        """Gives up on calls that have waited too long. Raises what went wrong with some when all are answered."""
        for_every_one(self._late(now_s))

    def _late(self, now_s: float) -> Iterator[Callable[[], None]]:
        while self._deadlines and self._deadlines[0][0] <= now_s:
            _, n = self._deadlines.popleft()
            yield partial(self._end, n, Refused("unavailable", f"no answer within {self._timeout_s:g} s"))

    def _end(self, n: int, result: Reply | Refused) -> None:
        found = self._open.pop(n, None)
        if found is not None:
            self.open_bytes -= found.size_bytes
            found.then(result)

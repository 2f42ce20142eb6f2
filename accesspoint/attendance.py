"""Attendance: which clients are connected here, as presence is told.

Each user's clients are announced to one presence node, by the ring over those that can be reached. All of them are
announced when a node is linked, and those whose node changes when another one is linked or lost; so presence keeps
nothing that we do not hold, and misses nothing that we do (soft state, as with interest). What changes in between goes
out once per turn of the loop, as one frame of each kind.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from infra.kernel.frames import Gone, Here
from infra.kernel.outlet import Outlet
from infra.kernel.ring import Ring, hash64

from .soon import Soon

# As many of the longest names fit into a frame of a link.
BULK: Final = 8192
# Connections of one client are counted by device in one number, mobile ones above this.
_MOBILE: Final = 1 << 20

Client = tuple[str, str]
"""User and client name. Several connections may have the same: tabs, or clients that gave no name."""


def _devices(count: int) -> int:
    # Bit 0: a desktop is connected; bit 1: a mobile device is. `count` has desktops in its lower part, mobile ones above.
    return (count % _MOBILE > 0) | (count >= _MOBILE) << 1


class _Batches(defaultdict[str | None, list[Client]]):
    """Clients by the address of their node."""

    def __init__(self) -> None:
        super().__init__(list)


class Attendance:
    """The clients that have said hello, with how many connections each has.

    `soon(report)` is called when there is something to report, once until that was done.
    """

    def __init__(self, soon: Soon) -> None:
        self._soon = soon
        self._counts: dict[Client, int] = {}
        self._changed: dict[Client, None] = {}
        self._outlets: dict[str, Outlet] = {}
        self._ring = Ring(())

    def __len__(self) -> int:
        return len(self._counts)

    def arrive(self, client: Client, mobile: bool) -> None:
        """Counts one more connection of `client`, which is `mobile` or not."""
        self._change(client, _MOBILE if mobile else 1)

    def leave(self, client: Client, mobile: bool) -> None:
        """Counts one connection less, of those that have arrived."""
        self._change(client, -_MOBILE if mobile else -1)

    def _change(self, client: Client, by: int) -> None:
        before = self._counts.get(client, 0)
        count = before + by
        if count:
            self._counts[client] = count
        else:
            del self._counts[client]
        if self._outlets and _devices(before) != _devices(count):
            if not self._changed:
                self._soon(self.report)
            self._changed[client] = None

    def report(self) -> None:
        """Tells presence what has changed since the last time."""
        here, gone = _Batches(), _Batches()
        changed, self._changed = self._changed, {}
        for client in changed:
            (here if client in self._counts else gone)[self._ring.owner(client[0].encode())].append(client)
        self._send(here, gone)

    def node_up(self, address: str, outlet: Outlet) -> None:
        """Announces their clients to a presence node at `address`, which knows nothing yet of who is here."""
        self._outlets[address] = outlet
        self._move_to(Ring(self._outlets))

    def node_down(self, address: str) -> None:
        """Announces the clients of the presence node at `address`, which is lost, to others."""
        self._outlets.pop(address, None)
        self._move_to(Ring(self._outlets))

    def _move_to(self, ring: Ring) -> None:
        # First what has changed, under the ring that holds: the loop below compares owners, and does not look at changes.
        self.report()
        here, gone = _Batches(), _Batches()
        for client in self._counts:
            hashed = hash64(client[0])
            old, new = self._ring.owner_at(hashed), ring.owner_at(hashed)
            if old != new:
                gone[old].append(client)
                here[new].append(client)
        self._ring = ring
        self._send(here, gone)

    def _send(self, here: _Batches, gone: _Batches) -> None:
        for outlet, clients in self._batches(here):
            devices = [_devices(self._counts[client]) for client in clients]
            outlet.send(Here([user for user, _ in clients], [name for _, name in clients], devices))
        for outlet, clients in self._batches(gone):
            outlet.send(Gone([user for user, _ in clients], [name for _, name in clients]))

    def _batches(self, batches: _Batches) -> Iterator[tuple[Outlet, list[Client]]]:
        """Returns the batches in bounded portions, without those for nobody, or for a node that is lost."""
        for address, clients in batches.items():
            if address in self._outlets:
                for start in range(0, len(clients), BULK):
                    yield self._outlets[address], clients[start : start + BULK]

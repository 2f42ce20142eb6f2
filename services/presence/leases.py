"""Leases: who is online, on which kinds of devices. In memory only (SB-30).

A lease says: this client of this user is connected to that access point. The access point grants it over its link, and the
heartbeats of the link renew all leases at once. So the time to live of a lease is the `silent_s` of the link.

A lease ends `grace_s` after the access point gave it up. If the whole access point was lost, it ends after that and a share of
`jitter_s`. The share is each user's own, so that a crash does not send everybody offline in the same moment. A user who is back by
then was never away.

Whether a lease has ended is decided when somebody asks. A sweep forgets what has ended; it looks at every user once in `SWEEP_S`.
So to lose an access point with a million clients costs nothing in that moment.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import ceil, inf
from typing import Final
from zlib import crc32

import msgspec

SWEEP_S: Final = 30.0
# No person has more clients at a time. With more, the lease that ends first gives way.
MAX_CLIENTS: Final = 64


class _Point(msgspec.Struct, gc=False, eq=False):
    """One link of an access point, from its hello to its loss at `lost_s`."""

    node: str
    lost_s: float = inf


class _Lease(msgspec.Struct, gc=False, eq=False):
    client: str
    devices: int
    point: _Point
    ends_s: float = inf


class Leases:
    """The leases of one node.

    - `grace_s`, `jitter_s`: see above.
    - `max_users`: further users are not known; `refused` counts them.

    `devices` are bits: 1 desktop, 2 mobile. Times are seconds of one clock that does not go back.
    """

    def __init__(self, grace_s: float, jitter_s: float, max_users: int) -> None:
        self.refused = 0
        self._grace_s = grace_s
        self._jitter_s = jitter_s
        self._max_users = max_users
        self._users: dict[str, tuple[_Lease, ...]] = {}
        self._points: dict[str, _Point] = {}
        self._sweep: Iterator[str] = iter(())

    def __len__(self) -> int:
        """Returns how many users are known: they are online, or were so a short time ago."""
        return len(self._users)

    def link_up(self, node: str) -> None:
        """Notes that an access point has linked; it is about to announce who is there."""
        self._points[node] = _Point(node)

    def link_down(self, node: str, now_s: float) -> None:
        """Notes that the link to an access point is lost. All its leases end, unless it comes back and grants them again."""
        # All leases of the point hold this object, so one write ends them. A link that comes back has a new one.
        self._points.pop(node).lost_s = now_s

    def grant(self, node: str, user: str, client: str, devices: int, now_s: float) -> None:
        """Notes that the linked access point `node` says: `client` of `user` is there, on `devices`.

        This takes the place of what it said of that client before. A kind of device that it does not name any more has gone.
        """
        if user not in self._users and len(self._users) >= self._max_users:
            self.refused += 1
            return
        living = self._living(user, now_s)
        for lease in [each for each in living if (each.client, each.point.node) == (client, node)]:
            lease.ends_s = min(lease.ends_s, now_s + self._grace_s)
            # The new lease covers the old one, unless a kind of device is gone: that one stays online for the grace.
            if not lease.devices & ~devices:
                living.remove(lease)
        if len(living) >= MAX_CLIENTS:
            living.remove(min(living, key=lambda lease: self._end_s(user, lease)))
        self._users[user] = (*living, _Lease(client, devices, self._points[node]))

    def release(self, node: str, user: str, client: str, now_s: float) -> None:
        """Notes that the linked access point `node` says: `client` of `user` has gone. An unknown client does no harm."""
        for lease in self._users.get(user, ()):
            if lease.client == client and lease.point is self._points[node]:
                lease.ends_s = min(lease.ends_s, now_s + self._grace_s)

    def whereabouts(self, users: Sequence[str], now_s: float) -> bytes:
        """Returns one byte for each user: the devices that the user is online on, 0 for offline."""
        answer, known = bytearray(len(users)), self._users
        for index, user in enumerate(users):
            for lease in known.get(user, ()):
                if now_s < self._end_s(user, lease):
                    answer[index] |= lease.devices
        return bytes(answer)

    def tick(self, now_s: float, period_s: float) -> None:
        """Forgets what has ended, looking at a share of all users. It is to be called every `period_s`."""
        share = ceil(len(self._users) * period_s / SWEEP_S)
        users = list(islice(self._sweep, share))
        for user in users:
            self._forget_ended(user, now_s)
        if len(users) < share:
            # A list, as the users change while they are swept.
            self._sweep = iter(list(self._users))

    def _forget_ended(self, user: str, now_s: float) -> None:
        living = self._living(user, now_s)
        if not living:
            self._users.pop(user, None)
        elif len(living) < len(self._users[user]):
            self._users[user] = tuple(living)

    def _living(self, user: str, now_s: float) -> list[_Lease]:
        return [lease for lease in self._users.get(user, ()) if now_s < self._end_s(user, lease)]

    def _end_s(self, user: str, lease: _Lease) -> float:
        lost_s = lease.point.lost_s
        if lost_s == inf:
            return lease.ends_s
        # The share of a user must be the same whenever it is asked for, so it comes from the name and not from chance.
        return min(lease.ends_s, lost_s + self._grace_s + self._jitter_s * crc32(user.encode()) / (1 << 32))

"""Held presence: what waits for a link to another site that gets more than it takes. Pure.

Of each topic only the newest event waits, and it says how many it replaced (DPS-21). All of them are of this site, since no other events
cross a site link. A newer one takes the place of the older, so what waits goes in the order in which its topics came: a topic that speaks
all the time waits no longer than others, and keeps nobody waiting (DPS-22). What waits is bounded in bytes. Who finds no room is shed, and
counted; those that wait already get their turn.

Only presence may be held: nobody misses an older one once the newest is there. Everything else passes by (see `SiteOutlet`).
"""

from typing import Final

from infra.kernel.events import skipped_in, with_skipped

# What an event that waits takes besides its body, about.
EVENT_BYTES: Final = 250


class _Held:
    """The newest event of a topic. `skipped`: how many it has replaced here."""

    __slots__ = ("body", "skipped")

    def __init__(self, body: bytes) -> None:
        self.body, self.skipped = body, 0


class HeldPresence:
    """The events that wait for one link, by the handles of their topics; they take at most `max_bytes`.

    - `conflated`: how many events were replaced by newer ones. `shed`: how many were dropped for want of room.
    - `bytes`: what they take, about.
    """

    def __init__(self, max_bytes: int) -> None:
        self.conflated = self.shed = self.bytes = 0
        self._max_bytes = max_bytes
        self._waiting: dict[int, _Held] = {}  # dicts keep the order of insertion

    def __len__(self) -> int:
        """Returns how many events wait."""
        return len(self._waiting)

    def hold(self, handle: int, body: bytes) -> None:
        """Has an event of the topic `handle` wait, instead of the one that does already. Without room it is shed."""
        held = self._waiting.get(handle)
        if held is not None:
            held.skipped += 1 + skipped_in(held.body)
            self.bytes += len(body) - len(held.body)
            held.body = body
            self.conflated += 1
        elif self.bytes + len(body) + EVENT_BYTES > self._max_bytes:
            self.shed += 1
        else:
            self._waiting[handle] = _Held(body)
            self.bytes += len(body) + EVENT_BYTES

    def take(self) -> tuple[int, bytes]:
        """Takes the event out that is the next to go; returns handle and body. There must be one."""
        handle = next(iter(self._waiting))
        held = self._waiting.pop(handle)
        self.bytes -= len(held.body) + EVENT_BYTES
        return handle, with_skipped(held.body, held.skipped) if held.skipped else held.body

    def forget(self, handle: int) -> None:
        """Drops what waits for the topic `handle`: nobody wants it any more."""
        held = self._waiting.pop(handle, None)
        if held is not None:
            self.bytes -= len(held.body) + EVENT_BYTES

    def close(self) -> None:
        """Drops everything: the link is gone. What waited is shed."""
        self.shed += len(self._waiting)
        self._waiting, self.bytes = {}, 0

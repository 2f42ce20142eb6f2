"""Outlets: the connections on which a generator publishes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol


class PublisherOutlet(Protocol):
    """A connection that can take publications now."""

    def send(self, topics: Sequence[int], payloads: Sequence[bytes]) -> None:
        """Publishes `payloads`, one on each of `topics` (places in the envelopes). The outlet is back in `free` when it can take more."""


class Outlets:
    """The outlets that are free to take publications, and the number of publications that were refused.

    - `envelopes`: by topic, what stands before and after a payload.
    - `wake`: is called when an outlet becomes free.
    """

    def __init__(self, envelopes: Sequence[tuple[bytes, bytes]], wake: Callable[[], None]) -> None:
        self.envelopes = envelopes
        self.free: deque[PublisherOutlet] = deque()
        self.refused = 0
        self.why = ""
        self._wake = wake

    def events(self, topics: Sequence[int], payloads: Sequence[bytes]) -> list[bytes]:
        """Returns each publication in the server's form."""
        envelopes = self.envelopes
        found = []
        for topic, payload in zip(topics, payloads, strict=True):
            before, after = envelopes[topic]
            found.append(before + payload + after)
        return found

    def freed(self, outlet: PublisherOutlet) -> None:
        """Notes that `outlet` can take more."""
        self.free.append(outlet)
        self._wake()

    def refuse(self, number: int, why: str) -> None:
        """Notes that `number` publications were not accepted, and why."""
        self.refused += number
        self.why = self.why or why


async def dial(make: Callable[[], asyncio.Protocol], address: str, number: int) -> None:
    """Opens `number` connections to `address` with protocols that `make` makes. Raises OSError."""
    host, _, port = address.rpartition(":")
    for _ in range(number):
        await asyncio.get_running_loop().create_connection(make, host, int(port))

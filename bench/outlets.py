"""Outlets: the connections on which a generator publishes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol


class PublisherOutlet(Protocol):
    """One connection that can take publications now."""

    def send(self, topics: Sequence[int], payloads: Sequence[bytes]) -> None:
        """Publishes. `topics` index the envelopes. The outlet comes back to `free` when it can take more."""


class Outlets:
    """Those that are free to take publications, and how many publications were refused. `wake`: somebody became free."""

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
        """`outlet` can take more."""
        self.free.append(outlet)
        self._wake()

    def refuse(self, number: int, why: str) -> None:
        """Notes that so many publications were not accepted."""
        self.refused += number
        self.why = self.why or why


async def dial(make: Callable[[], asyncio.Protocol], address: str, number: int) -> None:
    """Opens `number` connections to `address`, each with a protocol that `make` gives. Raises OSError."""
    host, _, port = address.rpartition(":")
    for _ in range(number):
        await asyncio.get_running_loop().create_connection(make, host, int(port))

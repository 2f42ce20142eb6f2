"""Fan-out: one event to each link that wants its topic, once, under the handle that this link chose."""

from collections.abc import Sequence
from typing import Final, Protocol

from .interest import Interest

# As a rule many topics share few sets of links. Where they do not, lists are made again rather than kept for each set.
MAX_TARGETS: Final = 4096


class Receiver(Protocol):
    """A subscribing link, as pure code sees it."""

    def deliver(self, handle: int, body: bytes) -> None:
        """Queues `body` for the peer's topic `handle`. It never blocks."""


class Fanout:
    """Interest together with the links it speaks of. `by_cell`: see `Interest`."""

    def __init__(self, *, by_cell: bool = False) -> None:
        self.interest = Interest(by_cell=by_cell)
        self.deliveries = 0
        self._receivers: dict[int, Receiver] = {}
        self._targets: dict[int, list[tuple[Receiver, Sequence[int]]]] = {}

    def open(self, receiver: Receiver) -> int:
        """Adds a subscribing link and returns its number. Raises `Refused("overloaded")` when there are too many."""
        bit = self.interest.open()
        self._receivers[bit] = receiver
        self._targets.clear()  # the number may have been another link's, and the lists would miss this one
        return bit

    def receiver(self, bit: int) -> Receiver:
        """Returns the subscribing link `bit`."""
        return self._receivers[bit]

    def forget(self, bit: int) -> None:
        """Gives nothing more to a link that is gone, also where its interest has not been withdrawn yet."""
        del self._receivers[bit]
        self._targets.clear()

    def send(self, row: int, mask: int, body: bytes) -> None:
        """Gives `body` to every link of `mask`, all of which want `row`."""
        # One look-up for all links: the list holds their arrays of handles themselves, so a new handle needs no new list.
        targets = self._targets.get(mask)
        if targets is None:
            targets = self._resolve(mask)
        for receiver, handles in targets:
            receiver.deliver(handles[row], body)
        self.deliveries += len(targets)

    def _resolve(self, mask: int) -> list[tuple[Receiver, Sequence[int]]]:
        if len(self._targets) >= MAX_TARGETS:
            self._targets.clear()
        targets: list[tuple[Receiver, Sequence[int]]] = [
            (receiver, self.interest.handles(bit)) for bit, receiver in self._receivers.items() if mask & 1 << bit
        ]
        self._targets[mask] = targets
        return targets

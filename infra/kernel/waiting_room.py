"""The room for strangers: how many may be at a listener who have not said yet, or not proved, who they are."""

from collections import Counter


class WaitingRoom:
    """Room for so many strangers, all together and of one address. Those whose address is "" are in this process, and are not counted."""

    __slots__ = ("_by_address", "_inside", "_most", "_most_of_address")

    def __init__(self, most: int, most_of_address: int) -> None:
        self._most, self._most_of_address = most, most_of_address
        self._by_address: Counter[str] = Counter()
        self._inside = 0

    def __len__(self) -> int:
        return self._inside

    def enter(self, address: str) -> bool:
        """Lets in one more from `address`, and returns whether there was room."""
        if not address:
            return True
        if self._inside >= self._most or self._by_address[address] >= self._most_of_address:
            return False
        self._inside += 1
        self._by_address[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Notes that one from `address`, who was let in, waits no more."""
        if not address:
            return
        self._inside -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

"""The places at a door: how many connections there may be in all, and how many of one address. Pure."""

from collections import Counter

from .errors import Refused


class Places:
    """The places at one door. Whoever takes all that one address may have takes nobody else's.

    - `size`: how many there are.
    - `per_address`: how many of them one address may have.
    """

    __slots__ = ("_of_address", "_per_address", "_size", "refused", "taken")

    def __init__(self, size: int, per_address: int) -> None:
        self._size, self._per_address = size, per_address
        self._of_address: Counter[str] = Counter()
        self.taken = 0
        self.refused = {"door": 0, "address": 0}

    def take(self, address: str) -> None:
        """Gives a place to a connection from `address`, as `network_of` writes it. Raises `Refused("overloaded")` if there is none."""
        if self._of_address.get(address, 0) >= self._per_address:
            self.refused["address"] += 1
            raise Refused("overloaded", f"{self._per_address} connections of {address} are open, and no address may have more; close one")
        if self.taken >= self._size:
            self.refused["door"] += 1
            raise Refused("overloaded", f"{self._size} connections are open, and there is no room for more; try again later")
        self._of_address[address] += 1
        self.taken += 1

    def give_back(self, address: str) -> None:
        """Takes the place back that a connection from `address` has had."""
        self.taken -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]  # so that no address is remembered for longer than its connections

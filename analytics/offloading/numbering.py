"""Numbers for names: small integers that arrays can hold."""

from collections.abc import Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Name = TypeVar("Name", bound=Hashable)


class Numbering(Generic[Name]):
    """A numbering from 0, in the order in which names came; at most `most` have a number."""

    def __init__(self, most: int) -> None:
        self.names: list[Name] = []
        self._most = most
        self._numbers: dict[Name, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: Name) -> int | None:
        """Returns the number of `name`, a new one if it has none; None if there are too many names."""
        number = self._numbers.get(name)
        if number is None and len(self.names) < self._most:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number

    def known(self, name: Name) -> int | None:
        """Returns the number of `name` if it has one."""
        return self._numbers.get(name)

    def keep(self, used: NDArray[np.int64]) -> None:
        """Forgets all but the `used` numbers (rising). The name of `used[i]` has the number i from now on."""
        self.names = [self.names[number] for number in used.tolist()]
        self._numbers = {name: number for number, name in enumerate(self.names)}

"""Backoff: how long to wait before trying again. It grows exponentially, with full jitter.

Full jitter is a uniform draw from zero to the grown limit. It spreads the clients of a node that died over the whole interval. A little
noise on a fixed delay would bring them all back at nearly the same moment.
"""

from dataclasses import dataclass
from typing import Protocol


class Rng(Protocol):
    """A random generator; `random.Random` is one."""

    def random(self) -> float:
        """Returns a float in [0, 1)."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow from `base_s` by doubling and stop growing at `cap_s`. Raises ValueError unless 0 < base_s <= cap_s."""

    base_s: float = 0.5
    cap_s: float = 30.0

    def __post_init__(self) -> None:
        if not 0 < self.base_s <= self.cap_s:
            raise ValueError(f"backoff needs 0 < base_s <= cap_s, got base_s={self.base_s} and cap_s={self.cap_s}")

    def limit_s(self, attempt: int) -> float:
        """Returns the longest delay before try number `attempt`; 0 is the first retry."""
        try:
            return min(self.cap_s, self.base_s * 2.0**attempt)
        except OverflowError:  # a peer that has been away for months
            return self.cap_s

    def delay_s(self, attempt: int, rng: Rng) -> float:
        """Returns a delay drawn evenly from [0, limit_s(attempt))."""
        return rng.random() * self.limit_s(attempt)

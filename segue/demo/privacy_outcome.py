"""The outcome of the privacy act: what was heard that must not be, if anything, and what else is wrong. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyOutcome:
    """The outcome of the privacy act.

    - `events`: plays of those who changed something, and of one who did not.
    - `expected`, `delivered`, `duplicated`: deliveries to those who may still hear them.
    - `withheld`: deliveries that there would have been before, to friends who may not hear them any more.
    - `overheard`: arrivals at users who must not hear them.
    - `ended`, `told`: subscriptions that end, and how many of their users were told so.
    - `ended_ms`: from the first change until the last of them was told.
    - `attempts`, `refused`: tries to follow somebody in spite of it, and how many of them were refused.
    """

    events: int
    expected: int
    delivered: int
    duplicated: int
    withheld: int
    overheard: int
    ended: int
    told: int
    ended_ms: float
    attempts: int
    refused: int

    @property
    def is_good(self) -> bool:
        """Whether there is no problem."""
        return not any(self.problems())

    def problems(self) -> Iterator[str]:
        """Yields what must not be, one sentence each."""
        if self.overheard:
            yield f"{self.overheard:,} events came to users who must not hear them."
        if self.delivered != self.expected:
            yield f"{self.expected - self.delivered:,} deliveries to friends who may hear them were lost."
        if self.duplicated:
            yield f"{self.duplicated:,} deliveries to friends who may hear them came twice."
        if self.told != self.ended:
            yield f"{self.ended - self.told:,} users were not told that they may not hear a friend any more."
        if self.refused != self.attempts:
            yield f"{self.attempts - self.refused:,} users could follow somebody whom they must not hear."

    def document(self) -> dict[str, Any]:
        """Returns the JSON of it."""
        return asdict(self) | {"ended_ms": round(self.ended_ms, 3)}

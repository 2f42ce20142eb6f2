"""Prediction and measurement side by side, and whether they agree. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

# Sums of fractions are equal if they differ by less.
TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class OffloadOutcome:
    """The outcome of a run. A value counts satisfied users (b3m) or adds up their fractions (fb3m); a cost counts deliveries.

    - `users`, `topics`, `metric`, `threshold`, `demand`, `capacity`: what was asked.
    - `served`, `offloaded`: how many topics stayed, and how many left real time.
    - `run_ms`: how long the decision took.
    - `bound`: no choice has a greater value.
    - `predicted_value`, `predicted_cost`, `measured_value`, `measured_cost`: what was predicted and what was counted.
    - `cuckoo_value`, `cuckoo_cost`: the same for what the Cuckoo rule would choose in this capacity.
    - `duplicated`, `strayed`, `untold`, `refused`: what went wrong.
    """

    users: int
    topics: int
    metric: Literal["b3m", "fb3m"]
    threshold: int
    demand: int
    capacity: int
    served: int
    offloaded: int
    run_ms: int
    bound: float
    predicted_value: float
    predicted_cost: int
    measured_value: float
    measured_cost: int
    cuckoo_value: float
    cuckoo_cost: int
    duplicated: int
    strayed: int
    untold: int
    refused: int

    @property
    def is_good(self) -> bool:
        """Whether there is no problem."""
        return not any(self.problems())

    def verdicts(self) -> Iterator[str]:
        """Yields what holds, and its value."""
        if self.is_good:
            yield "What was measured is what was predicted, and within the capacity."
            if self.predicted_value > self.cuckoo_value:
                more = self.predicted_value / max(1.0, self.cuckoo_value) - 1
                yield f"{100 * more:.0f} % more satisfaction than by the Cuckoo rule, in the same capacity."

    def problems(self) -> Iterator[str]:
        """Yields what is not as it was predicted."""
        if self.measured_cost != self.predicted_cost:
            yield f"{self.measured_cost:,} deliveries were made, and {self.predicted_cost:,} were predicted."
        if self.measured_cost > self.capacity:
            yield f"{self.measured_cost:,} deliveries are more than the capacity of {self.capacity:,}."
        if abs(self.measured_value - self.predicted_value) > TOLERANCE:
            yield f"The satisfaction that was counted is {self.measured_value:,.10g}, and {self.predicted_value:,.10g} was predicted."
        if self.strayed:
            yield f"Events of {self.strayed} topics arrived that were out of real time."
        if self.untold:
            yield f"{self.untold} users were not told which of their topics are out, or told wrongly."
        if self.duplicated:
            yield f"{self.duplicated} events came twice."
        if self.refused:
            yield f"{self.refused} events were refused, so the periods were not alike."

    def document(self) -> dict[str, Any]:
        """Returns the JSON of `--json`."""
        return asdict(self) | {"is_good": self.is_good, "problems": list(self.problems())}

"""The plan of the decision service: what it decides, and how often; its table `[decision.plan]`."""

import math
from typing import Final, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.frames import MOST_NUMBER

# Users and topics are numbered, and a pair of numbers is kept in 64 bits.
MOST: Final = (1 << 31) - 1
# Searches add up several thresholds in 64 bits.
MOST_THRESHOLD: Final = 1 << 60


class PlanOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a plan.

    - `capacity`: in deliveries in a period, of user and playlist topics to all their followers, with those at a reduced rate. None
      is no limit: nothing is offloaded then.
    - `threshold`: the number of events in a period that satisfies a subscriber.
    - `solver`: "fresh" chooses anew each time. "online" goes on from the last choice, and moves fewer topics where rates are noisy.
    - `weight`: the weight of the last period in the forecast of a topic's events; the forecast before has the rest.
    """

    capacity: int | None = None
    threshold: int = 100
    metric: Literal["b3m", "fb3m"] = "b3m"
    solver: Literal["online", "fresh"] = "fresh"
    period_s: float = 3600.0
    survey_s: float = 10.0
    weight: float = 0.5
    # What leaves real time is served on for that long, and after it one event of each topic in `every_ms`; 0 is none.
    overlap_ms: int = 5_000
    every_ms: int = 0

    def check(self) -> None:
        """Raises ConfigError when a value cannot be meant."""
        if self.capacity is not None and not 0 <= self.capacity <= MOST_NUMBER:
            raise ConfigError(f"decision.plan.capacity must be from 0 to {MOST_NUMBER} deliveries; leave it out for no limit")
        if not 1 <= self.threshold <= MOST_THRESHOLD:
            raise ConfigError(f"decision.plan.threshold must be from 1 to {MOST_THRESHOLD} events; with none nobody would need anything")
        if not math.isfinite(self.period_s):
            raise ConfigError("decision.plan.period_s must be finite")
        if not 0 < self.survey_s < self.period_s:
            raise ConfigError("decision.plan.survey_s must be over 0 and under period_s, or one round runs into the next")
        if not 0 < self.weight <= 1:
            raise ConfigError("decision.plan.weight must be over 0 and 1 at most")
        if not 0 <= self.overlap_ms <= min(self.period_s * 1000, MOST_NUMBER):
            raise ConfigError(f"decision.plan.overlap_ms must be from 0 to a whole period, and {MOST_NUMBER} at most")
        if not 0 <= self.every_ms <= MOST_NUMBER:
            raise ConfigError(f"decision.plan.every_ms must be from 0 to {MOST_NUMBER}")

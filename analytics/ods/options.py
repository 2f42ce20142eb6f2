"""Options of the decision service. Every default is here; units are in the names."""

import math
from typing import Final, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.frames import MOST_NUMBER
from infra.runtime.node import LinkTiming
from infra.runtime.option_checks import check_numbers

# Users and topics are numbered, and a pair of numbers is kept in 64 bits.
MOST: Final = (1 << 31) - 1
# Searches add up several thresholds in 64 bits.
MOST_THRESHOLD: Final = 1 << 60


class PlanOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is decided, and how often.

    `capacity` is in deliveries in a period, of user and playlist topics to all their followers, with those at a reduced rate; None is
    no limit, and nothing is offloaded then. `threshold` is the number of events in a period that satisfies a subscriber. `weight` is
    that of the last period in the forecast of a topic's events; the rest is the forecast before. `solver`: "fresh" chooses anew each
    time, "online" goes on from the last choice, which moves fewer topics where rates are noisy.
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
            raise ConfigError(f"ods.plan.capacity must be from 0 to {MOST_NUMBER} deliveries; leave it out for no limit")
        if not 1 <= self.threshold <= MOST_THRESHOLD:
            raise ConfigError(f"ods.plan.threshold must be from 1 to {MOST_THRESHOLD} events; with none nobody would need anything")
        if not math.isfinite(self.period_s):
            raise ConfigError("ods.plan.period_s must be finite")
        if not 0 < self.survey_s < self.period_s:
            raise ConfigError("ods.plan.survey_s must be over 0 and under period_s, or one round runs into the next")
        if not 0 < self.weight <= 1:
            raise ConfigError("ods.plan.weight must be over 0 and 1 at most")
        if not 0 <= self.overlap_ms <= min(self.period_s * 1000, MOST_NUMBER):
            raise ConfigError(f"ods.plan.overlap_ms must be from 0 to a whole period, and {MOST_NUMBER} at most")
        if not 0 <= self.every_ms <= MOST_NUMBER:
            raise ConfigError(f"ods.plan.every_ms must be from 0 to {MOST_NUMBER}")


class OdsOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One decision service for all sites. `sites` names every broker there is, as in the brokers' files; access points of any site
    link to `listen`."""

    site: str
    node: str
    sites: dict[str, dict[str, str]]
    plan: PlanOptions = PlanOptions()
    listen: str = "127.0.0.1:7826"
    admin: str = "127.0.0.1:7798"
    link: LinkTiming = LinkTiming()
    # Whoever follows beyond these is not planned for, and counted; topics that are not known are served.
    max_pairs: int = 20_000_000
    max_topics: int = 2_000_000
    # How long what an access point has told counts when its link is gone.
    keep_s: float = 60.0

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not any(self.sites.values()):
            raise ConfigError('ods.sites is empty; name each broker of each site, such as [ods.sites.sto] b1 = "127.0.0.1:7811"')
        if not (0 < self.max_pairs <= MOST and 0 < self.max_topics <= MOST):
            raise ConfigError(f"ods.max_pairs and max_topics must be from 1 to {MOST}")
        check_numbers("ods", self, ("keep_s",))
        self.link.check_in("ods")

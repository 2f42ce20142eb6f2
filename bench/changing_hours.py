"""A workload that changes by the hour, as the source describes it (thesis 5.1.2; spec A4). The online variant is judged on it (WA-46)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analytics.generator.clock import STEP_MS, clock
from analytics.generator.profile import Profile, rng
from analytics.generator.services import SubscriptionPairs
from analytics.generator.sessions import Stays, stays
from analytics.planning.instance import Instance, Ints, instance

HOUR_MS: Final = 3_600_000
# Share of all follows that begin or end in a day. Not published; that the total hardly changes is.
_CHANGED_A_DAY: Final = 0.02


@dataclass(frozen=True, slots=True)
class Follow:
    """The pairs of a profile's period and its events.

    - `profile`: the profile.
    - `subscriber`, `topic`: one entry a pair, by rising subscriber.
    - `events`: by topic, the number of its events in the period.
    """

    profile: Profile
    subscriber: Ints
    topic: Ints
    events: Ints


def hours(follow: Follow, count: int = 24, first: int = 0) -> Iterator[Instance]:
    """Yields the workload of `count` hours of the period of `follow`, from hour number `first` on. The same profile gives the same hours.

    An hour has the subscribers who are connected at any time in it, and what they then follow. The number of a topic's events is
    drawn from a Poisson distribution about its share of the day's course. Topics keep their numbers. New follows begin, and old ones
    end, at some hour of the day.
    """
    profile = follow.profile
    shares = _shares(profile)
    begins, ends = _lives(len(follow.topic), profile.days * 24, rng(profile.seed, "hours", "follows"))
    pairs = SubscriptionPairs(follow.subscriber, np.zeros(len(follow.topic), np.int8), follow.topic)
    connected = stays(profile, pairs, rng(profile.seed, "hours"))
    for hour in range(first, first + count):
        live = _online(profile, connected, hour) & (begins <= hour) & (hour < ends)
        events = rng(profile.seed, "hours", hour).poisson(follow.events * shares[hour])
        yield instance(follow.subscriber[live], follow.topic[live], events)


def _shares(profile: Profile) -> NDArray[np.float64]:
    """Returns the part of all events that each hour of the period has."""
    # Weights stand at the ends of steps; a step has the mean of its two ends.
    weights = clock(profile, "presence").weights
    steps = (weights[:-1] + weights[1:]) / 2
    shares: NDArray[np.float64] = steps.reshape(-1, HOUR_MS // STEP_MS).sum(axis=1) / steps.sum()
    return shares


def _lives(count: int, period: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Returns the first hour of each of `count` follows, and the first hour without it. As many begin as end in the `period` (hours)."""
    begins, ends = np.zeros(count, np.int64), np.full(count, period)
    # One draw decides both: below `rate` a follow is new, in the next `rate` it is one that ends, so none is both.
    changes = random.random(count)
    rate = _CHANGED_A_DAY * period / 24 / 2
    hour = random.integers(1, period, count)
    new, old = changes < rate, (rate <= changes) & (changes < 2 * rate)
    begins[new], ends[old] = hour[new], hour[old]
    return begins, ends


def _online(profile: Profile, connected: Stays, hour: int) -> NDArray[np.bool_]:
    """Returns for each pair whether its subscriber is connected at any time of the hour."""
    start_ms = profile.start_ms + hour * HOUR_MS
    there = (connected.begin_ms < start_ms + HOUR_MS) & (connected.end_ms > start_ms)
    users = np.zeros(len(connected.first), np.bool_)
    users[connected.row[there]] = True
    return np.repeat(users, connected.size)

"""The services beside presence: what is followed there, and how much each publishes.

Of their volumes the thesis gives the order only (5.1.2: presence has most subscriptions and by far most publications, playlist is second,
social and artist together are far below), so `VOLUMES` is ours. Presence itself is left as it is: its figures are the published ones.

- A playlist is followed through its owner (SB-6). Every publisher owns PLAYLISTS of them, numbered PLAYLISTS * owner and on. A follower
  of the owner follows each of them with the same probability. So playlists inherit the power law of popularity, and most of their
  followers are of the owner's site.
- Social follows some of the same friends, under the same numbers.
- Artists are chosen by Zipf's law. One job publishes for all of them, at the first site.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import SERVICES, Service

from .columns import site_column, words
from .profile import Profile, site_of

PLAYLISTS: Final = 2


class Volume(NamedTuple):
    """The volume of a service as a multiple of that of presence: `topics`, `pairs` and `events`."""

    topics: float
    pairs: float
    events: float


VOLUMES: Final[dict[Service, Volume]] = {
    "playlist": Volume(PLAYLISTS, 0.4, 0.1),
    "artist": Volume(0.2, 0.2, 0.003),
    "social": Volume(1, 0.1, 0.001),
}
# Wide: some playlists grow all day, and most are left alone.
_SIGMA: Final = 1.5


@dataclass(frozen=True, slots=True)
class SubscriptionPairs:
    """Subscribers and what they follow, in order of `subscriber`. `service`: index in SERVICES."""

    subscriber: NDArray[np.int64]
    service: NDArray[np.int8]
    topic: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counts:
    """Topics of one service. `events`: of each in the whole period. `site`: the index in `profile.sites` of where it is published."""

    topic: NDArray[np.int64]
    events: NDArray[np.int64]
    site: NDArray[np.uint8]


def others(profile: Profile) -> tuple[Service, ...]:
    """Returns the services beside presence; Twitter has none."""
    return tuple(VOLUMES) if profile.name == "spotify" else ()


def with_others(profile: Profile, subscriber: NDArray[np.int64], topic: NDArray[np.int64], rng: np.random.Generator) -> SubscriptionPairs:
    """Adds what the same subscribers follow in the other services to pairs of presence.

    `subscriber` (rising) and `topic` are those pairs. `rng`: the stream for what is added, as `profile` says.
    """
    found = {"presence": (subscriber, topic)}
    for service in others(profile):
        found[service] = _FOLLOWED[service](profile, subscriber, topic, rng)
    who, what = (np.concatenate(columns) for columns in zip(*found.values(), strict=True))
    where = np.repeat(np.array([SERVICES.index(name) for name in found], np.int8), [len(each) for each, _ in found.values()])
    order = np.argsort(who, kind="stable")
    return SubscriptionPairs(who[order], where[order], what[order])


def subscriptions(profile: Profile, follows: SubscriptionPairs) -> dict[str, Any]:
    """Returns the columns of the table `subscriptions`."""
    return {
        "subscriber": follows.subscriber,
        "service": words(follows.service, SERVICES),
        "topic": follows.topic,
        **site_column(profile, site_of(profile, follows.subscriber)),
    }


def counts(profile: Profile, service: Service, rng: np.random.Generator) -> Counts:
    """Returns the topics of a service other than presence, with their events.

    Events are lognormal and independent of popularity, with a total as in VOLUMES. `profile`, `service`: which topics. `rng`: their stream.
    """
    volume = VOLUMES[service]
    topic = np.arange(round(profile.topics * volume.topics), dtype=np.int64)
    weight = rng.lognormal(sigma=_SIGMA, size=len(topic))
    events = rng.poisson(weight * (profile.topics * profile.mean_events * volume.events / weight.sum()))
    return Counts(topic, events.astype(np.int64), _published_at(profile, service, topic))


def _published_at(profile: Profile, service: Service, topic: NDArray[np.int64]) -> NDArray[np.uint8]:
    if service == "artist":
        return np.zeros(len(topic), np.uint8)
    return site_of(profile, topic // PLAYLISTS if service == "playlist" else topic)


_Followed = tuple[NDArray[np.int64], NDArray[np.int64]]


def _playlists(_: Profile, subscriber: NDArray[np.int64], topic: NDArray[np.int64], rng: np.random.Generator) -> _Followed:
    taken, which = np.nonzero(rng.random((len(topic), PLAYLISTS)) < VOLUMES["playlist"].pairs / PLAYLISTS)
    return subscriber[taken], topic[taken] * PLAYLISTS + which


def _friends(_: Profile, subscriber: NDArray[np.int64], topic: NDArray[np.int64], rng: np.random.Generator) -> _Followed:
    taken = rng.random(len(topic)) < VOLUMES["social"].pairs
    return subscriber[taken], topic[taken]


def _artists(profile: Profile, subscriber: NDArray[np.int64], _: NDArray[np.int64], rng: np.random.Generator) -> _Followed:
    users, volume = np.unique(subscriber), VOLUMES["artist"]
    mean = volume.pairs * len(subscriber) / max(1, len(users))
    who = np.repeat(users, rng.geometric(1 / (1 + mean), len(users)) - 1)
    # Numbers spread evenly on a logarithmic axis: P(rank) is about 1/rank.
    artists = round(profile.topics * volume.topics)
    rank = np.exp(rng.random(len(who)) * np.log(artists + 1)).astype(np.int64) - 1
    # An artist who was drawn twice for a user is followed once. Sorted keys are also in order of users.
    once = np.unique(who * artists + np.clip(rank, 0, artists - 1))
    return once // artists, once % artists


_FOLLOWED: Final = {"playlist": _playlists, "social": _friends, "artist": _artists}

"""A profile: the published sizes of a workload, times a scale; and the random streams of a seed."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import TraceError

Name = Literal["spotify", "twitter"]
DAY_MS: Final = 86_400_000
# Below this the laws have no room for their tails.
_MIN_TOPICS: Final = 100


@dataclass(frozen=True, slots=True)
class Profile:
    """One workload at one scale. `topics`, `subscribers` and `pairs` are scaled already.

    Users have numbers: the publishers, who are the topics, are 0 to topics - 1. All subscribers are 0 to subscribers - 1.

    - `mean_events`: events of a topic in the period.
    - `sites`, with their `site_shares` of the users; both are empty where a source knows no sites.
    - `start_ms`: the beginning of the period, which is midnight in `time_zone`. `days`: its length.
    """

    name: Name
    scale: float
    seed: int
    topics: int
    subscribers: int
    pairs: int
    mean_events: float
    sites: tuple[str, ...]
    site_shares: tuple[float, ...]
    start_ms: int
    time_zone: str
    days: int = 10

    @property
    def end_ms(self) -> int:
        """The first moment after the period, in Unix milliseconds."""
        return self.start_ms + self.days * DAY_MS


@dataclass(frozen=True, slots=True)
class Sequences:
    """The three sequences that a trace must hold.

    - `popularity`: how many subscribers each topic has; may be 0.
    - `size`: how many topics each subscriber has; at least 1. Its sum is that of `popularity`.
    - `events`: how many events each topic has; at least 1.
    """

    popularity: NDArray[np.int32]
    size: NDArray[np.int32]
    events: NDArray[np.int64]


class _Published(NamedTuple):
    """The published sizes (thesis 5.1.1, 5.2, 6.5.1 and 7.3.2; WA-15).

    The shares of the sites are ours: 5.1.2 says only that one site dominates.
    """

    topics: int
    subscribers: int
    pairs: int
    mean_events: float
    site_shares: dict[str, float]
    start_ms: int
    time_zone: str


_PUBLISHED: Final[dict[Name, _Published]] = {
    # Thu 10 Jan 2013, midnight in Stockholm
    "spotify": _Published(
        1_100_000, 4_900_000, 12_000_000, 2763, {"sto": 0.80, "lon": 0.12, "ash": 0.08}, 1_357_772_400_000, "Europe/Stockholm"
    ),
    # Wed 30 Oct 2013, midnight UTC; 455 M tweets
    "twitter": _Published(8_000_000, 30_000_000, 683_500_000, 455e6 / 8e6, {}, 1_383_091_200_000, "UTC"),
}


def profile(name: Name, scale: float, seed: int) -> Profile:
    """Returns the profile `name` at `scale` (1: as published), with the random streams of `seed`.

    Raises TraceError if `scale` or `seed` cannot be.
    """
    whole = _PUBLISHED[name]
    least = _MIN_TOPICS / whole.topics
    if not least <= scale <= 1:
        raise TraceError(f"scale {scale:g}: must be from {least:.1g} to 1, which is the size that was published; say 0.01 or 1/100")
    if seed < 0:
        raise TraceError(f"seed {seed}: must be 0 or more")
    return Profile(
        name=name,
        scale=scale,
        seed=seed,
        topics=round(whole.topics * scale),
        subscribers=round(whole.subscribers * scale),
        pairs=round(whole.pairs * scale),
        mean_events=whole.mean_events,
        sites=tuple(whole.site_shares),
        site_shares=tuple(whole.site_shares.values()),
        start_ms=whole.start_ms,
        time_zone=whole.time_zone,
    )


def rng(seed: int, *path: str | int) -> np.random.Generator:
    """Returns the random stream of `path`, such as ("pairs", chunk). It is independent of all others and of how many processes draw."""
    words = [int.from_bytes(blake2b(repr(step).encode(), digest_size=8).digest()) for step in path]
    return np.random.default_rng([seed, *words])


def site_of(profile: Profile, users: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Returns the index in `profile.sites` of each user's home; 0 where there are no sites.

    Publishers of one site have consecutive numbers, and so have the other users.
    """
    return (np.searchsorted(site_bounds(profile), users, side="right") % max(1, len(profile.sites))).astype(np.uint8)


def site_bounds(profile: Profile) -> NDArray[np.int64]:
    """Returns the first user of each run of one site, without the 0 of the first run: publishers by site, then the others by site."""
    shares = np.cumsum(profile.site_shares or (1.0,))
    others = profile.subscribers - profile.topics
    runs = np.concatenate([shares * profile.topics, profile.topics + shares * others])
    bounds: NDArray[np.int64] = np.rint(runs[:-1]).astype(np.int64)
    return bounds

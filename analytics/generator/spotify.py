"""The Spotify profile: its degree and rate sequences (thesis 5.1.1, 6.5; spec section B)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .laws import lognormal, power_law, soft_knee
from .profile import Profile, Sequences, rng

# The most popular topic reaches a tenth of the subscribers; with less the log-log CCDF would bend long before its end (WA-5).
_POPULARITY_CUT: Final = 10
# Greatest NNR of 0.1-1 % (WA-7): 5000 topics of mean rate are 0.45 % of all events of 1.1 M topics.
_SIZE_CUT: Final = 5000
# At small scales nobody holds more than an eighth of all topics.
_SIZE_CUT_SHARE: Final = 8
# Users whom many follow also follow many: a Gaussian copula of popularity and size of the publishers.
_COUPLING: Final = 0.9

# Pilot of the spec, section B: other values miss the satisfaction curves (WA-16).
_SIGMA: Final = 1.8
# 0.0005 % of all events: about a track a minute round the clock, the limit of human listening.
_KNEE_EVENTS: Final = 15_000.0
_KNEE_POWER: Final = 0.25


def sequences(profile: Profile) -> Sequences:
    """Draws both degree laws and the rates of `profile`, in random order. Rates are independent of popularity (WA-9)."""
    random = rng(profile.seed, "degrees")
    popularity = power_law(profile.topics, profile.pairs, profile.subscribers // _POPULARITY_CUT)
    size = power_law(profile.subscribers, profile.pairs, min(_SIZE_CUT, profile.topics // _SIZE_CUT_SHARE))
    random.shuffle(size)
    published, followed = _coupled_ranks(profile.topics, random)
    # Only the publishers change places among themselves, so the law of all sizes stays.
    own = np.sort(size[: profile.topics])
    size[: profile.topics] = own[followed]
    return Sequences(popularity=popularity[published], size=size, events=_rates(profile))


def _rates(profile: Profile) -> NDArray[np.int64]:
    rates = lognormal(profile.topics, profile.mean_events, _SIGMA, lambda x: soft_knee(x, _KNEE_EVENTS, _KNEE_POWER))
    rng(profile.seed, "rates").shuffle(rates)
    return rates


def _coupled_ranks(n: int, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    one = random.standard_normal(n)
    other = _COUPLING * one + np.sqrt(1 - _COUPLING**2) * random.standard_normal(n)
    return _ranks(one), _ranks(other)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks

"""Events of each topic of the Twitter profile: a cloud around a line of the followers, and stars below the line (figures 5.12, 5.13).

The mean of topics with f followers is c * f^0.9, and below that line beyond the kink. Around it lies a lognormal cloud, in whole numbers
from 1 to below 100,000. Two numbers are solved: c, so that the mean of all topics is the published one, and the width of the cloud below
a hundred followers, so that half of all topics have fewer than ten events. That 0.575 % of all have more than 1,000 then holds by
itself, to 0.05 %.
"""

from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

Floats = NDArray[np.float64]

_SLOPE: Final = 0.9
_KINK: Final = 1e5
# With 10^6 followers 150 tweets in ten days; the line would say 400,000.
_STAR_SLOPE: Final = -2.5
_FEW: Final = 10
_FEW_SHARE: Final = 0.5
# One bot of 8 M topics writes more than 10^5 times, nobody else.
_MOST: Final = 1e5
_BOT: Final = 120_000
# How wide the cloud is among those with many followers. The wider, the more of their events come from a few of them, and the
# nearer the notifications of a subscriber come to the published ones (figure 5.14); but the fewer have more than 1,000.
_WIDEST: Final = 1.8
_WIDEST_AT: Final = 10**3.5
_WIDTH_AT: Final = 1e2
# Near the greatest rate there is room only for a narrow cloud.
_WIDTH_OF_STARS: Final = 1.2
_WIDTHS: Final = (0.1, 3.0)
_ROUNDS: Final = 10
_BITS: Final = 5

_NORMAL: Final = np.linspace(-5.5, 5.5, 221)
_WEIGHTS: Final = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()


@dataclass(frozen=True, slots=True)
class RateCloud:
    """A cloud of events around a line.

    - `followers`: the points of the line, rising. `log_median`: of the events there.
    - `width`: sigma of the logarithm below a hundred followers; above, the width is fixed (see `_sigma`).
    """

    followers: Floats
    log_median: Floats
    width: float

    @classmethod
    def along(cls, followers: Floats, mean: Floats, width: float) -> Self:
        """Returns the cloud of this `width` that has this `mean` at each of `followers`."""
        # The mean of a lognormal law is exp(log median + sigma^2 / 2). The limits of `_whole` move it, and the rounds move it back.
        cloud = cls(followers, np.log(mean) - _sigma(followers, width) ** 2 / 2, width)
        for _ in range(_ROUNDS):
            cloud = replace(cloud, log_median=cloud.log_median + np.log(mean / (cloud.grid() @ _WEIGHTS)))
        return cloud

    def grid(self) -> Floats:
        """Returns the events at each of `followers` (rows) and each of the quantiles `_NORMAL`, which count by `_WEIGHTS`."""
        return _whole(self.log_median[:, None] + _sigma(self.followers, self.width)[:, None] * _NORMAL)

    def events(self, followers: Floats, normal: Floats) -> Floats:
        """Returns the events of topics with so many followers, at these quantiles of the cloud (those of the standard normal law)."""
        log_followers = np.log(followers)
        log_median = np.interp(log_followers, np.log(self.followers), self.log_median)
        return _whole(log_median + _sigma(followers, self.width) * normal)


def rates(followers: NDArray[np.int32], mean: float, bots: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Returns the events of each topic, each at least 1, with this `mean`.

    `followers`: of each topic; they must fall. `bots`: how many topics have more than 10^5 events. `rng`: the stream of the cloud.
    """
    cloud, at, normal = _solved(followers, mean), followers.astype(np.float64), ndtri(_shares(len(followers), rng))
    events = cloud.events(at, normal)
    for _ in range(2):
        # The topics at the top are too few to have the mean of their law; the rest makes up for it.
        cloud = replace(cloud, log_median=cloud.log_median + np.log(mean / events.mean()))
        events = cloud.events(at, normal)
    events[rng.choice(len(events), bots, replace=False)] = _BOT
    return events.astype(np.int64)


def _solved(followers: NDArray[np.int32], mean: float) -> RateCloud:
    groups, weights = _groups(followers)

    def cloud(width: float) -> tuple[RateCloud, Floats]:
        # Nearly linear in the factor, so that four steps of proportion are enough.
        factor = 1.5
        for _ in range(4):
            found = RateCloud.along(groups, np.maximum(_line(groups, factor), 1.001), width)
            events = found.grid()
            factor *= mean / float(weights @ events @ _WEIGHTS)
        return found, events

    def few(width: float) -> float:
        return float(weights @ (cloud(width)[1] < _FEW) @ _WEIGHTS) - _FEW_SHARE

    return cloud(brentq(few, *_WIDTHS, xtol=0.01))[0]


def _line(followers: Floats, factor: float) -> Floats:
    return factor * np.minimum(followers, _KINK) ** _SLOPE * np.maximum(followers / _KINK, 1.0) ** _STAR_SLOPE


def _sigma(followers: Floats, width: float) -> Floats:
    return np.interp(np.log(followers), np.log([_WIDTH_AT, _WIDEST_AT, _KINK]), [width, _WIDEST, _WIDTH_OF_STARS])


def _whole(log_events: Floats) -> Floats:
    """Returns whole events, 1 to 10^5: near that limit, an account that writes all the time cannot write more."""
    events = np.exp(log_events)
    return np.maximum(1.0, np.rint(events / (1 + events / _MOST)))


def _groups(followers: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Returns the mean followers (rising) of groups of neighbours, and the share of all topics in each.

    The first hundred topics are groups of their own.
    """
    n = len(followers)
    starts = np.unique(np.concatenate([np.arange(min(n, 100)), np.geomspace(min(n - 1, 100), n - 1, 200).astype(np.int64)]))
    sizes = np.diff(np.append(starts, n))
    means = np.add.reduceat(followers.astype(np.float64), starts) / sizes
    return means[::-1], sizes[::-1] / n


def _shares(n: int, rng: np.random.Generator) -> Floats:
    """Returns numbers between 0 and 1, spread evenly over any few neighbours (van der Corput).

    So the mean events of a few neighbours are near the line.
    """
    # The bits of 0 ... 31 in reverse: any run of these numbers is spread evenly. XOR with a random number shuffles each block of 32, and
    # keeps it so.
    spread = np.array([int(f"{i:0{_BITS}b}"[::-1], 2) for i in range(1 << _BITS)])
    blocks = -(-n // (1 << _BITS))
    strata = spread ^ rng.integers(1 << _BITS, size=(blocks, 1))
    shares: Floats = (strata + rng.random(strata.shape)) / (1 << _BITS)
    return shares.ravel()[:n]

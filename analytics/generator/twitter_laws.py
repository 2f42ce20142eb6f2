"""Followers and followings of the Twitter profile: polygons on log-log axes, with a corner wherever the source tells of a kink.

A law is the share P(X >= x) at some x. Values are its stratified quantiles, as in `laws`, so published counts hold at each scale.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..errors import TraceError

Floats = NDArray[np.float64]

# Followers, thesis 5.2: of 8 M topics 4,000 have more than 10^4 and 66 more than 10^6, with a kink at 10^5. An exponent of 1.15 below the
# kink and, by what is left, 0.63 above it are 0.9 on the whole, as published.
_POPULAR: Final = 1e4
_POPULAR_SHARE: Final = 4000 / 8e6
_KINK: Final = 1e5
_KINK_EXPONENT: Final = 1.15
_STAR: Final = 1e6
_STAR_SHARE: Final = 66 / 8e6
# Where the cloud of figure 5.13 ends. In a smaller trace the stars end earlier, or everybody would follow them.
_MOST_FOLLOWERS: Final = 2.5e6
_MOST_OF_SUBSCRIBERS: Final = 1 / 12

# Followings, thesis 5.2: of 30 M subscribers 550 follow more than 10^4; until 2009 nobody could follow more than 2000; at
# sign-up, 20 accounts were offered. How many are at the two corners is not published.
_OFFERED: Final = 20
_OFFERED_SHARE: Final = 0.04
_LIMIT: Final = 2000
_LIMIT_SHARE: Final = 1.5e-3
_EAGER: Final = 1e4
_EAGER_SHARE: Final = 550 / 30e6
_LIMIT_EXPONENT: Final = 1.4
_EAGER_EXPONENT: Final = 3.0
_LEAST_SHARE: Final = 1e-8
_MOST_OF_TOPICS: Final = 1 / 4

_EXACT: Final = 2500
_EXPONENTS: Final = (0.3, 20.0)


@dataclass(frozen=True, slots=True)
class Law:
    """A law of whole values, as points of its CCDF: P(X >= x[i]) = share[i], with straight lines between them on log axes.

    `x` rises, `share` falls from 1, and no value is above the last x. Values are X rounded down.
    """

    x: Floats
    share: Floats

    def at(self, x: Floats) -> Floats:
        """Returns P(X >= x)."""
        return np.exp(np.interp(np.log(x), np.log(self.x), np.log(self.share)))

    def mean(self) -> float:
        """Returns the mean of the values: the sum of P(X >= k) over all k from 1, beyond 2,500 as an integral."""
        low = self.at(np.arange(1.0, min(_EXACT, np.floor(self.x[-1])) + 1)).sum()
        if self.x[-1] <= _EXACT:
            return float(low)
        high = np.geomspace(_EXACT + 0.5, self.x[-1], 4000)
        return float(low + np.trapezoid(self.at(high), high))

    def values(self, n: int) -> NDArray[np.int32]:
        """Returns the `n` stratified quantiles, the greatest first."""
        depth = -np.log((np.arange(n) + 0.5) / n)
        found = np.exp(np.interp(depth, -np.log(self.share), np.log(self.x)))
        # exp(log(x)) may fall just short of a whole x, and rounding down would lose one there.
        return np.floor(found * (1 + 1e-12)).astype(np.int32)

    def up_to(self, most: float) -> "Law":
        """Returns the same law with everything above `most` moved to it."""
        kept = self.x < most
        return Law(np.append(self.x[kept], most), np.append(self.share[kept], self.at(np.array([most]))))


def followers(topics: int, subscribers: int, pairs: int) -> NDArray[np.int32]:
    """Returns the followers of each topic, the greatest first. Their sum is `pairs`.

    `topics`, `subscribers`: how many there are. Raises TraceError if they are too few for this law.
    """
    most = min(_MOST_FOLLOWERS, subscribers * _MOST_OF_SUBSCRIBERS)
    # Where subscribers are so few that 10^4 of them are too near to the end, the corner moves along its line.
    corner = min(_POPULAR, most / 2)
    share = _POPULAR_SHARE * (_POPULAR / corner) ** _KINK_EXPONENT
    tail = _followers_tail(corner, most)

    def law(exponent: float) -> Law:
        body = _body(corner, share, exponent)
        return Law(np.concatenate([body.x, tail.x[1:]]), np.concatenate([body.share, share * tail.share[1:]]))

    return _settled(_solved(law, pairs / topics).values(topics), pairs)


def followings(topics: int, subscribers: int, pairs: int) -> NDArray[np.int32]:
    """Returns the topics of each subscriber, the greatest first. Their sum is `pairs`.

    `topics`, `subscribers`: how many there are. Raises TraceError if they are too few for this law.
    """
    past_limit = _EAGER_SHARE * (_EAGER / _LIMIT) ** _LIMIT_EXPONENT
    last = _EAGER * (_EAGER_SHARE / _LEAST_SHARE) ** (1 / _EAGER_EXPONENT)

    def law(exponent: float) -> Law:
        body = _body(_LIMIT, _LIMIT_SHARE, exponent)
        x, share = body.x, (1 - _OFFERED_SHARE) * body.share + _OFFERED_SHARE * (body.x <= _OFFERED)
        found = Law(np.append(x, [_LIMIT + 1, _EAGER, last]), np.append(share, [past_limit, _EAGER_SHARE, _LEAST_SHARE]))
        return found.up_to(min(last, topics * _MOST_OF_TOPICS))

    return _settled(_solved(law, pairs / subscribers).values(subscribers), pairs)


def _body(x: float, share: float, exponent: float) -> Law:
    """Returns the law from 1 to `x`: a Lomax law, which bends and then falls with `exponent`, scaled so that it has `share` left at `x`."""
    ratio = share ** (-1 / exponent)
    offset = (x - ratio) / (ratio - 1)
    knots = np.unique(np.concatenate([np.geomspace(1, x, 300), [_OFFERED, _OFFERED + 1]]).clip(1, x))
    return Law(knots, ((1 + offset) / (knots + offset)) ** exponent)


def _followers_tail(corner: float, most: float) -> Law:
    """Returns what is above `corner`, as shares of it: to the kink, from there to the stars, and an end at `most` that bends."""
    x = np.geomspace(corner, _MOST_FOLLOWERS, 1000)
    kink_share = _POPULAR_SHARE * (_KINK / _POPULAR) ** -_KINK_EXPONENT
    exponent = np.log(kink_share / _STAR_SHARE) / np.log(_STAR / _KINK)
    low, high = _STAR**-exponent, _MOST_FOLLOWERS**-exponent
    beyond = np.where(x < _STAR, (x / _STAR) ** -exponent, (x**-exponent - high) / (low - high))
    share = np.where(x < _KINK, kink_share * (x / _KINK) ** -_KINK_EXPONENT, _STAR_SHARE * beyond)
    end, kept = np.interp(most, x, share), x < most * 0.999
    return Law(x[kept], (share[kept] - end) / (share[0] - end))


def _solved(law: Callable[[float], Law], mean: float) -> Law:
    """Returns the law that has this mean, by the exponent of its body."""
    try:
        return law(brentq(lambda exponent: law(exponent).mean() - mean, *_EXPONENTS, xtol=1e-9))
    except ValueError:
        raise TraceError("the Twitter profile does not fit into so few users; say a scale of 1/1000 or more") from None


def _settled(values: NDArray[np.int32], total: int) -> NDArray[np.int32]:
    """Brings the sum of `values` to `total` by single steps. They are spread over the values of middle size, so that no corner moves."""
    missing = total - int(values.sum(dtype=np.int64))
    middle = np.flatnonzero((values > _OFFERED + 1) & (values < _LIMIT / 2))
    each, rest = divmod(abs(missing), len(middle))
    step = np.sign(missing)
    values[middle] += np.int32(step * each)
    values[middle[np.linspace(0, len(middle) - 1, rest).astype(np.int64)]] += np.int32(step)
    return values

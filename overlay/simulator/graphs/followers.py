"""Followers: a one-way graph of communities, with a power law of followers.

Each user has a home, and a weight that follows a power law. They follow mostly users of their home, and users of great weight more often
than others. So those who live together share what they follow, which gives overlays something to find.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from analytics.generator.laws import exact, lognormal
from overlay.protocol import chance
from overlay.protocol.buffer import Buffer

from ..compiled import compiled
from ..draws import Array, Draws, Stream
from ..errors import OverlayError
from .graph import SubscriptionGraph

LEAST_USERS: Final = 1000
MEAN_TOPICS: Final = 16
# The width of the lognormal law of topics of a user (Ciao has this), and the share of all topics that nobody exceeds.
_WIDTH: Final = 1.4
_MOST_TOPICS_SHARE: Final = 16
# P(X >= x) of weights falls as 1 / x. Followers then have the exponent 2.3 that Twitter had (Kwak et al. 2010).
_WEIGHT_UNIT: Final = 10
# No user has more of all weight than one part of so many.
_HEAVIEST_SHARE: Final = 50
# Homes have 30 to 1,000 users, but no more than a tenth of all; the number of homes of at least x users falls as x^-0.5.
_SMALLEST_HOME: Final = 30
_LARGEST_HOME: Final = 1000
_LARGEST_HOME_SHARE: Final = 10
_HOME_POWER: Final = -0.5
# How much of what decides on the number of topics of a user is their home. Without it, a tenth of the users would share too little.
_LIVELINESS: Final = 0.6
# In percent: how often somebody follows a user from anywhere.
_STRAYS: Final = 20
# Somebody who has met so many users whom they follow already looks anywhere; ten times as many, and anybody else will do.
_TRIES: Final = 10
_LAST_TRIES: Final = 10


def followers(users: int, seed: int) -> SubscriptionGraph:
    """Returns a graph in which each user follows 16 others in the mean.

    The most followed has about a seventh of all users as followers. Raises OverlayError if there are too few for communities.
    """
    if users < LEAST_USERS:
        raise OverlayError(f"{users} users: too few for a graph of followers; ask for {LEAST_USERS:,} or more")
    draws = Draws(seed, Stream.FOLLOWERS)
    names = draws.order(users)
    homes, weights = _homes(users, draws), draws.shuffled(_weights(users))
    sizes = _spread(_sizes(users), homes, draws)
    topic = np.empty(int(sizes.sum()), np.int64)
    heavier = np.concatenate([[0], np.cumsum(weights)])
    compiled(follow)(draws.state, 0, sizes, homes, heavier, _STRAYS, _TRIES, np.full(users, -1), topic)
    return SubscriptionGraph(names[np.repeat(np.arange(users), sizes)], names[topic], users, users, is_social=True)


def _sizes(users: int) -> NDArray[np.int32]:
    """Returns how many each user follows, in rising order."""
    most = users // _MOST_TOPICS_SHARE
    law = lognormal(users, MEAN_TOPICS, _WIDTH, lambda x: np.minimum(x, most))
    return exact(law.astype(np.int32), MEAN_TOPICS * users)


def _spread(sizes: NDArray[np.int32], homes: Array, draws: Draws) -> Array:
    """Returns one of the rising `sizes` for each user: those of lively homes get greater ones."""
    lively = np.repeat(draws.uniform(len(homes) - 1), np.diff(homes))
    order = np.argsort(_LIVELINESS * lively + (1 - _LIVELINESS) * draws.uniform(len(sizes)), kind="stable")
    given = np.empty(len(sizes), np.int64)
    given[order] = sizes
    return given


def _weights(users: int) -> Array:
    """Returns the weight of each user, in falling order."""
    weights = np.rint(_WEIGHT_UNIT * users / (np.arange(users) + 0.5))
    found: Array = np.minimum(weights, weights.sum() // _HEAVIEST_SHARE).astype(np.int64)
    return found


def _homes(users: int, draws: Draws) -> Array:
    """Returns where homes begin, and `users` at the end. Users of one home stand together."""
    largest = min(_LARGEST_HOME, users // _LARGEST_HOME_SHARE)
    low, high = (size**_HOME_POWER for size in (largest, _SMALLEST_HOME))
    drawn = low + (high - low) * draws.uniform(users // _SMALLEST_HOME)
    begins = np.cumsum((drawn ** (1 / _HOME_POWER)).astype(np.int64))
    # What is left at the end is too small for a home, so it belongs to the last one.
    within = begins[begins <= users - _SMALLEST_HOME]
    return np.concatenate([[0], within, [users]])


def follow(
    streams: Buffer,
    at: int,
    sizes: Buffer,
    homes: Buffer,
    heavier: Buffer,
    strays: int,
    tries: int,
    seen: Buffer,
    topic: Buffer,
) -> None:
    """Lets each user follow others, and writes whom, one user after the other, into `topic`.

    - `streams`, `at`: the stream.
    - `sizes`: how many each user follows. `homes`: where homes begin, and the number of users.
    - `heavier`: the weight of all users before each, and at last of all. It is below 2^31.
    - `strays`: how often they look anywhere, in percent. `tries`: after how many failures they look there anyway.
    - `seen`: -1 for each user.
    """
    users = len(sizes)
    found, home = 0, 0
    for user in range(users):
        while homes[home + 1] <= user:
            home += 1
        first, last = homes[home], homes[home + 1]
        # Nobody follows a user twice, or themselves.
        seen[user] = user
        for _ in range(sizes[user]):
            whom = user
            failures = 0
            while seen[whom] == user:
                if failures >= _LAST_TRIES * tries:
                    whom = chance.below(streams, at, users)
                elif failures >= tries or chance.happens(streams, at, strays, 100):
                    whom = weighed(streams, at, heavier, 0, users)
                else:
                    whom = weighed(streams, at, heavier, first, last)
                failures += 1
            seen[whom] = user
            topic[found] = whom
            found += 1


def weighed(streams: Buffer, at: int, heavier: Buffer, first: int, last: int) -> int:
    """Returns one of the users from `first` to `last` - 1, each as often as their weight says.

    `streams`, `at`: the stream. `heavier`: as in `follow`.
    """
    wanted = heavier[first] + chance.below(streams, at, heavier[last] - heavier[first])
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if heavier[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low

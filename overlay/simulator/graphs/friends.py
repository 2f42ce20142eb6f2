"""Friends: a two-way graph that is clustered, with a power law of degrees (Holme and Kim 2002, with unequal newcomers).

Users come one after the other. A newcomer befriends somebody whom many know already. Each further friend is, as often as not, a friend of
that one, and otherwise again somebody whom many know. So the rich get richer, which makes the power law, and triangles close.
"""

from typing import Final

import numpy as np

from overlay.protocol import chance
from overlay.protocol.buffer import Buffer

from ..compiled import compiled
from ..draws import Array, Draws, Stream
from ..errors import OverlayError
from .graph import SubscriptionGraph

LEAST_USERS: Final = 200
# Newcomers make 1 to 15 friends, each number as often: 8 in the mean. Each has 16 when those who come later have befriended them, too.
_MOST_MADE: Final = 15
_MEAN_MADE: Final = 8
# In percent: how often a friend of the last friend is tried.
_TRIADS: Final = 50
# The first users each befriend the one before. They are so many that each later one finds enough others.
_CORE: Final = _MOST_MADE + 2
# The links of a user lie in a row. A full row moves to one of twice its length, so all rows of a user are less than four times its links.
_FIRST_ROW: Final = 4
_ROWS: Final = 4


def friends(users: int, seed: int) -> SubscriptionGraph:
    """Returns a graph in which each user has 16 friends in the mean, and two friends follow each other.

    The largest number of friends is about 4.7 times the root of `users`. Raises OverlayError if there are too few for a power law.
    """
    if users < LEAST_USERS:
        raise OverlayError(f"{users} users: too few for a graph of friends; ask for {LEAST_USERS} or more")
    draws = Draws(seed, Stream.FRIENDS)
    made, names = _made(users, draws), draws.order(users)
    one, other = _grown(made, draws)
    one, other = names[one], names[other]
    return SubscriptionGraph(np.concatenate([one, other]), np.concatenate([other, one]), users, users, is_social=True)


def _made(users: int, draws: Draws) -> Array:
    """Returns how many friends each user makes when they come: `_MEAN_MADE` in the mean."""
    first = np.minimum(1, np.arange(_CORE))
    newcomers = users - _CORE
    each = 1 + np.arange(newcomers) * _MOST_MADE // newcomers
    each[: _MEAN_MADE * users - int(each.sum() + first.sum())] += 1
    return np.concatenate([first, draws.shuffled(each)])


def _grown(made: Array, draws: Draws) -> tuple[Array, Array]:
    links, users = int(made.sum()), len(made)
    ends, links_of = np.empty(2 * links, np.int64), np.empty(2 * _ROWS * links + _FIRST_ROW * users, np.int64)
    compiled(grow)(draws.state, 0, made, _CORE, _TRIADS, ends, links_of, np.zeros(4 * users, np.int64))
    return ends[::2], ends[1::2]


def grow(streams: Buffer, at: int, made: Buffer, core: int, triads: int, ends: Buffer, links: Buffer, places: Buffer) -> None:
    """Lets users come and make friends, and writes both ends of each friendship into `ends`, the newcomer's first.

    - `streams`, `at`: the stream.
    - `made`: how many friends each user makes. The first makes none, and the others of the first `core` befriend the one before.
    - `triads`: how often a friend of a friend is tried, in percent.
    - `links`: room for the rows of all users.
    - `places`: four zeros for each user: where their row begins, its length, how many links it has, and by which newcomer they were seen.
    """
    users = len(made)
    found, free = 0, 0
    for user in range(1, users):
        # Nobody befriends a user twice, or themselves. The first user, whose number a 0 would be, befriends nobody.
        places[3 * users + user] = user
        left, last = made[user], -1
        while left > 0:
            is_triad = last >= 0 and chance.happens(streams, at, triads, 100)
            if user < core:
                friend = user - 1
            elif is_triad:
                friend = links[places[last] + chance.below(streams, at, places[2 * users + last])]
            else:
                friend = ends[chance.below(streams, at, 2 * found)]
            if places[3 * users + friend] == user:
                continue
            places[3 * users + friend] = user
            if not is_triad:
                last = friend
            free = link(links, places, users, free, user, friend)
            free = link(links, places, users, free, friend, user)
            ends[2 * found], ends[2 * found + 1] = user, friend
            found += 1
            left -= 1


def link(links: Buffer, places: Buffer, users: int, free: int, user: int, friend: int) -> int:
    """Appends `friend` to the row of `user`. Returns where `links` is free from now on.

    `links`, `places`, `users`: as in `grow`. `free`: where `links` was free.
    """
    begin, length, count = places[user], places[users + user], places[2 * users + user]
    if count == length:
        for place in range(count):
            links[free + place] = links[begin + place]
        places[user], places[users + user] = free, max(_FIRST_ROW, 2 * length)
        begin, free = free, free + places[users + user]
    links[begin + count] = friend
    places[2 * users + user] = count + 1
    return free

"""Friends: publishers who follow each other. They are drawn by an undirected configuration model in which most friends are of one site."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .profile import Profile, Sequences, rng, site_of

# Share of all links that may lead to any site. So remote over local publications are about a tenth (WA-13); in a small trace one reader
# of thousands of topics at a small site moves it.
ANYWHERE: Final = 0.06
_ROUNDS: Final = 30


def friendships(profile: Profile, sequences: Sequences) -> NDArray[np.int64]:
    """Returns both directions of every friendship as keys `follower * topics + topic`, rising.

    Publishers have as many friends as they follow topics, but no more than follow them: the few who follow more have other topics beside.
    What cannot be matched without repeating a friendship is left out, so degrees are upper bounds.
    """
    random = rng(profile.seed, "friends")
    stubs = np.repeat(np.arange(profile.topics, dtype=np.int64), np.minimum(sequences.popularity, sequences.size[: profile.topics]))
    one, other, pool = _matched(stubs, _pools(profile, stubs, random), random)
    bad = _bad(one, other, profile.topics)
    for _ in range(_ROUNDS):
        if not bad.any():
            break
        _rewire(one, other, pool, bad, random)
        bad = _bad(one, other, profile.topics)
    one, other = one[~bad], other[~bad]
    return np.sort(np.concatenate([one * profile.topics + other, other * profile.topics + one]))


def _pools(profile: Profile, stubs: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.uint8]:
    """Returns the site within which each stub is matched. The last pool is that of all sites."""
    anywhere = random.random(len(stubs)) < ANYWHERE
    return np.where(anywhere, len(profile.sites), site_of(profile, stubs)).astype(np.uint8)


def _matched(
    stubs: NDArray[np.int64], pools: NDArray[np.uint8], random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Returns pairs of stubs of the same pool. Where the number of stubs in a pool is odd, one pair reaches into the next pool."""
    order = random.permutation(len(stubs))
    # A stable sort of a shuffled order keeps the shuffle within each pool: neighbours are then random partners of one pool.
    order = order[np.argsort(pools[order], kind="stable")][: len(stubs) // 2 * 2]
    return stubs[order[::2]], stubs[order[1::2]], pools[order[::2]]


def _bad(one: NDArray[np.int64], other: NDArray[np.int64], topics: int) -> NDArray[np.bool_]:
    """Returns which pairs join a user with the same user, or are there already."""
    # One number for a friendship, whichever way round it was drawn.
    key = np.minimum(one, other) * topics + np.maximum(one, other)
    order = np.argsort(key, kind="stable")
    repeated = np.zeros(len(key), dtype=np.bool_)
    repeated[order[1:]] = key[order[1:]] == key[order[:-1]]
    repeated |= one == other
    return repeated


def _rewire(
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    pool: NDArray[np.uint8],
    bad: NDArray[np.bool_],
    random: np.random.Generator,
) -> None:
    """Deals the far ends of the bad pairs and of some others anew, within each pool. All degrees stay."""
    # Good pairs take part as well: the bad ones alone are mostly of a few popular users, and would only repeat each other.
    among = np.flatnonzero(bad)
    more = random.integers(len(one), size=4 * len(among) + 16)
    among = np.unique(np.concatenate([among, more]))
    # Both are in order of pools, the second one shuffled within each: so ends move within their pool only.
    still = among[np.argsort(pool[among], kind="stable")]
    dealt = among[np.lexsort((random.random(len(among)), pool[among]))]
    other[still] = other[dealt]

"""Pairs of subscriber and topic: slots of subscribers are matched with slots of topics, so that both degree sequences hold.

One shuffle of the topics' slots does all the matching at once. Each chunk of subscribers is then made free of repetitions on its own,
by exchange within the chunk. A chunk holds a random sample of all slots, so popularity is kept exactly.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .friends import ANYWHERE
from .profile import Profile, rng, site_bounds
from .repair import Repair


@dataclass(frozen=True, slots=True)
class Chunk:
    """The subscribers `first` to `last - 1`, all of one site. `number`: of the chunk, which names its part and its random stream."""

    number: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The matching of slots.

    - `topics`: the topic of each slot.
    - `offsets`: subscriber v has the slots `offsets[v]` to `offsets[v + 1]`, beside their friends.
    - `friends`: keys `subscriber * number of topics + topic`, rising.
    """

    topics: NDArray[np.int32]
    offsets: NDArray[np.int64]
    friends: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a chunk, ordered by subscriber and topic.

    - `repeated`: how many were there already and had to change topic.
    - `dropped`: how many found no topic that was new for the subscriber.
    """

    subscriber: NDArray[np.int64]
    topic: NDArray[np.int64]
    repeated: int
    dropped: int


def chunks(profile: Profile, pairs_per_chunk: int) -> list[Chunk]:
    """Cuts all subscribers where the site changes, and after about `pairs_per_chunk` pairs."""
    step = max(1, pairs_per_chunk * profile.subscribers // profile.pairs)
    runs = [0, *site_bounds(profile).tolist(), profile.subscribers]
    bounds = sorted({bound for first, last in pairwise(runs) for bound in (*range(first, last, step), last)})
    return [Chunk(number, first, last) for number, (first, last) in enumerate(pairwise(bounds))]


def match(profile: Profile, popularity: NDArray[np.int32], size: NDArray[np.int32], friends: NDArray[np.int64]) -> Slots:
    """Gives a slot of a topic, mostly of the same site, to every slot of a subscriber that no friend takes.

    `popularity`: by topic. `size`: by subscriber. `friends`: keys as `friendships` returns them.
    """
    # Friendship is mutual, so friends take as many of a publisher's slots as a subscriber as of the slots as a topic.
    taken = np.bincount(friends // profile.topics, minlength=profile.topics)
    stubs = np.repeat(np.arange(profile.topics, dtype=np.int32), popularity - taken)
    free = size.astype(np.int64)
    free[: profile.topics] -= taken
    offsets = np.concatenate([[0], np.cumsum(free)])
    random = rng(profile.seed, "matching")
    if len(profile.sites) > 1:
        stubs = _within_sites(profile, stubs, offsets, random)
    else:
        random.shuffle(stubs)
    return Slots(stubs, offsets, friends)


def pairs(profile: Profile, slots: Slots, chunk: Chunk) -> Pairs:
    """Returns the pairs of the subscribers of `chunk`, out of the matching `slots`.

    No pair is there twice, and nobody follows themselves.
    """
    random = rng(profile.seed, "pairs", chunk.number)
    offsets = slots.offsets[chunk.first : chunk.last + 1]
    owners = np.repeat(np.arange(chunk.first, chunk.last, dtype=np.int64), np.diff(offsets))
    keys = owners * profile.topics + slots.topics[offsets[0] : offsets[-1]]
    keys.sort()
    friends = _between(slots.friends, chunk.first * profile.topics, chunk.last * profile.topics)
    # The key `v * topics + v`, of each subscriber who is a publisher too.
    itself = np.arange(chunk.first, min(chunk.last, profile.topics), dtype=np.int64) * (profile.topics + 1)
    repair = Repair(profile.topics, keys, np.sort(np.concatenate([friends, itself])), random)
    repeated, bad = repair.run(slots.topics)
    kept = np.sort(np.concatenate([np.delete(keys, bad), friends]))
    subscriber, topic = np.divmod(kept, profile.topics)
    return Pairs(subscriber, topic, repeated, len(bad))


def _within_sites(profile: Profile, stubs: NDArray[np.int32], offsets: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int32]:
    """Returns the topics by slot.

    A share ANYWHERE of each site's slots is matched with any site, and all other slots are matched within the site. What a site has too
    many of, topics or subscribers, is matched with what others have too many of.
    """
    count = len(profile.sites)
    runs = np.concatenate([[0], offsets[site_bounds(profile)], [len(stubs)]])
    topic_runs = np.concatenate([[0], np.searchsorted(stubs, site_bounds(profile)[:count])])
    matched = np.empty_like(stubs)
    open_stubs: tuple[list[NDArray[np.int32]], ...] = ([], [])
    open_slots: tuple[list[NDArray[np.int64]], ...] = ([], [])
    for site in range(count):
        here = stubs[topic_runs[site] : topic_runs[site + 1]]
        # The users of a site are two runs of numbers: its publishers, and the others.
        mine = np.concatenate([np.arange(runs[run], runs[run + 1]) for run in (site, site + count)])
        random.shuffle(here)
        random.shuffle(mine)
        both = min(len(here), len(mine))
        here = _surplus_last(here, len(here) - both)
        local = int((1 - ANYWHERE) * both)
        matched[mine[:local]] = here[:local]
        # Two pools stay open: the slots that lead to any site, and what this site has too many of, either topics or slots.
        for pool, piece in enumerate((slice(local, both), slice(both, None))):
            open_stubs[pool].append(here[piece])
            open_slots[pool].append(mine[piece])
    for found, wanted in zip(open_stubs, open_slots, strict=True):
        matched[np.concatenate(wanted)] = random.permutation(np.concatenate(found))
    return matched


def _surplus_last(stubs: NDArray[np.int32], surplus: int) -> NDArray[np.int32]:
    """Moves `surplus` of the shuffled `stubs` to the end: slots of the most popular topics, for which the site has too few subscribers.

    Every second slot of those topics is moved, so that they keep followers at home.
    """
    popular = np.argsort(-np.bincount(stubs)[stubs], kind="stable")[: 2 * surplus : 2]
    last = np.union1d(popular, np.arange(len(stubs) - (surplus - len(popular)), len(stubs)))
    return np.concatenate([np.delete(stubs, last), stubs[last]])


def _between(keys: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    first, last = np.searchsorted(keys, [low, high])
    return keys[first:last]

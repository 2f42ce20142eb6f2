"""Vicinity: views of the nodes whose interests are nearest (PC 5.2, P2P-4). Pure.

How near a node is to another one, the target, depends on the topics that both have. The priority that the target gives to them counts
first: that of the topic with the highest one, or the sum of all. Then their number counts. Who shares nothing is not near at all.
"""

from .buffer import Buffer
from .chance import draw
from .profile import PROFILE, SHARED_BITS, SIZE, START
from .view import CELL, ROW

# Ties are broken by so many random bits.
TIE_BITS = 20
_SHARED = (1 << SHARED_BITS) - 1
# So many topics lie in a line of a processor's cache.
_STRIDE = 16


def closeness(profiles: Buffer, topics: Buffer, row: int, marks: Buffer, summed: bool) -> int:
    """Returns how near the profile is to a target whose priorities are marked (`mark_priorities`): 0 if they share nothing."""
    start = profiles[row * PROFILE + START]
    # Two steps for each topic, and no branch: most of a simulation's time is spent here.
    highest, total = 0, 0
    for at in range(start, start + profiles[row * PROFILE + SIZE]):
        mark = marks[topics[at]]
        total += mark
        highest = max(highest, mark)
    priority = total if summed else highest
    return ((priority >> SHARED_BITS) << SHARED_BITS) + (total & _SHARED)


def nearest(
    pool: Buffer,
    size: int,
    wanted: int,
    profiles: Buffer,
    topics: Buffer,
    marks: Buffer,
    summed: bool,
    streams: Buffer,
    at: int,
    scores: Buffer,
    picks: Buffer,
) -> int:
    """Writes the places of the `wanted` nearest entries of the pool into `picks`, the nearest first. Returns how many there are.

    `marks` as in `closeness`. `scores` and `picks` have room for all entries. Those that are equally near are in random order.
    """
    _read_ahead(pool, size, profiles, topics, scores, picks)
    found = 0
    for place in range(size):
        near = closeness(profiles, topics, pool[place * CELL + ROW], marks, summed)
        if near > 0:
            scores[place] = (near << TIE_BITS) | (draw(streams, at) & ((1 << TIE_BITS) - 1))
            if found < wanted or scores[place] > scores[picks[found - 1]]:
                found = _insert(picks, found, wanted, scores, place)
    return found


def _read_ahead(pool: Buffer, size: int, profiles: Buffer, topics: Buffer, scores: Buffer, picks: Buffer) -> None:
    """Reads where the topics of each entry begin, and one in _STRIDE of them, into what will be overwritten.

    Profiles lie anywhere in memory. So short loops wait for all of them together, and `closeness` for none.
    """
    for place in range(size):
        scores[place] = profiles[pool[place * CELL + ROW] * PROFILE + START]
    for place in range(size):
        total, start = 0, scores[place]
        for at in range(start, start + profiles[pool[place * CELL + ROW] * PROFILE + SIZE], _STRIDE):
            total += topics[at]
        picks[place] = total


def _insert(picks: Buffer, found: int, wanted: int, scores: Buffer, place: int) -> int:
    """Puts `place` into `picks`, which falls by score and has at most `wanted`. Returns how many it has."""
    at = min(found, wanted - 1)
    while at > 0 and scores[picks[at - 1]] < scores[place]:
        picks[at] = picks[at - 1]
        at -= 1
    picks[at] = place
    return min(found + 1, wanted)

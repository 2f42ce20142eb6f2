"""Quasar: what a node tells its neighbours, and where a message goes next (quasar 3, P2P-36, P2P-41, P2P-44; rulings Q1 to Q11). Pure.

A node keeps of each neighbour an attenuated filter: one Bloom filter for each number of steps from 0 to `depth`. Filter n holds the topics
and ids of nodes that are n steps from that neighbour. A message looks for the topic in them, the nearest ones first. It carries the ids of
all nodes that have published it on its way, and of those where a trail broke off: a filter that holds one of these would lead back to them.

`places` has the places of every topic and id in a filter (see `bloom`), `hashes` of them for each.
"""

from typing import Final

from . import bloom
from .buffer import Buffer
from .chance import below, shuffle

NOBODY: Final = -1
# What `next_step` tells besides the neighbour.
BY_TRAIL: Final = 0
IS_BROKEN: Final = 1
LEVEL: Final = 2
TOLD: Final = 3


def hear(own: Buffer, first: int, theirs: Buffer, at: int, words: int, depth: int) -> None:
    """Merges the filters of a neighbour into those of a node: what is n steps from the neighbour is n + 1 steps from here.

    The filter sets, of `depth` + 1 filters of `words` words, begin at `own[first]` and `theirs[at]`.
    """
    for level in range(1, depth + 1):
        bloom.merge(own, first + level * words, theirs, at + (level - 1) * words, words)


def attracts(filters: Buffer, first: int, places: Buffer, hashes: int, topic: int, negative: Buffer, negatives: int) -> bool:
    """Returns whether the filter at `filters[first]` has the topic and none of the ids that are to be avoided.

    `topic` and `negative[0 : negatives]` say where their places begin.
    """
    if not bloom.contains(filters, first, places, topic, hashes):
        return False
    left = negatives
    while left and not bloom.contains(filters, first, places, negative[left - 1], hashes):
        left -= 1
    return left == 0


def find_trail(
    filters: Buffer,
    neighbours: Buffer,
    count: int,
    words: int,
    depth: int,
    places: Buffer,
    hashes: int,
    topic: int,
    negative: Buffer,
    negatives: int,
    told: Buffer,
) -> int:
    """Returns the number of the first neighbour with a filter that attracts the message, the nearest filters first, or NOBODY.

    `neighbours[0 : count]` says where the filter sets of the neighbours begin. Writes `told[LEVEL]`.
    """
    for level in range(depth + 1):
        for number in range(count):
            if attracts(filters, neighbours[number] + level * words, places, hashes, topic, negative, negatives):
                told[LEVEL] = level
                return number
    return NOBODY


def next_step(
    streams: Buffer,
    stream: int,
    filters: Buffer,
    neighbours: Buffer,
    count: int,
    sender: int,
    words: int,
    depth: int,
    places: Buffer,
    hashes: int,
    topic: int,
    negative: Buffer,
    negatives: int,
    was_by_trail: bool,
    told: Buffer,
) -> int:
    """Returns the number of the neighbour to which a message goes from a node that does not want it, or NOBODY where there is none.

    - `neighbours`: where the filter sets of the neighbours begin, in random order.
    - `sender`: the number of the neighbour that it came from, or NOBODY. The message goes back there by a trail, or if there is no other.
    - `was_by_trail`: the sender had followed a trail to here.

    Writes `told[BY_TRAIL]`: it follows a trail; and `told[IS_BROKEN]`: a trail ends here, so the id of this node is to be avoided from
    now on (quasar 3.4).
    """
    told[BY_TRAIL] = told[IS_BROKEN] = 0
    found = find_trail(filters, neighbours, count, words, depth, places, hashes, topic, negative, negatives, told)
    if found != NOBODY:
        told[BY_TRAIL] = 1
        return found
    if was_by_trail:
        told[IS_BROKEN] = 1
    if count == 0:
        return NOBODY
    if sender == NOBODY or count == 1:
        return below(streams, stream, count)
    other = below(streams, stream, count - 1)
    return other + 1 if other >= sender else other


def choose_branches(streams: Buffer, stream: int, chosen: Buffer, count: int, branch: int) -> int:
    """Puts `chosen[0 : count]`, the neighbours, into random order. Returns how many of them get a copy from a node that publishes: at most
    `branch`, or all if `branch` is 0 (Q3)."""
    shuffle(streams, stream, chosen, 0, count)
    return count if branch == 0 else min(branch, count)

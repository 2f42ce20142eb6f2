"""The messages that are under way in a simulated Quasar, and what is counted of them. Compiled or interpreted."""

from typing import Final, NamedTuple

from ...protocol.buffer import Buffer
from ...protocol.quasar import NOBODY

# A message carries so many ids to avoid at most; the oldest are left out.
MOST_NEGATIVE: Final = 128

# How a message has come to where it is.
AT_RANDOM: Final = 0
ON_TRAIL: Final = 1
ON_FALSE_TRAIL: Final = 2

# What is counted: steps of all sorts, those by a trail, those by the trail of nobody, messages lost behind one of these, messages whose
# ttl was over, that came to a node without neighbours, trails that broke off, steps of polls, polls, and answers to them with an event.
STEPS: Final = 0
TRAILS: Final = 1
FALSE_TRAILS: Final = 2
FALSE_LOST: Final = 3
EXPIRED: Final = 4
DEAD_ENDS: Final = 5
BROKEN: Final = 6
POLL_STEPS: Final = 7
POLLS: Final = 8
ANSWERS: Final = 9
TALLIES: Final = 10

_TAKEN: Final = 0
_SENT: Final = 1
_IDS: Final = 2
HEADS: Final = 3

# What the log has of each step: from where, whereto, how (AT_RANDOM and so on), at which level, and how many ids are avoided.
LOGGED: Final = 5


class Walkers(NamedTuple):
    """The messages of one event, and room for work.

    - `heads`: how many messages were taken and sent, and how many ids there are.
    - `node`, `link`, `ttl`, `hops`, `chain`, `trail`: of each message where it is, over which link from there it came (or NOBODY), how many
      steps it may go, over how many nodes it has come, the last of its ids to avoid (or NOBODY), and how it has come. They are a ring.
    - `ids`, `before`, `lengths`: where the places of an id to avoid begin, the id before it in the same message, and how many these are.
    - `links`, `offered`, `negative`, `told`: room for the links of one node, for their filters, for ids, and for an answer.
    - `tallies`, `log`: what is counted, and every step as far as there is room; `log[0]` says how many.
    """

    heads: Buffer
    node: Buffer
    link: Buffer
    ttl: Buffer
    hops: Buffer
    chain: Buffer
    trail: Buffer
    ids: Buffer
    before: Buffer
    lengths: Buffer
    links: Buffer
    offered: Buffer
    negative: Buffer
    told: Buffer
    tallies: Buffer
    log: Buffer


def forget_all(walkers: Walkers) -> None:
    """Makes room for another event."""
    for head in range(HEADS):
        walkers.heads[head] = 0


def send(walkers: Walkers, node: int, link: int, ttl: int, hops: int, chain: int, trail: int) -> None:
    """Puts a message behind all others. There is room: never more are under way than copies were made by those who publish."""
    at = walkers.heads[_SENT] % len(walkers.node)
    walkers.heads[_SENT] += 1
    walkers.node[at], walkers.link[at], walkers.ttl[at] = node, link, ttl
    walkers.hops[at], walkers.chain[at], walkers.trail[at] = hops, chain, trail


def take(walkers: Walkers) -> int:
    """Returns the place of the message that was sent first, or NOBODY if there is none. What is sent next may take its place."""
    if walkers.heads[_TAKEN] == walkers.heads[_SENT]:
        return NOBODY
    at = walkers.heads[_TAKEN] % len(walkers.node)
    walkers.heads[_TAKEN] += 1
    return at


def avoid(walkers: Walkers, place: int, before: int) -> int:
    """Returns the chain of ids that has the one at `place` in front of `before`. Without room for it that is `before`."""
    at = walkers.heads[_IDS]
    if at == len(walkers.ids):
        return before
    walkers.heads[_IDS] += 1
    walkers.ids[at], walkers.before[at] = place, before
    walkers.lengths[at] = 1 + length(walkers, before)
    return at


def length(walkers: Walkers, chain: int) -> int:
    """Returns how many ids a message with `chain` carries."""
    return 0 if chain == NOBODY else min(MOST_NEGATIVE, walkers.lengths[chain])


def write_negative(walkers: Walkers, chain: int) -> int:
    """Writes the ids of `chain` to `walkers.negative`, the last one first, and returns how many there are."""
    found = 0
    while chain != NOBODY and found < MOST_NEGATIVE:
        walkers.negative[found] = walkers.ids[chain]
        found += 1
        chain = walkers.before[chain]
    return found


def note(walkers: Walkers, node: int, other: int, trail: int, level: int, negatives: int) -> None:
    """Notes a step in the log, if there is room."""
    first = 1 + walkers.log[0] * LOGGED
    if first + LOGGED > len(walkers.log):
        return
    walkers.log[0] += 1
    walkers.log[first], walkers.log[first + 1], walkers.log[first + 2] = node, other, trail
    walkers.log[first + 3], walkers.log[first + 4] = level, negatives

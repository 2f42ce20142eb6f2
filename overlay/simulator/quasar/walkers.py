"""The messages that are under way in a simulated Quasar, and what is counted of them. Compiled or interpreted."""

from typing import Final, NamedTuple

from ...protocol.buffer import Buffer
from ...protocol.quasar import NOBODY
from ..agenda import AT_US, DETAIL, ITEM, KIND, RECEIVER, SENDER, EventAgenda, add, clear
from ..latency.latency import LatencyTimes, takes_us

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

# A number of an entry of the agenda has the ttl below these bits, and the hops above.
_TTL_BITS: Final = 16
MOST_TTL: Final = (1 << _TTL_BITS) - 1

# What the log has of each step: from where, whereto, how (AT_RANDOM and so on), at which level, and how many ids are avoided.
LOGGED: Final = 5


class Walkers(NamedTuple):
    """The messages of one event, and room for work.

    - `agenda`: the messages that are under way, see `send`. `times`: how long they take.
    - `ids`, `before`, `lengths`: where the places of an id to avoid begin, the id before it in the same message, and how many these are.
      `total[0]` says how many ids there are.
    - `links`, `offered`, `negative`, `told`: room for the links of one node, for their filters, for ids, and for an answer.
    - `tallies`, `log`: what is counted, and every step as far as there is room; `log[0]` says how many.
    """

    agenda: EventAgenda
    times: LatencyTimes
    total: Buffer
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
    clear(walkers.agenda)
    walkers.total[0] = 0


def send(walkers: Walkers, node: int, other: int, link: int, ttl: int, hops: int, chain: int, trail: int, at_us: int) -> None:
    """Sends a message from `node` to `other`.

    - `link`: that over which it comes to `other`. `ttl`: how many steps it may go. `hops`: over how many nodes it will have come there.
    - `chain`: the last of its ids to avoid, or NOBODY. `trail`: how it goes. `at_us`: when it is sent.
    """
    add(walkers.agenda, at_us + takes_us(walkers.times, node, other), trail, other, link, chain, (hops << _TTL_BITS) | ttl)


def node_of(walkers: Walkers) -> int:
    """Returns the node where the message is that was taken last."""
    return walkers.agenda.entry[RECEIVER]


def link_of(walkers: Walkers) -> int:
    """Returns the link over which it came there."""
    return walkers.agenda.entry[SENDER]


def chain_of(walkers: Walkers) -> int:
    """Returns the last of its ids to avoid, or NOBODY."""
    return walkers.agenda.entry[ITEM]


def trail_of(walkers: Walkers) -> int:
    """Returns how it has come."""
    return walkers.agenda.entry[KIND]


def ttl_of(walkers: Walkers) -> int:
    """Returns how many steps it may go."""
    return walkers.agenda.entry[DETAIL] & MOST_TTL


def hops_of(walkers: Walkers) -> int:
    """Returns over how many nodes it has come."""
    return walkers.agenda.entry[DETAIL] >> _TTL_BITS


def at_us_of(walkers: Walkers) -> int:
    """Returns when it has come."""
    return walkers.agenda.entry[AT_US]


def avoid(walkers: Walkers, place: int, before: int) -> int:
    """Returns the chain of ids that has the one at `place` in front of `before`. Without room for it that is `before`."""
    at = walkers.total[0]
    if at == len(walkers.ids):
        return before
    walkers.total[0] += 1
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

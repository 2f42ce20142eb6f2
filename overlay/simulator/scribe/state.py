"""The state of all nodes of a simulated Scribe, in flat buffers, and its settings."""

from typing import Final, NamedTuple

from ...protocol.buffer import Buffer
from ...protocol.pastry import DIGITS, NOBODY
from ..errors import OverlayError
from ..harm import Misdeed

# What `tallies` has: messages on the way up and down, JOINs, and messages to nodes that were gone.
UP: Final = 0
DOWN: Final = 1
JOIN_STEPS: Final = 2
TO_DEAD: Final = 3
TALLIES: Final = 4
_FREERIDES: Final = int(Misdeed.FREERIDES)
_OFFERS_ITSELF: Final = int(Misdeed.OFFERS_ITSELF)
_OFFERS_THE_DEAD: Final = int(Misdeed.OFFERS_THE_DEAD)


class ScribeSettings(NamedTuple):
    """The settings of Pastry and Scribe, as in the evaluation of PolderCast: base 16, and a leaf set of 32.

    - `leaves`: the nodes of a leaf set.
    - `rows`: the rows of a table; 16 to the power of it are more nodes than there are.
    - `patience`: for so many cycles a parent may be silent before its child joins anew.
    """

    leaves: int = 32
    rows: int = 8
    patience: int = 1

    def check(self) -> None:
        """Raises OverlayError for settings that make no sense."""
        if self.leaves < 2 or self.leaves % 2:
            raise OverlayError(f"a leaf set of {self.leaves}: give an even number from 2, such as 32")
        if not 1 <= self.rows <= DIGITS:
            raise OverlayError(f"a table of {self.rows} rows: give 1 to {DIGITS}")
        if self.patience < 1:
            raise OverlayError(f"a patience of {self.patience} cycles: give 1 or more")


PAPER: Final = ScribeSettings()


class ScribeState(NamedTuple):
    """All nodes. Seats are found by node and topic, see `seats`.

    - `streams`: the random stream of each node, and behind them that of the world.
    - `ids`, `keys`: the ids of nodes, and of topics, which are the keys of their rendezvous.
    - `alive`: 1 for each node that is there. `side`: nodes of different sides do not hear each other. `flags`: the misdeeds of each node.
    - `leaves`, `table`: see `pastry`; the parts of all nodes one behind the other.
    - `topic_firsts`, `topic_counts`, `topics`: what each node subscribes to, see `TopicSubscriptions`.
    - `seat_keys`: which node and topic each seat is of; NOBODY for a free one. It is a hash table.
    - `in_tree`, `parents`, `heard`, `first_child`: of each seat: 1 if it is taken, see `scribe`, and when its parent was heard last.
    - `children`, `nexts`, `free`: the records of children.
    - `seat_list`, `seat_next`: the seats of a node: the first one of each node, and the next one of each seat. `seats`: how many there are.
    - `messages`, `sizes`: what each node has received, see `counters`.
    - `relayed`, `pastry`: how many of the control messages that a node has received are about topics that it does not subscribe to, and
      how many are Pastry's own.
    - `tallies`: what is counted of all.
    """

    streams: Buffer
    ids: Buffer
    keys: Buffer
    alive: Buffer
    side: Buffer
    flags: Buffer
    leaves: Buffer
    table: Buffer
    topic_firsts: Buffer
    topic_counts: Buffer
    topics: Buffer
    seat_keys: Buffer
    in_tree: Buffer
    parents: Buffer
    heard: Buffer
    first_child: Buffer
    children: Buffer
    nexts: Buffer
    free: Buffer
    seat_list: Buffer
    seat_next: Buffer
    seats: Buffer
    messages: Buffer
    sizes: Buffer
    relayed: Buffer
    pastry: Buffer
    tallies: Buffer


class ScribeRules(NamedTuple):
    """The settings as kernels need them. `half` is the number of leaves on one side."""

    half: int
    rows: int
    patience: int


def answers(state: ScribeState, node: int, other: int) -> bool:
    """Returns whether `other` is there, and no partition is between it and `node`."""
    return state.alive[other] == 1 and state.side[node] == state.side[other]


def passes_on(state: ScribeState, node: int) -> bool:
    """Returns whether `node` passes on the events of others."""
    return state.flags[node] & _FREERIDES == 0


def offers_itself(state: ScribeState, node: int) -> bool:
    """Returns whether `node`, asked for those whom it knows, names itself alone."""
    return state.flags[node] & _OFFERS_ITSELF != 0


def offers_the_dead(state: ScribeState, node: int) -> bool:
    """Returns whether `node`, asked for those whom it knows, names those who do not answer, where it knows any."""
    return state.flags[node] & _OFFERS_THE_DEAD != 0


def subscribes(state: ScribeState, node: int, topic: int) -> bool:
    """Returns whether `node` subscribes to `topic`."""
    low = state.topic_firsts[node]
    end = high = low + state.topic_counts[node]
    while low < high:
        middle = (low + high) // 2
        if state.topics[middle] < topic:
            low = middle + 1
        else:
            high = middle
    return low < end and state.topics[low] == topic


def find_seat(state: ScribeState, node: int, topic: int) -> int:
    """Returns the seat of `node` in the tree of `topic`, NOBODY if it never had one."""
    key = topic * len(state.ids) + node
    seat = _slot(key, len(state.seat_keys))
    while state.seat_keys[seat] != NOBODY and state.seat_keys[seat] != key:
        seat = (seat + 1) % len(state.seat_keys)
    return seat if state.seat_keys[seat] == key else NOBODY


def make_seat(state: ScribeState, node: int, topic: int) -> int:
    """Returns the seat of `node` in the tree of `topic`, which it keeps from now on, whether it is in the tree or not."""
    key = topic * len(state.ids) + node
    seat = _slot(key, len(state.seat_keys))
    while state.seat_keys[seat] != NOBODY and state.seat_keys[seat] != key:
        seat = (seat + 1) % len(state.seat_keys)
    if state.seat_keys[seat] == NOBODY:
        state.seat_keys[seat] = key
        state.seat_next[seat] = state.seat_list[node]
        state.seat_list[node] = seat
        state.seats[0] += 1
    return seat


def keep_seats(old: ScribeState, new: ScribeState) -> None:
    """Copies the seats that are in a tree, or have children, into the empty ones of `new`. Those of trees left long ago are given up."""
    nodes = len(old.ids)
    for node in range(nodes):
        seat = old.seat_list[node]
        while seat != NOBODY:
            if old.in_tree[seat] or old.first_child[seat] != NOBODY:
                kept = make_seat(new, node, old.seat_keys[seat] // nodes)
                new.in_tree[kept], new.parents[kept] = old.in_tree[seat], old.parents[seat]
                new.heard[kept], new.first_child[kept] = old.heard[seat], old.first_child[seat]
            seat = old.seat_next[seat]


def _slot(key: int, size: int) -> int:
    # Fibonacci hashing of 31 bits: neighbours are spread over the table, and no product needs more than 63 bits.
    return (((key & 0x7FFFFFFF) ^ (key >> 31)) * 1640531527 & 0x7FFFFFFFFFFF) % size

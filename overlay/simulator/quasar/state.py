"""The state of all nodes of a simulated Quasar, in flat buffers, and its settings."""

from typing import Final, NamedTuple

from ...protocol.buffer import Buffer
from ..errors import OverlayError
from ..harm import Misdeed
from .walkers import MOST_TTL

NEVER: Final = -(1 << 30)
_FREERIDES: Final = int(Misdeed.FREERIDES)


class QuasarSettings(NamedTuple):
    """The settings of Quasar (rulings Q2 to Q8).

    - `filter_bytes`, `depth`, `hashes`: of the filters. A set has `depth` + 1 of them.
    - `fresh`: for so many cycles what a neighbour has told is believed.
    - `branch`: so many copies leave from a member; 0 stands for all neighbours. The first publisher sends to all.
    - `ttl`: so many steps a copy goes without meeting a member.
    - `avoids`: messages carry negative information.
    - `drops_everywhere`: any node drops a message that it has seen, not members alone (Q5).
    - `splits`: a neighbour is not told what it has told itself (Q8).
    - `exact`: instead of Bloom filters, sets in which every id has one bit of its own.
    """

    filter_bytes: int = 512
    depth: int = 3
    hashes: int = 4
    fresh: int = 3
    branch: int = 5
    ttl: int = 20
    avoids: bool = True
    drops_everywhere: bool = False
    splits: bool = False
    exact: bool = False

    def check(self) -> None:
        """Raises OverlayError for settings that make no sense."""
        for name in ("filter_bytes", "hashes", "fresh", "ttl"):
            if getattr(self, name) < 1:
                raise OverlayError(f"{name} is {getattr(self, name)}: give 1 or more")
        if self.ttl > MOST_TTL:
            raise OverlayError(f"ttl is {self.ttl}: give {MOST_TTL} or less")
        for name in ("depth", "branch"):
            if getattr(self, name) < 0:
                raise OverlayError(f"{name} is {getattr(self, name)}: give 0 or more")


PAPER: Final = QuasarSettings()


class QuasarRules(NamedTuple):
    """The settings as kernels need them, all of them numbers. A filter has `bits`, and takes so many `words`."""

    bits: int
    words: int
    depth: int
    hashes: int
    fresh: int
    branch: int
    ttl: int
    avoids: int
    drops_everywhere: int
    splits: int

    @property
    def set_words(self) -> int:
        """The words of one filter set."""
        return self.words * (self.depth + 1)


class QuasarState(NamedTuple):
    """All nodes.

    - `streams`: the random stream of each node, and behind them that of the world.
    - `offsets`, `ends`, `back`: the links between nodes, see `NeighbourGraph`.
    - `wells`: for each link, where the filter set that its far end has sent begins.
    - `heard`: for each link, the cycle in which its far end was heard last.
    - `alive`: 1 for each node that is there. `side`: nodes of different sides do not hear each other. `flags`: the misdeeds of each node.
    - `filters`: all filter sets.
    - `places`: of all nodes and then all topics, in the filters.
    - `topic_firsts`, `topic_counts`, `topics`: what each node subscribes to, see `TopicSubscriptions`.
    - `messages`, `sizes`: what each node has received, see `counters`.
    """

    streams: Buffer
    offsets: Buffer
    ends: Buffer
    back: Buffer
    wells: Buffer
    heard: Buffer
    alive: Buffer
    side: Buffer
    flags: Buffer
    filters: Buffer
    places: Buffer
    topic_firsts: Buffer
    topic_counts: Buffer
    topics: Buffer
    messages: Buffer
    sizes: Buffer


def hears(state: QuasarState, node: int, other: int) -> bool:
    """Returns whether `other` hears what `node` sends: it is there, and no partition is between them."""
    return state.alive[other] == 1 and state.side[node] == state.side[other]


def passes_on(state: QuasarState, node: int) -> bool:
    """Returns whether `node` passes on the events of others."""
    return state.flags[node] & _FREERIDES == 0

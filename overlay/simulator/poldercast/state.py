"""All nodes of a PolderCast overlay as flat buffers.

The three views of a node stand one after the other in `cells`, from `homes[node]` on: Cyclon, Vicinity, Rings. `counts` has three numbers
for each node. What is only used within a step (`seen` to `far`) is there once for all nodes.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocol.buffer import Buffer
from ...protocol.chance import begin, wide
from ...protocol.profile import PROFILE, index_size, write_index
from ...protocol.rings import EMPTY
from ...protocol.view import CELL
from ..compiled import Execution
from ..counters import KINDS
from ..workload import OverlayWorkload
from .options import PolderSettings

CYCLON: Final = 0
VICINITY: Final = 1
RINGS: Final = 2
MODULES: Final = 3
# Streams of the world have numbers above those of nodes.
ORDER: Final = 0
EVENTS: Final = 1
WORLD_STREAMS: Final = 2
# Places in `tally`.
LOG_END: Final = 0
BASE: Final = 1
LIVE: Final = 2


class PolderState(NamedTuple):
    """The state of all nodes.

    - `ids`, `alive`, `now` (cycles that a node has done), `current` (the row of its profile): by node. `streams`: by node, then the
      world's. `order`: room for all nodes.
    - `profiles`, `topics`, `priorities`: the table of profiles (`overlay/protocol/profile.py`).
    - `past`: the priorities of the last cycles, one cycle after the other, if they are remembered.
    - `cells`, `homes`, `counts`: the views. `slots`, `bays`: the rings (`overlay/protocol/rings.py`).
    - `rooms`: for how many topics each node has room there.
    - `messages`, `sizes`: counters of what is received. `sent`: control messages, by node. `log`: each control message, if there is room.
    - `flags` (`harm.Misdeed`), `sides` (nodes of different sides do not hear each other), `buried` (how many dead a liar found): by node.
      `graves`: the dead that liars remember to offer them (`lies.py`).
    - `tally`: how much of the log is used, the base of `seen`, and how many nodes are alive (LOG_END, BASE, LIVE).
    """

    ids: Buffer
    alive: Buffer
    now: Buffer
    current: Buffer
    streams: Buffer
    order: Buffer
    profiles: Buffer
    topics: Buffer
    priorities: Buffer
    past: Buffer
    cells: Buffer
    homes: Buffer
    counts: Buffer
    slots: Buffer
    bays: Buffer
    rooms: Buffer
    messages: Buffer
    sizes: Buffer
    sent: Buffer
    log: Buffer
    flags: Buffer
    sides: Buffer
    buried: Buffer
    graves: Buffer
    tally: Buffer
    seen: Buffer
    marks: Buffer
    pool: Buffer
    asked: Buffer
    answer: Buffer
    picks: Buffer
    scores: Buffer
    near: Buffer
    far: Buffer


def hears(state: PolderState, sender: int, receiver: int) -> bool:
    """Returns whether a message between them arrives: the receiver is alive, and the network between them whole."""
    return state.alive[receiver] == 1 and state.sides[sender] == state.sides[receiver]


def begin_streams(streams: Buffer, seed: int) -> None:
    """Begins all streams of a seed."""
    for number in range(len(streams)):
        begin(streams, number, seed, number)


def draw_ids(ids: Buffer, streams: Buffer) -> None:
    """Draws an id for each node, from the node's own stream."""
    for node in range(len(ids)):
        ids[node] = wide(streams, node)


def new_state(workload: OverlayWorkload, settings: PolderSettings, seed: int, execution: Execution, logged: int = 0) -> PolderState:
    """Returns nodes that know nobody, all alive. `logged`: how many numbers of messages can be logged."""
    nodes, pairs = workload.nodes, workload.pairs
    degrees, offsets = workload.topics_of.lengths, workload.topics_of.offsets
    fixed = settings.cyclon + settings.vicinity
    profiles, topics = profile_table(workload.topics_of.values, degrees, np.zeros(nodes, np.int64), 0, 0)
    homes = fixed * np.arange(nodes) + settings.ring * offsets[:-1]
    streams, ids = execution.filled(nodes + WORLD_STREAMS), execution.filled(nodes)
    execution.kernel(begin_streams)(streams, seed)
    execution.kernel(draw_ids)(ids, streams)
    state = PolderState(
        ids=ids,
        alive=execution.filled(nodes, 1, np.int32),
        now=execution.filled(nodes, 0, np.int32),
        current=execution.buffer(np.arange(nodes), np.int32),
        streams=streams,
        order=execution.filled(nodes, 0, np.int32),
        profiles=execution.buffer(profiles, np.int32),
        topics=execution.buffer(topics, np.int32),
        priorities=execution.filled(pairs, settings.ring, np.int8),
        past=execution.filled(settings.remembered * pairs, settings.ring, np.int8),
        cells=execution.filled((nodes * fixed + settings.ring * pairs) * CELL, 0, np.int32),
        homes=execution.buffer(homes),
        counts=execution.filled(nodes * MODULES, 0, np.int32),
        slots=execution.filled(settings.ring * pairs, EMPTY, np.int32),
        bays=execution.buffer(settings.ring * offsets[:-1]),
        rooms=execution.buffer(degrees, np.int32),
        messages=execution.filled(nodes * KINDS),
        sizes=execution.filled(nodes * KINDS),
        sent=execution.filled(nodes),
        log=execution.filled(logged),
        flags=execution.filled(nodes),
        sides=execution.filled(nodes),
        buried=execution.filled(nodes),
        graves=execution.filled(0, 0, np.int32),
        tally=execution.filled(3),
        seen=execution.filled(nodes, -1),
        marks=execution.filled(workload.topics, 0, np.int32),
        **scratch(int(degrees.max()), settings, execution),
    )
    execution.kernel(write_indexes)(state.profiles, state.topics, 0)
    return state


def profile_table(
    values: NDArray[Any], sizes: NDArray[Any], versions: NDArray[Any], first: int, priorities: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns rows of profiles, end to end, and their part of the pool of topics, with room for the index behind each.

    - `values`: the topics of all, end to end. `sizes`: how many each has. `versions`: of each.
    - `first`: where in the pool this part begins. `priorities`: where their priorities begin.
    """
    before = np.cumsum(sizes) - sizes
    rooms = sizes + np.array([index_size(size) for size in sizes.tolist()], np.int64)
    starts = first + np.cumsum(rooms) - rooms
    pool = np.zeros(rooms.sum(), np.int64)
    pool[np.repeat(starts - first - before, sizes) + np.arange(len(values))] = values
    rows = np.stack([starts, sizes, versions, priorities + before, np.zeros(len(sizes), np.int64)], axis=1)
    return rows.reshape(len(sizes) * PROFILE), pool


def write_indexes(profiles: Buffer, topics: Buffer, first: int) -> None:
    """Writes the indexes of all profiles from row `first` on."""
    for row in range(first, len(profiles) // PROFILE):
        write_index(profiles, topics, row)


def scratch(most: int, settings: PolderSettings, execution: Execution) -> dict[str, Buffer]:
    """Returns what is only used within a step, for nodes with up to `most` topics, by the names of its fields."""
    message = 1 + max(settings.cyclon_gossip, settings.vicinity_gossip, settings.ring_gossip)
    pool = settings.cyclon + settings.vicinity + settings.ring * most + message
    return {
        "pool": execution.filled(pool * CELL, 0, np.int32),
        "asked": execution.filled(message * CELL, 0, np.int32),
        "answer": execution.filled(message * CELL, 0, np.int32),
        "picks": execution.filled(pool),
        "scores": execution.filled(pool),
        "near": execution.filled(settings.ring * most),
        "far": execution.filled(pool),
    }

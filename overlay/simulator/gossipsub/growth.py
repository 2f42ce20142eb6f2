"""Pools of records that grow between kernels: while a kernel runs, nothing can be allocated."""

from typing import Any, Final

import numpy as np

from ...protocol.buffer import Buffer
from ...protocol.gossip_scores import COUNTERS
from ..agenda import EventAgenda, enlarged, room_of
from ..compiled import Execution
from ..pair_table import ABSENT, PairTable, new_pair_table, put_pair
from .options import MESH_ROOM
from .state import BONDS, LINKS, NO_ROOM, SEATS, GossipBonds, GossipLinks, GossipSeats, GossipSubState, agenda_room

# Places of a record, where it has more than one.
_WIDE: Final = {"mesh": MESH_ROOM, "counters": COUNTERS}


def grown(state: GossipSubState, execution: Execution, seats: int = 0) -> GossipSubState:
    """Returns the state with each pool doubled of which over half is in use, and with room for so many `seats` more."""
    state.tallies[NO_ROOM] = 0
    used = state.tallies
    if used[SEATS] + seats > len(state.seats.node):
        room = 2 * len(state.seats.node) + seats
        state = state._replace(seats=GossipSeats(*_parts(state.seats, room, execution)))
    if 2 * used[LINKS] > len(state.links.owner):
        state = state._replace(links=GossipLinks(*_parts(state.links, 2 * len(state.links.owner), execution)))
    if 2 * used[BONDS] > len(state.bonds.seat):
        state = state._replace(bonds=GossipBonds(*_parts(state.bonds, 2 * len(state.bonds.seat), execution)))
    return state._replace(agenda=_with_room(state, execution))


def _with_room(state: GossipSubState, execution: Execution) -> EventAgenda:
    nodes, links = len(state.nodes.alive), state.tallies[LINKS]
    if room_of(state.agenda) >= agenda_room(nodes, links):
        return state.agenda
    return enlarged(state.agenda, agenda_room(nodes, 2 * links), execution)


def _parts(pool: Any, room: int, execution: Execution) -> list[Any]:
    """Returns the fields of a pool, with room for so many records."""
    return [
        _larger_table(value, room, execution) if name == "table" else _longer(value, room * _WIDE.get(name, 1), execution)
        for name, value in zip(pool._fields, pool, strict=True)
    ]


def _longer(buffer: Buffer, length: int, execution: Execution) -> Buffer:
    """Returns the buffer with places behind it, which are 0: a record is written whole when it is made."""
    kind = buffer.dtype.type if isinstance(buffer, np.ndarray) else np.int64
    old = np.asarray(buffer, kind)
    return execution.buffer(np.concatenate([old, np.zeros(length - len(old), kind)]), kind)


def _larger_table(table: PairTable, room: int, execution: Execution) -> PairTable:
    larger = new_pair_table(room, execution)
    execution.kernel(fill_again)(table, larger)
    return larger


def fill_again(table: PairTable, larger: PairTable) -> None:
    """Puts all pairs into a larger table."""
    for at in range(len(table.keys)):
        if table.keys[at] != ABSENT:
            put_pair(larger, table.keys[at], table.values[at])

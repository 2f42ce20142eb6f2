"""Nodes that change their interests: they get new profiles, while others still have copies of the old ones (PC 5.4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...protocol import rings
from ...protocol.buffer import Buffer
from ...protocol.profile import PROFILE, SIZE, VERSION
from ...protocol.rings import EMPTY
from ...protocol.view import CELL, NODE, gather, move
from ..compiled import Execution
from .messages import own, send
from .options import PolderSettings
from .state import BASE, CYCLON, MODULES, RINGS, PolderState, profile_table, scratch, write_indexes
from .uptake import take_up


def change(state: PolderState, settings: PolderSettings, wanted: Mapping[int, NDArray[Any]], execution: Execution) -> PolderState:
    """Returns the state with new profiles for these nodes. Each keeps whom it knows, and sorts them into its new rings.

    `wanted`: the topics of each node, in rising order. A node whose views and rings fit where they are keeps its place.
    """
    nodes = np.array(list(wanted), np.int64)
    lengths = np.array([len(topics) for topics in wanted.values()], np.int64)
    rooms = np.asarray(state.rooms)
    moved = lengths > rooms[nodes]
    added = np.cumsum(np.where(moved, lengths, 0)) - np.where(moved, lengths, 0)
    fixed = settings.cyclon + settings.vicinity
    homes = np.where(
        moved, len(state.cells) // CELL + np.cumsum(moved) * fixed - fixed + settings.ring * added, np.asarray(state.homes)[nodes]
    )
    bays = np.where(moved, len(state.slots) + settings.ring * added, np.asarray(state.bays)[nodes])
    rooms = rooms.copy()
    rooms[nodes] = np.maximum(rooms[nodes], lengths)
    grown = _grown(state, settings, wanted, lengths, int(lengths[moved].sum()), int(moved.sum()), execution)
    grown = grown._replace(rooms=execution.buffer(rooms, np.int32), **scratch(int(rooms.max()), settings, execution))
    rows = np.arange(len(nodes)) + len(state.profiles) // PROFILE
    execution.kernel(write_indexes)(grown.profiles, grown.topics, len(state.profiles) // PROFILE)
    execution.kernel(settle_all)(grown, settings, *(execution.buffer(each) for each in (nodes, rows, homes, bays)))
    return grown


def _grown(
    state: PolderState,
    settings: PolderSettings,
    wanted: Mapping[int, NDArray[Any]],
    lengths: NDArray[np.int64],
    pairs: int,
    places: int,
    execution: Execution,
) -> PolderState:
    """Returns the state with the new profiles in its table, and with room for `places` nodes more that have so many `pairs`."""
    versions = np.array([state.profiles[state.current[node] * PROFILE + VERSION] + 1 for node in wanted], np.int64)
    profiles, topics = profile_table(np.concatenate(list(wanted.values())), lengths, versions, len(state.topics), len(state.priorities))
    past = np.asarray(state.past, np.int8).reshape(settings.remembered, len(state.priorities))
    added = np.full((settings.remembered, lengths.sum()), settings.ring, np.int8)
    cells = (places * (settings.cyclon + settings.vicinity) + settings.ring * pairs) * CELL

    def longer(before: Buffer, more: NDArray[Any], kind: type[np.integer[Any]]) -> Buffer:
        return execution.buffer(np.concatenate([np.asarray(before, kind), more.astype(kind)]), kind)

    return state._replace(
        profiles=longer(state.profiles, profiles, np.int32),
        topics=longer(state.topics, topics, np.int32),
        priorities=longer(state.priorities, np.full(lengths.sum(), settings.ring), np.int8),
        past=execution.buffer(np.concatenate([past, added], axis=1).reshape(past.size + added.size), np.int8),
        cells=longer(state.cells, np.zeros(cells), np.int32),
        slots=longer(state.slots, np.full(settings.ring * pairs, EMPTY), np.int32),
    )


def settle_all(state: PolderState, settings: PolderSettings, nodes: Buffer, rows: Buffer, homes: Buffer, bays: Buffer) -> None:
    """Gives each of `nodes` its new row, home and bays."""
    for at in range(len(nodes)):
        settle(state, settings, nodes[at], rows[at], homes[at], bays[at])


def settle(state: PolderState, settings: PolderSettings, node: int, row: int, home: int, bays: int) -> None:
    """Lets a node go on with the profile `row`: its rings are filled anew from all that its three views know.

    Where nodes announce themselves, those in its old rings hear of the new profile at once.
    """
    former = _note_rings(state, settings, node)
    state.tally[BASE] += len(state.pool)
    before, size, first = state.homes[node], 0, state.homes[node]
    for module in range(MODULES):
        known = state.counts[node * MODULES + module]
        size = gather(state.pool, size, state.cells, first, known, state.profiles, state.seen, state.tally[BASE], False)
        first += settings.cyclon if module == CYCLON else settings.vicinity
    if home != before:
        for at in range(settings.cyclon + settings.vicinity):
            move(state.cells, before + at, home + at)
    state.current[node] = row
    state.homes[node] = home
    state.bays[node] = bays
    for slot in range(bays, bays + settings.ring * state.profiles[row * PROFILE + SIZE]):
        state.slots[slot] = EMPTY
    state.counts[node * MODULES + RINGS] = rings.merge(
        state.cells,
        home + settings.cyclon + settings.vicinity,
        0,
        state.slots,
        bays,
        settings.ring,
        node,
        row,
        state.ids,
        state.profiles,
        state.topics,
        state.priorities,
        state.marks,
        state.pool,
        size,
    )
    if settings.announced == 1:
        for at in range(former):
            own(state, node, state.asked)
            if send(state, RINGS, node, state.far[at], state.asked, 1):
                take_up(state, settings, state.far[at], node, state.asked, 1, RINGS)


def _note_rings(state: PolderState, settings: PolderSettings, node: int) -> int:
    """Writes who stands in the node's rings into `far`. Returns how many those are."""
    first, size = state.homes[node] + settings.cyclon + settings.vicinity, state.counts[node * MODULES + RINGS]
    for at in range(size):
        state.far[at] = state.cells[(first + at) * CELL + NODE]
    return size

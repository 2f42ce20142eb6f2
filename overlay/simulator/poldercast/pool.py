"""The pool of a step: all that a node knows, in one row, and what of it is nearest to a profile."""

from typing import Final

from ...protocol import vicinity
from ...protocol.profile import mark_priorities, unmark
from ...protocol.view import NONE, SHARED, drop, find, gather
from .options import PolderSettings
from .state import BASE, CYCLON, MODULES, RINGS, PolderState

# A copy of a profile that was made just now.
FRESH: Final = -1 << 40


def view(state: PolderState, settings: PolderSettings, node: int, module: int) -> tuple[int, int]:
    """Returns where a view begins in `cells`, and how many entries it has."""
    first = state.homes[node]
    if module != CYCLON:
        first += settings.cyclon
    if module == RINGS:
        first += settings.vicinity
    return first, state.counts[node * MODULES + module]


def union(state: PolderState, settings: PolderSettings, node: int, module: int) -> int:
    """Gathers the three views of the node in the pool, that of `module` first: its ages count. Returns how many they have together."""
    state.tally[BASE] += len(state.pool)
    younger, size = settings.ages == SHARED, 0
    for step in range(MODULES):
        first, known = view(state, settings, node, (module + step) % MODULES)
        size = gather(state.pool, size, state.cells, first, known, state.profiles, state.seen, state.tally[BASE], younger)
    return size


def without(state: PolderState, size: int, node: int) -> int:
    """Takes a node out of the pool. Returns how many are left."""
    place = find(state.pool, 0, size, node)
    return drop(state.pool, 0, size, place) if place != NONE else size


def nearest(state: PolderState, settings: PolderSettings, node: int, size: int, row: int, since: int, wanted: int) -> int:
    """Picks the entries of the pool that are nearest to a profile, of which the node has a copy of cycle `since`.

    Returns how many those are.
    """
    if settings.remembered == 0 or since == FRESH:
        mark_priorities(state.profiles, state.topics, state.priorities, 0, row, state.marks)
    else:
        first = max(since, state.now[node] - settings.remembered + 1) % settings.remembered * len(state.priorities)
        mark_priorities(state.profiles, state.topics, state.past, first, row, state.marks)
    found = vicinity.nearest(
        state.pool,
        size,
        wanted,
        state.profiles,
        state.topics,
        state.marks,
        settings.summed == 1,
        state.streams,
        node,
        state.scores,
        state.picks,
    )
    unmark(state.profiles, state.topics, row, state.marks)
    return found
